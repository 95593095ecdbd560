"""The globs of directory sources and projects: `*` and `?` cross `/` or not, `{a,b}`, `[a-z]`, `[!a]`, `\\` escapes."""

from __future__ import annotations

import functools
import re


def matches(pattern: str, name: str, *, separator: str = "") -> bool:
    """Whether a glob fits a name. One that is none fits nothing, see `is_pattern`.

    Args:
        separator: a character that `*` and `?` do not cross; `**` does.
    """
    compiled = _compiled(pattern, separator)
    return compiled is not None and compiled.fullmatch(name) is not None


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
