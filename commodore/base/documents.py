"""JSON documents for other programs: a common envelope and serializer."""

from __future__ import annotations

import dataclasses
import json
import math
from base64 import b64encode
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from enum import Enum
from pathlib import PurePath
from typing import Any

VERSION = 1
"""The version of the schemas. Fields may be added within a version; none changes its meaning or is removed."""

NO_NUMBERS = ("inf", "-inf", "nan")
"""The texts of numbers that JSON cannot represent."""


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
    kind = type(value)
    if value is None or kind in (str, int, bool):
        return value
    if kind in (list, tuple):  # the most frequent types first: reports are large
        return [plain(inner) for inner in value]
    if kind is dict:
        return {key if type(key) is str else _key(key): plain(inner) for key, inner in value.items()}
    if (as_plain := getattr(value, "as_plain", None)) is not None and not isinstance(value, type):
        return plain(as_plain())
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if isinstance(value, Mapping):
        return {_key(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(map(plain, value))
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, bytes):  # from YAML's !!binary, and encoded like it
        return b64encode(value).decode()
    if isinstance(value, PurePath | datetime | date | time):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _fields(value: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        how = field.metadata.get("json", True)
        if how:
            inner = getattr(value, field.name)
            shown[field.name] = inner if how is True else how(inner)
    shown |= {name: getattr(value, name) for name in getattr(value, "json_properties", ())}
    return {name: plain(inner) for name, inner in shown.items() if inner is not ABSENT}


def _key(key: Any) -> str:
    key = plain(key)
    return key if isinstance(key, str) else json.dumps(key)
