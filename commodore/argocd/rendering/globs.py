"""Two kinds of globs: those of directory sources and projects, and those of value files.

Both know `*`, `?`, `{a,b}`, `[a-z]`, `[!a]` and `\\` as escape. In the first, `*` and `?` cross `/` or not; in the
second they do not, and a folder `**` stands for any folders.
"""

from __future__ import annotations

import functools
import glob
import re
from collections.abc import Iterator
from pathlib import Path

from commodore.base.values.patterns import fits

_TOKEN = re.compile(r"\\.|\[[!^]?\]?[^\]]*\]|.", re.DOTALL)
"""An escaped character, a class or a character of a pattern."""


def matches(pattern: str, name: str, *, separator: str = "") -> bool:
    """Whether a glob fits a name. One that is none fits nothing, see `is_pattern`.

    Args:
        separator: a character that `*` and `?` do not cross; `**` does.
    """
    compiled = _compiled(pattern, separator)
    return compiled is not None and fits(compiled, name)


def is_pattern(pattern: str) -> bool:
    """Whether a text is a glob: no bracket or brace stays open."""
    return _compiled(pattern) is not None


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str, separator: str = "") -> re.Pattern[str] | None:
    one = f"[^{re.escape(separator)}]" if separator else "."
    parts: list[str] = []
    depth, position = 0, 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == "\\" and position < len(pattern):
            parts.append(re.escape(pattern[position]))
            position += 1
        elif character == "*":
            stars = len(pattern) - position + 1 - len(pattern[position - 1 :].lstrip("*"))
            position += stars - 1
            parts.append(".*" if stars > 1 else f"{one}*")
        elif character == "?":
            parts.append(one)
        elif character == "{":
            parts.append("(?:")
            depth += 1
        elif character == "}" and depth:
            parts.append(")")
            depth -= 1
        elif character == "," and depth:
            parts.append("|")
        elif character == "[":
            end = pattern.find("]", position + 1)
            if end < 0:
                return None
            inside = pattern[position:end]
            negated = inside[:1] in ("!", "^")
            escaped = re.sub(r"([\[\]\\^&~|])", r"\\\1", inside[1:] if negated else inside)
            parts.append(f"[{'^' if negated else ''}{escaped}]")
            position = end + 1
        else:
            parts.append(re.escape(character))
    if depth:
        return None
    try:
        return re.compile("".join(parts), re.DOTALL)
    except re.error:
        return None


def matching_paths(pattern: Path, root: Path) -> list[Path]:
    """The paths that a pattern matches, as Go's doublestar walks folders.

    The files of a folder come before those of its folders; where the pattern ends in `**`, all are in lexical order.
    """
    start, below = glob.escape(f"{root}/"), str(pattern.relative_to(root))
    found: set[str] = set()
    for one in _alternatives(below):
        found.update(glob.glob(start + _translated(one), recursive=True, include_hidden=True))
    if below.split("/")[-1] == "**":
        return sorted(map(Path, found))
    return sorted(map(Path, found), key=lambda path: (path.parts[:-1], path.name))


def _alternatives(pattern: str) -> Iterator[str]:
    """A pattern without braces for each of their alternatives; as it is if one stays open."""
    depth, at = 0, 0
    begins: list[int] = []
    for token in _TOKEN.finditer(pattern):
        character = token[0]
        if character == "{":
            depth += 1
            at = at if begins else token.start()
        if depth == 1 and character in "{,":
            begins.append(token.end())
        if character == "}" and depth:
            depth -= 1
        if begins and not depth:
            ends = [begin - 1 for begin in begins[1:]] + [token.start()]
            for begin, end in zip(begins, ends, strict=True):
                yield from _alternatives(pattern[:at] + pattern[begin:end] + pattern[token.end() :])
            return
    yield pattern


def _translated(pattern: str) -> str:
    """A pattern without braces in the syntax of Python: `[!a]` for `[^a]`, `[*]` for `\\*`."""
    parts = []
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if text.startswith("\\") and len(text) > 1:
            text = glob.escape(text[1])
        elif text.startswith("[^") and len(text) > 2:
            text = f"[!{text[2:]}"
        parts.append(text)
    return "".join(parts)
