"""Paths within shell commands of components."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable


def quote_paths(command: str, paths: Iterable[str]) -> str:
    """Quote every occurrence of these paths in a command, so that the shell does not interpret them.

    An occurrence ends with the name: `/work/one` does not occur in `/work/one-more`. Text in `"` or `'` stays quoted. A
    command without special characters in these paths is unchanged.
    """
    strange = sorted({path for path in paths if shlex.quote(path) != path}, key=len, reverse=True)
    if not strange:
        return command
    parts, place, mark = [], 0, ""
    for match in re.finditer(rf"(?:{'|'.join(map(re.escape, strange))})(?![^\s/'\";|&)<>])", command):
        between = command[place : match.start()]
        mark = _mark_after(between, mark)
        parts += [between, _quoted(match[0], mark)]
        place = match.end()
    return "".join([*parts, command[place:]])


def _mark_after(text: str, mark: str) -> str:
    """Return the quotation mark that is open after a part of a command, or an empty string."""
    characters = iter(text)
    for character in characters:
        if character == "\\" and mark != "'":
            next(characters, "")
        elif mark == character:
            mark = ""
        elif not mark and character in "'\"":
            mark = character
    return mark


def _quoted(path: str, mark: str) -> str:
    if mark == '"':
        return re.sub(r'([$`"\\])', r"\\\1", path)
    if mark == "'":
        return path.replace("'", "'\\''")
    return shlex.quote(path)
