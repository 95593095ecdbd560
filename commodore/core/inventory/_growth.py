"""Estimate of the growth of references, to find the class files at fault after a rendering has hit its limits.

The estimate uses only the text of the files, so it is only used to name files in an error.
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
_SUSPICIOUS = 1_000_000  # values that references may expand to
_NESTING = 8  # levels of nested references


@dataclass(frozen=True, slots=True)
class _Scanned:
    """The references in the values of a class file, by the paths of the parameters."""

    uses: Mapping[str, list[str]]
    nested: bool


@functools.lru_cache(maxsize=4096)
def _scan(content: bytes) -> _Scanned:
    """Scan a class file. Cached, because files are read several times in a run."""
    uses: dict[str, list[str]] = {}
    nested = False
    stack: list[tuple[int, str]] = []
    for line in content.decode("utf-8", errors="replace").splitlines() if b"${" in content else ():
        if match := _KEY.match(line):
            indent = len(match[1])
            while stack and stack[-1][0] >= indent:
                stack.pop()
            name = match[3] if match[2] else match[4]  # a quoted name may be empty
            stack.append((indent, name.strip().lstrip("=~")))
        if "${" in line:
            path = ":".join(key for _, key in stack[1:]) if stack and stack[0][1] == "parameters" else ""
            uses.setdefault(path, []).extend(_REFERENCE.findall(line))
            nested = nested or _nesting(line) > _NESTING
    return _Scanned(uses, nested)


class Growth:
    """The estimated maximum number of values of references in class files."""

    def __init__(self) -> None:
        self._uses: dict[str, list[str]] = {}  # references in the value of a parameter, by its path
        self._below: dict[str, list[str]] = {}
        self._files: dict[str, Path] = {}
        self._nested: list[Path] = []

    def add(self, file: Path, content: bytes) -> None:
        """Add a class file."""
        scanned = _scan(content)
        for path, uses in scanned.uses.items():
            self._uses.setdefault(path, []).extend(uses)
            self._files[path] = file
        if scanned.nested:
            self._nested.append(file)

    def suspects(self) -> list[Path]:
        """Return the files that may cause endless rendering, the worst ones first."""
        for path in self._uses:
            parts = path.split(":")
            for end in range(1, len(parts) + 1):
                self._below.setdefault(":".join(parts[:end]), []).append(path)
        known: dict[str, float] = {}
        sizes = {path: self._size(path, known, 0) for path in self._uses}
        worst = sorted((path for path, size in sizes.items() if size > _SUSPICIOUS), key=lambda path: -sizes[path])
        return list(dict.fromkeys([*self._nested, *(self._files[path] for path in worst)]))

    def _size(self, path: str, known: dict[str, float], depth: int) -> float:
        """Return the number of values of a parameter with its references. Loops are not counted."""
        path = self._place(path)
        if path in known:
            return known[path]
        if depth > 100:
            return _SUSPICIOUS + 1
        known[path] = 1
        known[path] = sum(
            1 + sum(self._size(reference.partition("::")[0], known, depth + 1) for reference in self._uses[below])
            for below in self._below.get(path, ())
        )
        return known[path]

    def _place(self, path: str) -> str:
        """Return the parameter of a path, or the one that contains it."""
        while path and path not in self._below:
            path = path.rpartition(":")[0]
        return path


def _nesting(line: str) -> int:
    deepest = depth = 0
    for match in _NESTED.finditer(line):
        depth = depth + 1 if match[0] == "${" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def find_suspects(contents: Iterable[tuple[Path, bytes]]) -> list[Path]:
    """Return the class files that may cause endless rendering, the worst ones first."""
    growth = Growth()
    for file, content in contents:
        growth.add(file, content)
    return growth.suspects()


_OPEN = re.compile(rb"[\[\]{}]|(?<=[\s\-?:])[\-?](?=\s)|\n")


def is_deep(content: bytes, limit: int) -> bool:
    """Check if a YAML text may nest deeper than the limit; text with brackets can cause false positives."""
    if content.count(b"[") + content.count(b"{") + content.count(b"- -") + content.count(b"? ?") <= limit:
        return False
    return max(_depths(content), default=0) > limit


def _depths(content: bytes) -> Iterator[int]:
    brackets = dashes = 0
    for match in _OPEN.finditer(content):
        match match[0]:
            case b"[" | b"{":
                brackets += 1
            case b"]" | b"}":
                brackets = max(0, brackets - 1)
            case b"\n":
                dashes = 0
            case _:
                dashes += 1
        yield brackets + dashes
