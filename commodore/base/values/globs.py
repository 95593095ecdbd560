"""Globs, by dialect. Foreign globs are matched in bounded time, see `patterns`.

| dialect | of | `*` and `?` | `**` | `{a,b}` | `[^a]`, `[!a]` |
|---|---|---|---|---|---|
| `go_path` | Go's `path.Match`: folders | stop at `/` | as `*` | plain text | `[^a]` alone |
| `doublestar` | doublestar: files, value files | stop at `/` | any folders, as a whole part | yes | both |
| `pathspec` | git's pathspecs | cross `/` | as `*` | plain text | both |
| `gobwas` | gobwas: names, addresses | stop at a separator, if there is one | crosses it | yes | both |
| `stars` | lists of repositories | `*` stops at `/`, `?` is plain | crosses `/` | plain text | plain text |

`\\` escapes, except for `stars` and inside of classes. Options and policies use patterns of Python's
`fnmatch.fnmatchcase`. Files matched by `.gitignore` are determined by git, those of `.helmignore` by helm.
"""

from __future__ import annotations

import functools
import glob
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from commodore.base.values.patterns import fits

_TOKEN: Final = re.compile(r"\\.|\[[!^]?\]?[^\]]*\]|.", re.DOTALL)
"""An escaped character, a class or a character of a pattern."""


@dataclass(frozen=True, slots=True)
class _Dialect:
    """Attributes:
    separator: a character that `*` and `?` do not cross.
    folders: `**/` and a `**` at the end stand for any folders.
    stars_cross: two stars cross the separator.
    braces: `{a,b}` is a choice.
    negations: the negating characters at the beginning of a class.
    class_stops: a class never matches `/`.
    """

    separator: str = ""
    folders: bool = False
    stars_cross: bool = False
    braces: bool = False
    negations: str = "^!"
    class_stops: bool = True


_GO_PATH: Final = _Dialect("/", negations="^")
_DOUBLESTAR: Final = _Dialect("/", folders=True, braces=True)
_PATHSPEC: Final = _Dialect()


def go_path(pattern: str) -> re.Pattern[str] | None:
    """Compile a pattern of Go's `path.Match`; None if it is invalid."""
    return _compiled(pattern, _GO_PATH)


def doublestar(pattern: str) -> re.Pattern[str] | None:
    """Compile a pattern of doublestar; None if it is invalid."""
    return _compiled(pattern, _DOUBLESTAR)


def pathspec(pattern: str) -> re.Pattern[str] | None:
    """Compile a pathspec of git, which may name a folder if it has no wildcard; None if it is invalid."""
    pattern = re.sub(r"(?<![^/])(?:\./+)+|(?<=/)/+", "", pattern)
    if not re.search(r"[*?\[\\]", pattern):
        name = pattern.rstrip("/")
        return re.compile(f"{re.escape(name)}(?:/.*)?" if name not in ("", ".") else ".*", re.DOTALL)
    return _compiled(pattern, _PATHSPEC)


def gobwas(pattern: str, separator: str = "") -> re.Pattern[str] | None:
    """Compile a glob of gobwas; None if it is invalid: an unclosed bracket or brace.

    Args:
        separator: a character that `*` and `?` do not cross.
    """
    return _compiled(pattern, _Dialect(separator, stars_cross=True, braces=True, class_stops=False))


def stars(pattern: str) -> re.Pattern[str]:
    """Compile a pattern with `*` and `**` as its only wildcards."""
    parts = re.split(r"(\*\*|\*)", pattern)
    return re.compile("".join({"**": ".*", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts), re.DOTALL)


def matches(pattern: str, text: str, *, separator: str = "") -> bool:
    """Match a text against a glob of `gobwas`. An invalid glob matches nothing."""
    compiled = gobwas(pattern, separator)
    return compiled is not None and fits(compiled, text)


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str, dialect: _Dialect) -> re.Pattern[str] | None:
    character = f"[^{re.escape(dialect.separator)}]" if dialect.separator else "."
    parts: list[str] = []
    at = depth = 0
    while at < len(pattern):
        char, following = pattern[at], at + 1
        if char == "\\" and following < len(pattern):
            parts.append(re.escape(pattern[following]))
            following += 1
        elif char == "*":
            text, following = _stars(pattern, at, dialect, character)
            parts.append(text)
        elif char == "?":
            parts.append(character)
        elif char == "[":
            end = pattern.find("]", at + 2)
            if end < 0:
                return None
            parts.append(_class(pattern[following:end], dialect))
            following = end + 1
        elif char == "{" and dialect.braces:
            parts.append("(?:")
            depth += 1
        elif char == "}" and dialect.braces and (depth or dialect.folders):
            parts.append(")")  # doublestar rejects a brace without an opening one
            depth -= 1
        elif char == "," and depth > 0:
            parts.append("|")
        else:
            parts.append(re.escape(char))
        at = following
    if depth > 0:
        return None
    try:
        return re.compile("".join(parts), re.DOTALL)
    except re.error:  # a brace without an opening one, or an invalid class
        return None


def _stars(pattern: str, at: int, dialect: _Dialect, character: str) -> tuple[str, int]:
    """Return the expression for the stars at a position, and the position after them."""
    if dialect.stars_cross:
        end = len(pattern) - len(pattern[at:].lstrip("*"))
        return (".*" if end - at > 1 else f"{character}*"), end
    if dialect.folders and pattern.startswith("**", at) and (at == 0 or pattern[at - 1] == "/"):
        if pattern.startswith("**/", at):
            return "(?:.*/)?", at + 3
        if at + 2 == len(pattern):
            return ".*", at + 2
    return f"{character}*", at + 1


def _class(inside: str, dialect: _Dialect) -> str:
    negated = inside[:1] in dialect.negations
    escaped = re.sub(r"([\[\]^&~|\\])", r"\\\1", inside[1:] if negated else inside)
    return f"{'(?!/)' if dialect.class_stops else ''}[{'^' if negated else ''}{escaped}]"


def matching_paths(pattern: Path, root: Path) -> list[Path]:
    """Return the paths that match a pattern, in the order of Go's doublestar.

    The files of a folder come before its subfolders; if the pattern ends in `**`, all are in lexical order.
    """
    start, below = glob.escape(f"{root}/"), str(pattern.relative_to(root))
    paths: set[str] = set()
    for alternative in _alternatives(below):
        paths.update(glob.glob(start + _translated(alternative), recursive=True, include_hidden=True))
    if below.split("/")[-1] == "**":
        return sorted(map(Path, paths))
    return sorted(map(Path, paths), key=lambda path: (path.parts[:-1], path.name))


def _alternatives(pattern: str) -> Iterator[str]:
    """Yield the alternatives of a pattern's braces; the pattern itself if a brace is unclosed."""
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
    """Convert a pattern without braces to Python's syntax: `[!a]` for `[^a]`, `[*]` for `\\*`."""
    parts = []
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if text.startswith("\\") and len(text) > 1:
            text = glob.escape(text[1])
        elif text.startswith("[^") and len(text) > 2:
            text = f"[!{text[2:]}"
        parts.append(text)
    return "".join(parts)
