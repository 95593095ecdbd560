"""Reading of objects that were not checked: a value of the wrong type is noted and counts as absent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from commodore.observe.quantities import read_duration, read_time


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one map, its path in the object, and what was wrong in the whole object so far."""

    values: Mapping[str, Any]
    path: str = ""
    problems: list[str] = field(default_factory=list)

    def text(self, key: str) -> str:
        """The text at the key; empty if there is none."""
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return value or ""
        if isinstance(value, date):  # YAML reads a time without quotes as one
            return value.isoformat()
        self._wrong(key, "text", value)
        return ""

    def flag(self, key: str) -> bool:
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            self._wrong(key, "true or false", value)
        return value is True

    def has(self, key: str) -> bool:
        return self.values.get(key) is not None

    def fields(self, key: str) -> Fields:
        """The map at the key; an empty one if there is none."""
        return self._map(key, self.values.get(key))

    def each(self, key: str) -> Iterator[Fields]:
        """The maps of the list at the key."""
        for position, value in enumerate(self._list(key)):
            yield self._map(f"{key}[{position}]", value)

    def texts(self, key: str) -> Iterator[str]:
        """The texts of the list at the key."""
        for position, value in enumerate(self._list(key)):
            if isinstance(value, str):
                yield value
            else:
                self._wrong(f"{key}[{position}]", "text", value)

    def entries(self, key: str) -> Iterator[tuple[str, Fields]]:
        """The maps of the map at the key, with their keys."""
        for name, value in self.fields(key).values.items():
            yield str(name), self._map(f"{key}.{name}", value)

    def time(self, key: str) -> datetime | None:
        value = self.values.get(key)
        if isinstance(value, datetime):
            return read_time(value.isoformat())
        text = self.text(key)
        time = read_time(text) if text else None
        if text and time is None:
            self._wrong(key, "a time", text)
        return time

    def duration(self, key: str) -> timedelta | None:
        text = self.text(key)
        duration = read_duration(text) if text else None
        if text and duration is None:
            self._wrong(key, "a duration", text)
        return duration

    def items(self, key: str) -> tuple[Any, ...]:
        """The list at the key, as it is."""
        return tuple(self._list(key))

    def _list(self, key: str) -> list[Any]:
        value = self.values.get(key)
        if isinstance(value, list):
            return value
        if value is not None:
            self._wrong(key, "a list", value)
        return []

    def _map(self, key: str, value: Any) -> Fields:
        path = f"{self.path}.{key}" if self.path else key
        if isinstance(value, Mapping):
            return Fields(value, path, self.problems)
        if value is not None or key.endswith("]"):
            self._wrong(key, "a map", value)
        return Fields({}, path, self.problems)

    def _wrong(self, key: str, wanted: str, value: Any) -> None:
        path = f"{self.path}.{key}" if self.path else key
        self.problems.append(f"{path} must be {wanted}, not {_KINDS.get(type(value), type(value).__name__)}")


_KINDS: dict[type, str] = {
    bool: "true or false",
    dict: "a map",
    float: "a number",
    int: "a number",
    list: "a list",
    str: "this text",
    type(None): "nothing",
}
