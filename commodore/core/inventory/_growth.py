"""References that multiply: the class files at fault, by their text, after a rendering has hit its limits.

The text does not show all that reclass-rs makes of it, so this names files in an error, and decides nothing.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_KEY = re.compile(r"""^([ \-]*)(?:(["'])([^"']*)\2|([^\s#"'\[{&*!|>%@`-][^#:]*?)):(?:\s|$)""")
_REFERENCE = re.compile(r"\$\{([^${}]*)\}")
_NESTED = re.compile(r"\$\{|\}")
_SUSPICIOUS = 1_000_000  # values that references may come to
_NESTING = 8  # references in references


@dataclass(frozen=True, slots=True)
class _Scanned:
    """What is referred to in the values of a class file, by the paths of the parameters."""

    uses: Mapping[str, list[str]]
    nested: bool


@functools.lru_cache(maxsize=4096)
def _scan(content: bytes) -> _Scanned:
    """Files are read several times in a run, and rarely change."""
    uses: dict[str, list[str]] = {}
    nested = False
    stack: list[tuple[int, str]] = []
    for line in content.decode("utf-8", errors="replace").splitlines() if b"${" in content else ():
        if found := _KEY.match(line):
            indent = len(found[1])
            while stack and stack[-1][0] >= indent:
                stack.pop()
            name = found[3] if found[2] else found[4]  # a quoted name may be empty
            stack.append((indent, name.strip().lstrip("=~")))
        if "${" in line:
            path = ":".join(key for _, key in stack[1:]) if stack and stack[0][1] == "parameters" else ""
            uses.setdefault(path, []).extend(_REFERENCE.findall(line))
            nested = nested or _nesting(line) > _NESTING
    return _Scanned(uses, nested)


class Growth:
    """How many values the references in some class files come to, at most, by the text of these files."""

    def __init__(self) -> None:
        self._uses: dict[str, list[str]] = {}  # what is referred to in the value of a parameter, by its path
        self._below: dict[str, list[str]] = {}
        self._files: dict[str, Path] = {}
        self._nested: list[Path] = []

    def add(self, file: Path, content: bytes) -> None:
        """Take a class file into account."""
        found = _scan(content)
        for path, uses in found.uses.items():
            self._uses.setdefault(path, []).extend(uses)
            self._files[path] = file
        if found.nested:
            self._nested.append(file)

    def suspects(self) -> list[Path]:
        """The files because of which rendering might not come to an end, the worst ones first."""
        for path in self._uses:
            parts = path.split(":")
            for end in range(1, len(parts) + 1):
                self._below.setdefault(":".join(parts[:end]), []).append(path)
        known: dict[str, float] = {}
        sizes = {path: self._size(path, known, 0) for path in self._uses}
        worst = sorted((path for path, size in sizes.items() if size > _SUSPICIOUS), key=lambda path: -sizes[path])
        return list(dict.fromkeys([*self._nested, *(self._files[path] for path in worst)]))

    def _size(self, path: str, known: dict[str, float], depth: int) -> float:
        """The values of a parameter with all that it refers to. What leads to itself is no matter of size."""
        path = self._place(path)
        if path in known:
            return known[path]
        if depth > 100:
            return _SUSPICIOUS + 1
        known[path] = 1
        known[path] = sum(
            1 + sum(self._size(one.partition("::")[0], known, depth + 1) for one in self._uses[below])
            for below in self._below.get(path, ())
        )
        return known[path]

    def _place(self, path: str) -> str:
        """The parameter that a path leads to, or into."""
        while path and path not in self._below:
            path = path.rpartition(":")[0]
        return path


def _nesting(line: str) -> int:
    deepest = depth = 0
    for found in _NESTED.finditer(line):
        depth = depth + 1 if found[0] == "${" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def find_suspects(contents: Iterable[tuple[Path, bytes]]) -> list[Path]:
    """The class files because of which rendering might not come to an end, the worst ones first."""
    growth = Growth()
    for file, content in contents:
        growth.add(file, content)
    return growth.suspects()


_OPEN = re.compile(rb"[\[\]{}]|(?<=[\s\-?:])[\-?](?=\s)|\n")


def is_deep(content: bytes, limit: int) -> bool:
    """Whether a YAML text may nest deeper than that; wrong at times, where text has brackets in it."""
    if content.count(b"[") + content.count(b"{") + content.count(b"- -") + content.count(b"? ?") <= limit:
        return False
    return max(_depths(content), default=0) > limit


def _depths(content: bytes) -> Iterator[int]:
    brackets = dashes = 0
    for found in _OPEN.finditer(content):
        match found[0]:
            case b"[" | b"{":
                brackets += 1
            case b"]" | b"}":
                brackets = max(0, brackets - 1)
            case b"\n":
                dashes = 0
            case _:
                dashes += 1
        yield brackets + dashes
