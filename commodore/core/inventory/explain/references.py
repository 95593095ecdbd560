"""References in texts: `${a:b}`, `${a:${b}}`, `${a:b::default}`, and what a backslash makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_START = re.compile(r"(?P<escapes>\\*)\$(?P<bracket>[{\[])")
DEEPEST = 200
"""References in one another."""
_INSIDE = re.compile(r"\$\{|\}")


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference. `parts` are the texts and references between its braces, `written` is all of it."""

    parts: tuple[str | Ref, ...]
    written: str


Parts = tuple[str | Ref, ...]


def parse_references(text: str) -> Parts | None:
    """The texts and references that a value is made of; None if a brace is missing, or there are more than
    `DEEPEST` references in one another: reclass-rs refuses both.
    """
    if "$" not in text:
        return (text,)
    parts: list[str | Ref] = []
    position = 0
    while found := _START.search(text, position):
        parts.append(text[position : found.start()])
        escapes = len(found["escapes"])
        if escapes == 1 or found["bracket"] == "[":
            # One backslash goes; what is not escaped and no reference stays.
            parts.append("\\" * (escapes - 1) + "$" + found["bracket"])
            position = found.end()
            continue
        parts.append("\\" * (escapes - 1))
        ref, position = _inside(text, found.end() - 2)
        if ref is None:
            return None
        parts.append(ref)
    parts.append(text[position:])
    return _joined(parts)


def references_in(parts: Parts) -> Iterator[Ref]:
    """All references, those in references after the one that holds them."""
    for part in parts:
        if isinstance(part, Ref):
            yield part
            yield from references_in(part.parts)


def _inside(text: str, start: int) -> tuple[Ref | None, int]:
    """The reference that begins at `start`, and where it ends."""
    stack: list[tuple[int, list[str | Ref]]] = [(start, [])]
    position = start + 2
    while found := _INSIDE.search(text, position):
        begin, parts = stack[-1]
        parts.append(text[position : found.start()])
        position = found.end()
        if found[0] == "${":
            if len(stack) == DEEPEST:
                return None, len(text)
            stack.append((found.start(), []))
            continue
        ref = Ref(_joined(parts), text[begin:position])
        stack.pop()
        if not stack:
            return ref, position
        stack[-1][1].append(ref)
    return None, len(text)


def _joined(parts: list[str | Ref]) -> Parts:
    """The parts with neighbouring texts made one, and without empty ones."""
    joined: list[str | Ref] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return tuple(joined) or ("",)
