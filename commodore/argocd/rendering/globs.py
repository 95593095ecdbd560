"""The globs of directory sources: `*` and `?` cross `/`, `{a,b}`, `[a-z]`, `[!a]`, `\\` escapes."""

from __future__ import annotations

import functools
import re


def matches(pattern: str, name: str) -> bool:
    """Whether a glob fits a name. One that is none fits nothing, see `is_pattern`."""
    compiled = _compiled(pattern)
    return compiled is not None and compiled.fullmatch(name) is not None


def is_pattern(pattern: str) -> bool:
    """Whether a text is a glob: no bracket or brace stays open."""
    return _compiled(pattern) is not None


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    parts: list[str] = []
    depth, position = 0, 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == "\\" and position < len(pattern):
            parts.append(re.escape(pattern[position]))
            position += 1
        elif character == "*":
            parts.append(".*")
        elif character == "?":
            parts.append(".")
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
