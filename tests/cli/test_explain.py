"""`commodore explain`: what error codes mean, for people and for programs; and who is reported that it exists."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from commodore.cli.machine.explain import _page_text, plain
from commodore.cli.shell.error_pages import read_error_rooms
from tests.cli.conftest import Shown
from tests.world.terminal import run_on_terminal

Call = Callable[..., Shown]


def test_a_code_is_explained_in_plain_text(call: Call) -> None:
    code, out, err = call("explain", "dep-12")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:2] == ["CMD-DEP-012: included but not described", "input error, exit code 1"]
    assert "`" not in out
    assert "applications includes something" in out


def test_text_is_wrapped_at_the_width_of_the_terminal(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    _, out, _ = call("explain", "CMD-ENG-007")
    assert max(map(len, out.splitlines()[1:])) <= 50  # the heading stays in one piece
    monkeypatch.setenv("COLUMNS", "400")
    _, out, _ = call("explain", "CMD-ENG-007")
    assert 80 < max(map(len, out.splitlines())) <= 100


def test_a_page_as_json_and_markdown(call: Call) -> None:
    _, out, _ = call("explain", "CMD-REF-010", "-o", "json")
    page = json.loads(out)
    assert (page["code"], page["title"]) == ("CMD-REF-010", "no Vault configured")
    assert (page["family"], page["exit_code"]) == ("input", 1)
    assert "`parameters.kapitan.secrets.vaultkv`" in page["text"]
    _, out, _ = call("explain", "CMD-REF-010", "-o", "markdown")
    assert out == f"## CMD-REF-010: no Vault configured\n\n*input error, exit code 1*\n\n{page['text']}\n"


@pytest.mark.parametrize("output", ["text", "json", "markdown"])
def test_every_page_can_be_shown(call: Call, output: str) -> None:
    for room in read_error_rooms():
        code, out, err = call("explain", room.pages[-1].code, "-o", output)
        assert (code, err) == (0, "")
        assert room.pages[-1].code in out


def test_no_page_keeps_marks_in_its_text() -> None:
    for page in (page for room in read_error_rooms() for page in room.pages):
        text = click.unstyle(_page_text(page))
        assert text.startswith(f"{page.code}: ")
        assert "](" not in text, page.code


def test_codes_are_listed_by_room(call: Call) -> None:
    _, out, _ = call("explain")
    rooms = read_error_rooms()
    assert [block.splitlines()[0] for block in out.split("\n\n")] == [f"{room.name}: {room.title}" for room in rooms]
    assert "  CMD-DEP-012  included but not described\n" in out
    _, dep, _ = call("explain", "dep")
    assert dep.rstrip("\n") in out
    assert dep.startswith("DEP: ")
    _, out, _ = call("explain", "CMD-DEP", "-o", "json")
    assert {load["code"].rpartition("-")[0] for load in json.loads(out)["codes"]} == {"CMD-DEP"}


def test_an_unknown_code_gets_a_suggestion(call: Call) -> None:
    code, out, err = call("explain", "CMD-DPE-012")
    assert (code, out) == (1, "")
    assert "there is no error code 'CMD-DPE-012' [CMD-CLI-060]" in err
    assert "did you mean 'CMD-DEP-012'" in err


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("write `a b`\nand ``c`d``", "write a b and c`d"),
        ("see [](../cluster-file.md)", "see reference/cluster-file in the documentation"),
        ("see [the file](../cluster-file.md#keys).", "see the file (reference/cluster-file in the documentation)."),
        ("see [git](https://git-scm.com)", "see git (https://git-scm.com)"),
    ],
)
def test_markdown_becomes_text(markdown: str, text: str) -> None:
    assert plain(markdown) == text


def on_terminal(*arguments: str) -> str:
    """Everything that the program says on a terminal."""
    command = [sys.executable, "-m", "commodore", *arguments]
    return run_on_terminal(command, {**os.environ, "NO_COLOR": "1"})[1]


def test_errors_on_a_terminal_say_once_where_to_read_more(tmp_path: Path, call: Call) -> None:
    assert "explain: commodore explain CMD-AUT-001" in on_terminal("component", "compile", str(tmp_path))
    assert "explain:" not in on_terminal("compnent")
    assert "explain:" not in on_terminal("--log-format", "json", "component", "compile", str(tmp_path))
    _, _, err = call("component", "compile", str(tmp_path))
    assert "CMD-AUT-001" in err
    assert "explain:" not in err
