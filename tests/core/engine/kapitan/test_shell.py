"""Paths within shell commands."""

from __future__ import annotations

import subprocess

import pytest

from commodore.core.engine.kapitan.shell import quote_paths

ODD = '/w/it\'s "$HOME" `x`; [y]*\\z\nend'


@pytest.mark.parametrize("path", ["/w/a b", "/w/it's", '/w/"q"', "/w/$HOME", "/w/a\nb", "/w/a\\b", ODD])
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("{}/x", ["{}/x"]),
        ('"{}/x y" z', ["{}/x y", "z"]),
        ("'{}' --at={}/b", ["{}", "--at={}/b"]),
        ("a\\'b {} \"'\" {}", ["a'b", "{}", "'", "{}"]),
    ],
)
def test_a_path_stays_one_word(path: str, command: str, words: list[str]) -> None:
    quoted = quote_paths("printf '%s\\0' " + command.replace("{}", path), [path])
    said = subprocess.run(["sh", "-c", quoted], capture_output=True, check=True, text=True).stdout
    assert said.split("\0")[:-1] == [word.replace("{}", path) for word in words]


def test_what_is_no_such_path_is_left_alone() -> None:
    command = "run /w/a b/c '$HOME' | tee /w/a/b"
    assert quote_paths(command, ["/w/a", "/w/other one"]) == command
    assert quote_paths("run /w/a bc", ["/w/a b"]) == "run /w/a bc"
