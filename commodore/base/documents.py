"""JSON documents for machines: one envelope, one serializer."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from enum import Enum
from pathlib import PurePath
from typing import Any


def document(schema: str, data: Any, *, version: int = 1) -> dict[str, Any]:
    """The document that a command prints for machines.

    Args:
        schema: the name of the published JSON Schema, such as `argocd-diff`.
        data: a dataclass or a mapping; its fields follow `schema` and `version`.
        version: of the form. Fields may be added within a version; none changes its meaning or goes.
    """
    return {"schema": schema, "version": version, **plain(data)}


def plain(value: Any) -> Any:
    """A value as JSON-ready data.

    Dataclasses become maps of their fields in order, without fields that have `metadata={"json": False}`; those with a
    method `as_plain` are replaced by its result. Sets are sorted, paths and dates are texts.

    Raises:
        TypeError: a value of a type that JSON has nothing for.
    """
    if value is None or (isinstance(value, str | int | float | bool) and not isinstance(value, Enum)):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        if (as_plain := getattr(value, "as_plain", None)) is not None:
            return plain(as_plain())
        fields = dataclasses.fields(value)
        return {field.name: plain(getattr(value, field.name)) for field in fields if field.metadata.get("json", True)}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(inner) for key, inner in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(map(plain, value))
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, PurePath | datetime | date | time):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")
