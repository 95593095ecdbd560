"""What a script that stands for a program names in its text: files, and variables of the environment.

This is reading, not running: a name that the script puts together, or reads from somewhere else, is not found. A file
that output is redirected to is written and not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_WORD = re.compile(r"[\w.@%+,:~-]*(?:/[\w.@%+,:~-]+)+")
_WRITTEN = re.compile(r">+\s*[\"']?[^\s\"';|&)]+")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
# The user and the place of work: it differs between working directories and hosts, and says nothing of the result.
_PLACES = frozenset(
    ("HOME", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "TEMP", "TERM", "TMP", "TMPDIR", "USER", "_")
)
_NO_FILES = ("/proc/", "/sys/")
_LONGEST = 1 << 16
_MOST = 64


def mentions(
    script: str, directory: Path, environment: Mapping[str, str]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The files that a script names, and those that short texts among them name, each with how it is spelt, and the
    variables that occur, with their values.

    Args:
        script: the path by which it is called.
        directory: where it runs.
        environment: what it is called with.
    """
    found: dict[str, str] = {}
    variables: dict[str, str] = {}
    texts = [script]
    for path in texts:
        text = _text(path)
        words = set(_VARIABLE.findall(text))
        variables |= {name: environment[name] for name in words & environment.keys() - _PLACES}
        for word, file in _files(_WRITTEN.sub(" ", text), path, directory):
            if file not in found and file != script and len(found) < _MOST:
                found[file] = word
                texts.append(file)
    return sorted((word, file) for file, word in found.items()), sorted(variables.items())


def _text(path: str) -> str:
    """The beginning of a text; empty for what is none."""
    try:
        with open(path, "rb") as file:
            content = file.read(_LONGEST)
    except OSError:
        return ""
    return "" if b"\0" in content else content.decode("utf-8", "replace")


def _files(text: str, path: str, directory: Path) -> Iterator[tuple[str, str]]:
    """The files that a text may mean by words with slashes: absolute, or relative to where it lies (a variable in front
    mostly says so) or runs. What lies in the user's home is too much of the user's own.
    """
    folders = dict.fromkeys((os.path.dirname(path), os.path.dirname(os.path.realpath(path))))
    for match in _WORD.finditer(text):
        word = match.group()
        rest = word[word.index("/") :]
        spellings = [rest, word, *(folder + rest for folder in folders), *(f"{folder}/{word}" for folder in folders)]
        spellings += [os.path.join(directory, word), os.path.join(directory, rest[1:])]
        for spelling in spellings:
            file = os.path.normpath(os.path.join(directory, spelling))
            if os.path.isfile(file) and not file.startswith(_NO_FILES):
                yield word, file
