"""JSON documents for other programs: a common envelope and serializer."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from base64 import b64encode
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from enum import Enum
from pathlib import PurePath
from typing import Any

VERSION = 1
"""The version of the schemas. Fields may be added within a version; none changes its meaning or is removed."""

NO_NUMBERS = ("inf", "-inf", "nan")
"""The texts of numbers that JSON cannot represent."""

_SAME = frozenset({type(None), str, int, bool})
"""The types that need no conversion. They are compared in place, as reports have many texts."""


class Absent(Enum):
    """The type of a field that is left out of a document."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


def document(schema: str, data: Any) -> dict[str, Any]:
    """Return the JSON document of a command.

    Args:
        schema: the name of the published JSON Schema, such as `argocd-diff`.
        data: a dataclass; its fields follow `schema` and `version`.
    """
    return {"schema": schema, "version": VERSION, **plain(data)}


def document_text(schema: str, data: Any, *, indent: int | None = 2) -> str:
    """Serialize a document as JSON without a final newline; with `indent=None` on one line."""
    return json.dumps(document(schema, data), indent=indent)


def plain(value: Any) -> Any:
    """Convert a value to JSON-ready data.

    Dataclasses become maps of their fields in order, then of the properties in their `json_properties`. A field with
    `metadata={"json": False}` is left out; a function there converts the field. A method `as_plain` replaces the whole
    object. Named tuples become maps, sets are sorted; paths, dates and `NO_NUMBERS` become texts.

    Raises:
        TypeError: a value of a type without a JSON representation.
    """
    kind: Any = type(value)
    return value if kind in _SAME else _converter(kind)(value)


@functools.cache
def _converter(kind: type) -> Callable[[Any], Any]:
    """Return the function that converts values of a class."""
    if hasattr(kind, "as_plain"):
        return lambda value: plain(value.as_plain())
    if issubclass(kind, Enum):
        return lambda value: plain(value.value)
    if issubclass(kind, str | int):
        return lambda value: value
    if issubclass(kind, float):
        return lambda value: value if math.isfinite(value) else str(value)
    if dataclasses.is_dataclass(kind):
        return _fields_converter(kind)
    if issubclass(kind, Mapping):
        return lambda value: {
            key if type(key) is str else _key(key): inner if type(inner) in _SAME else plain(inner)
            for key, inner in value.items()
        }
    if issubclass(kind, AbstractSet):
        return lambda value: sorted(map(plain, value))
    if issubclass(kind, tuple) and hasattr(kind, "_asdict"):
        return lambda value: plain(value._asdict())
    if issubclass(kind, list | tuple):
        return lambda value: [inner if type(inner) in _SAME else plain(inner) for inner in value]
    if issubclass(kind, bytes):  # from YAML's !!binary, and encoded like it
        return lambda value: b64encode(value).decode()
    if issubclass(kind, PurePath | datetime | date | time):
        return str
    raise TypeError(f"{kind.__name__} has no form in JSON")


def _fields_converter(kind: Any) -> Callable[[Any], dict[str, Any]]:
    shown = {field.name: field.metadata.get("json", True) for field in dataclasses.fields(kind)}
    shown |= dict.fromkeys(getattr(kind, "json_properties", ()), True)
    columns = [(name, None if how is True else how) for name, how in shown.items() if how]

    def convert(value: Any) -> dict[str, Any]:
        data = {}
        for name, how in columns:
            inner = getattr(value, name)
            if how is not None:
                inner = how(inner)
            if inner is not ABSENT:
                data[name] = inner if type(inner) in _SAME else plain(inner)
        return data

    return convert


def _key(key: Any) -> str:
    key = plain(key)
    return key if isinstance(key, str) else json.dumps(key)
