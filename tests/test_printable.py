"""Text from outside, fit to be shown: nothing that steers a terminal gets through."""

from __future__ import annotations

import pytest

from commodore.printable import NAMES_SHOWN, counted, only_printable, printable, printable_lines, shortened, some_of


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
