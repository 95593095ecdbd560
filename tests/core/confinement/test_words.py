"""Words of commands, compared with what a shell makes of them."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.errors import PolicyError
from commodore.core.confinement import split_words


@given(st.text(alphabet="ab \t'\"\\$`;|&<>(){}*?[]~#!=\n-", max_size=12))
def test_a_shell_finds_the_same_words(text: str) -> None:
    """Whatever is not refused means to a shell exactly these words."""
    try:
        words = split_words(text, "it")
    except PolicyError:
        return
    command = f"printf '%s\\0' x {text}"
    said = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False, cwd="/", text=True)
    if text.endswith("\\"):
        return  # a shell keeps it, or takes it away
    assert said.stdout.split("\0")[1:-1] == words


@pytest.mark.parametrize("text", ["a\\\nb", "a \\\n  b", '"a\\\nb"', "'a\\\nb'", "\\\n", "\\\n-a", "a\\\\ b"])
def test_commands_of_several_lines(text: str) -> None:
    said = subprocess.run(["/bin/sh", "-c", f"printf '%s\\0' x {text}"], capture_output=True, check=True, text=True)
    assert said.stdout.split("\0")[1:-1] == split_words(text, "it")


@given(st.lists(st.text(alphabet="ab \t'\"\\$`;|&<>(){}*?[]~#!=\n-", max_size=6), max_size=4))
def test_quoted_words_come_back(words: list[str]) -> None:
    assert split_words(shlex.join(words), "it") == words


@pytest.mark.parametrize("text", ["'", '"', "a'b", '"a'])
def test_open_quotes(text: str) -> None:
    with pytest.raises(PolicyError):
        split_words(text, "it")
