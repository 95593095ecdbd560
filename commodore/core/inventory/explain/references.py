"""References in texts: `${a:b}`, `${a:${b}}`, `${a:b::default}`, and escapes by backslashes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_START = re.compile(r"(?P<escapes>\\*)\$(?P<bracket>[{\[])")
DEEPEST = 200
"""Maximum levels of nested references."""
_INSIDE = re.compile(r"\$\{|\}")


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference. `parts` are the texts and references between its braces, `written` is its whole text."""

    parts: tuple[str | Ref, ...]
    written: str


Parts = tuple[str | Ref, ...]


def parse_references(text: str) -> Parts | None:
    """Split a value into texts and references; None if a brace is missing, or references nest deeper than `DEEPEST`:
    reclass-rs refuses both.
    """
    if "$" not in text:
        return (text,)
    parts: list[str | Ref] = []
    position = 0
    while match := _START.search(text, position):
        parts.append(text[position : match.start()])
        escapes = len(match["escapes"])
        if escapes == 1 or match["bracket"] == "[":
            # One backslash is removed; other text stays.
            parts.append("\\" * (escapes - 1) + "$" + match["bracket"])
            position = match.end()
            continue
        parts.append("\\" * (escapes - 1))
        ref, position = _inside(text, match.end() - 2)
        if ref is None:
            return None
        parts.append(ref)
    parts.append(text[position:])
    return _joined(parts)


def references_in(parts: Parts) -> Iterator[Ref]:
    """Yield all references, nested ones after the reference that contains them."""
    for part in parts:
        if isinstance(part, Ref):
            yield part
            yield from references_in(part.parts)


def _inside(text: str, start: int) -> tuple[Ref | None, int]:
    """Return the reference that begins at `start`, and its end."""
    stack: list[tuple[int, list[str | Ref]]] = [(start, [])]
    position = start + 2
    while match := _INSIDE.search(text, position):
        begin, parts = stack[-1]
        parts.append(text[position : match.start()])
        position = match.end()
        if match[0] == "${":
            if len(stack) == DEEPEST:
                return None, len(text)
            stack.append((match.start(), []))
            continue
        ref = Ref(_joined(parts), text[begin:position])
        stack.pop()
        if not stack:
            return ref, position
        stack[-1][1].append(ref)
    return None, len(text)


def _joined(parts: list[str | Ref]) -> Parts:
    """Return the parts with adjacent texts joined, without empty ones."""
    joined: list[str | Ref] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return tuple(joined) or ("",)
