"""The files and environment variables that the text of a wrapper script mentions.

The script is read, not run: computed names are not detected. A file that output is redirected to is written and not
read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

_WORD = re.compile(r"[\w.@%+,:~-]*(?:/[\w.@%+,:~-]+)+")
_WRITTEN = re.compile(r">+\s*[\"']?[^\s\"';|&)]+")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
# Variables of the user and the working directory: they differ between hosts without effect on the result.
_PLACES = frozenset(
    ("HOME", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "SHLVL", "TEMP", "TERM", "TMP", "TMPDIR", "USER", "_")
)
_NO_FILES = ("/proc/", "/sys/")
_LONGEST = 1 << 16
_MOST = 64


def mentions(
    script: str, directory: Path, environment: Mapping[str, str]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the files that a script mentions, directly or through short texts among them, each with its spelling, and
    the mentioned variables with their values.

    Args:
        script: its path, as it is called.
        directory: its working directory.
        environment: its environment variables.
    """
    files: dict[str, str] = {}
    variables: dict[str, str] = {}
    texts = [script]
    for path in texts:
        text = _text(path)
        words = set(_VARIABLE.findall(text))
        variables |= {name: environment[name] for name in words & environment.keys() - _PLACES}
        for word, file in _files(_WRITTEN.sub(" ", text), path, directory):
            if file not in files and file != script and len(files) < _MOST:
                files[file] = word
                texts.append(file)
    return sorted((word, file) for file, word in files.items()), sorted(variables.items())


def _text(path: str) -> str:
    """Return the beginning of a text file; empty for other files."""
    try:
        with open(path, "rb") as file:
            content = file.read(_LONGEST)
    except OSError:
        return ""
    return "" if b"\0" in content else content.decode("utf-8", "replace")


def _files(text: str, path: str, directory: Path) -> Iterator[tuple[str, str]]:
    """Yield the files that words with slashes may mean: absolute, or relative to the script (mostly with a leading
    variable) or to its working directory. Files in the user's home are left out as personal.
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
