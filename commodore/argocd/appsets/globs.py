"""The patterns of git generators: of folders, and of files in their old and their new form."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from commodore.base.errors import UsageError
from commodore.base.values.patterns import fits


@functools.lru_cache(maxsize=512)
def folder_pattern(pattern: str) -> re.Pattern[str] | None:
    """Go's path.Match: ``*`` and ``?`` stop at ``/``, ``[^a]`` alone negates; None of what is no pattern."""
    return _compiled(pattern, star="[^/]*", one="[^/]", negations="^")


@functools.lru_cache(maxsize=512)
def file_pattern(pattern: str) -> re.Pattern[str] | None:
    """The new form of files: ``**`` for folders, ``*`` stops at ``/``, ``{a,b}``; None of what is no pattern."""
    return _compiled(pattern, star="[^/]*", one="[^/]", deep=True)


@functools.lru_cache(maxsize=512)
def pathspec(pattern: str) -> re.Pattern[str] | None:
    """Git's pathspecs: ``*`` and ``?`` cross ``/``; a pattern without them may name a folder."""
    pattern = re.sub(r"(?<![^/])(?:\./+)+|(?<=/)/+", "", pattern)
    if not re.search(r"[*?\[\\]", pattern):
        name = pattern.rstrip("/")
        return re.compile(f"{re.escape(name)}(?:/.*)?" if name not in ("", ".") else ".*", re.DOTALL)
    return _compiled(pattern, star=".*", one=".")


def _compiled(
    pattern: str, *, star: str, one: str, deep: bool = False, negations: str = "^!"
) -> re.Pattern[str] | None:
    parts: list[str] = []
    at, braces = 0, 0
    while at < len(pattern):
        char = pattern[at]
        if deep and pattern.startswith("**", at) and (at == 0 or pattern[at - 1] == "/"):
            if pattern.startswith("**/", at):
                parts.append("(?:.*/)?")
                at += 3
                continue
            if at + 2 == len(pattern):
                parts.append(".*")
                at += 2
                continue
        if char == "\\" and at + 1 < len(pattern):
            parts.append(re.escape(pattern[at + 1]))
            at += 2
        elif char == "[":
            end = _class_end(pattern, at)
            if end is None:
                return None
            parts.append(_class(pattern[at + 1 : end], negations))
            at = end + 1
        else:
            braces += (char == "{") - (char == "}" and braces > 0) if deep else 0
            parts.append(_character(char, star, one, deep=deep, open_brace=braces > 0))
            at += 1
    try:
        return re.compile("".join(parts), re.DOTALL)
    except re.error:
        return None


def _character(char: str, star: str, one: str, *, deep: bool, open_brace: bool) -> str:
    if char == "*":
        return star
    if char == "?":
        return one
    if deep and char == "{":
        return "(?:"
    if deep and char == "}":
        return ")"
    return "|" if deep and open_brace and char == "," else re.escape(char)


def _class_end(pattern: str, start: int) -> int | None:
    end = pattern.find("]", start + 2)
    return end if end >= 0 else None


def _class(inside: str, negations: str) -> str:
    negated = inside[0] in negations
    escaped = re.sub(r"([\[\]^&~|\\])", r"\\\1", inside[1:] if negated else inside)
    return f"(?!/)[{'^' if negated else ''}{escaped}]"


class PathPatterns:
    """Patterns of paths that options give.

    Raises:
        UsageError: CMD-ARGO-025, one is not valid.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._compiled = []
        for text in texts:
            pattern = file_pattern(text)
            if pattern is None:
                raise UsageError(
                    "CMD-ARGO-025",
                    f"the pattern {text!r} is not valid",
                    hint="'**' stands for folders, '*' for anything within one; a bracket has an end",
                )
            self._compiled.append(pattern)

    def fit(self, path: str) -> bool:
        """Whether a path fits one of them."""
        return any(fits(one, path) for one in self._compiled)

    def cover(self, path: str) -> bool:
        """Whether a path, or a folder that it is in, fits one of them."""
        return any(map(self.fit, (path, *map(str, PurePosixPath(path).parents))))
