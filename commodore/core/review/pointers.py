"""Fields of objects of a kind, as JSON pointers in which `*` matches every key or item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from commodore.base.kubernetes.objects import key_of
from commodore.base.values.pointers import pointer_steps


@dataclass(frozen=True, slots=True)
class KindPointer:
    """A field of objects of a kind.

    Attributes:
        group, kind: the kind of the objects; an empty kind matches all objects.
        steps: keys and indices; `*` matches each.
    """

    group: str
    kind: str
    steps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str, steps: str = "") -> KindPointer:
        """Parse `GROUP/KIND:/POINTER`, `KIND:/POINTER` or `/POINTER`.

        Args:
            steps: the default pointer for a text that is only a kind; empty if the text must have a pointer.

        Raises:
            ValueError: it is invalid.
        """
        of, colon, pointer = ("", "", text) if text.startswith("/") else text.partition(":")
        pointer = pointer if colon or not of else steps
        if not pointer.startswith("/") or (of.count("/") > 1) or (colon and not of):
            raise ValueError(text)
        group, _, kind = of.rpartition("/")
        if of and not kind:
            raise ValueError(text)
        return cls(group, kind, tuple(pointer_steps(pointer)))

    def fits(self, content: Any) -> bool:
        """Return True if an object is of the kind."""
        if not self.kind:
            return True
        key = key_of(content)
        return (key.group, key.kind) == (self.group, self.kind)

    def covers(self, names: tuple[str, ...]) -> bool:
        """Return True if a path of keys and indices leads to the field, or into it."""
        steps = self.steps
        return len(names) >= len(steps) and all(step in ("*", name) for step, name in zip(steps, names, strict=False))

    def values(self, content: Any) -> Iterator[tuple[str, Any]]:
        """Yield the field's values, each with its path."""
        if self.fits(content):
            yield from _values(content, self.steps, "")

    def changed(self, content: Any, make: Callable[[str, Any], Any]) -> Any:
        """Return an object with other values of the field; the same object without such values.

        Args:
            make: returns the new value for a key and its value; `GONE` removes it.
        """
        return _changed(content, self.steps, make) if self.fits(content) else content


class _Gone:
    """The type of `GONE`."""


GONE: Any = _Gone()
"""The result of a callback of `KindPointer.changed` that removes a value."""


def _items(value: Any, step: str) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return [(key, item) for key, item in value.items() if step in ("*", str(key))]
    if isinstance(value, list):
        return [(index, item) for index, item in enumerate(value) if step in ("*", str(index))]
    return []


def _values(value: Any, steps: tuple[str, ...], path: str) -> Iterator[tuple[str, Any]]:
    if not steps:
        yield path, value
        return
    for key, inner in _items(value, steps[0]):
        shown = f"[{key}]" if isinstance(key, int) else f".{key}"
        yield from _values(inner, steps[1:], f"{path}{shown}".removeprefix("."))


def _changed(value: Any, steps: tuple[str, ...], make: Callable[[str, Any], Any]) -> Any:
    changed = {
        key: make(str(key), inner) if len(steps) == 1 else _changed(inner, steps[1:], make)
        for key, inner in _items(value, steps[0])
    }
    if all(changed[key] is inner for key, inner in _items(value, steps[0])):
        return value
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    made = [(key, changed.get(key, inner)) for key, inner in pairs]
    kept = [(key, inner) for key, inner in made if inner is not GONE]
    return dict(kept) if isinstance(value, dict) else [inner for _, inner in kept]
