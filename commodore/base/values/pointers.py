"""JSON pointers (RFC 6901)."""

from __future__ import annotations

from collections.abc import Iterable


def pointer_steps(pointer: str) -> list[str]:
    """Return the steps of a pointer, with or without its first slash."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.removeprefix("/").split("/")]


def pointer_text(steps: Iterable[object]) -> str:
    """Return the pointer with some steps."""
    return "/" + "/".join(str(step).replace("~", "~0").replace("/", "~1") for step in steps)
