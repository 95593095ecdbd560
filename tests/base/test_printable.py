"""Text from outside, fit to be shown: nothing that steers a terminal gets through."""

from __future__ import annotations

import pytest

from commodore.base.printable import (
    NAMES_SHOWN,
    counted,
    only_printable,
    printable,
    printable_colours,
    printable_lines,
    shortened,
    some_of,
    without_commands,
)


@pytest.mark.parametrize("text", ["plain", "Zürich 中文", ""])
def test_what_is_harmless_stays(text: str) -> None:
    assert (printable(text), printable_lines(text)) == (text, text)
    assert (only_printable(text), only_printable(text, "?")) == (text, text)


def test_what_is_not_goes() -> None:
    hostile = "a\x1b[2J\u202eb\nc\x9b\ud800"
    assert printable(hostile) == "a[2Jb c"
    assert printable_lines(hostile + "\r\n\td") == "a[2Jb\nc\n\td"
    assert only_printable(hostile) == "a[2Jbc"
    assert only_printable(hostile, "?") == "a?[2J?b?c??"


def test_colours_stay_if_they_may() -> None:
    hostile = "\x1b[31mred\x1b[0m \x1b[8mhidden\x1b[2J\x1b[\x1b[1m31m\ufffe"
    assert printable_colours(hostile) == "\x1b[31mred\x1b[0m [8mhidden[2J[\x1b[1m31m"
    assert printable_lines(hostile) == "[31mred[0m [8mhidden[2J[[1m31m"


@pytest.mark.parametrize("text", ["::1", "a ::error::b", "# [x]", "::", ":: x ::", "x::y::z"])
def test_what_is_no_workflow_command_stays(text: str) -> None:
    assert without_commands(text) == text


def test_workflow_commands() -> None:
    assert without_commands("a\n \t::error file=a,line=1::b") == "a\n \t: :error file=a,line=1::b"
    assert without_commands("\x1b[1m::add-mask::x") == "\x1b[1m: :add-mask::x"
    assert without_commands("a ##[error]b") == "a # #[error]b"


def test_some_names() -> None:
    assert some_of(["a", "b\n"]) == "a, b?"
    assert some_of([str(number) for number in range(NAMES_SHOWN + 2)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    assert some_of(()) == ""


def test_a_text_without_end_is_cut() -> None:
    assert shortened("abc", 3) == "abc"
    assert shortened("abcd", 3) == "abc… (1 more character)"


def test_a_number_of_things() -> None:
    assert [counted(number, "file") for number in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    assert [counted(number, "entry", "entries") for number in (1, 2)] == ["1 entry", "2 entries"]
