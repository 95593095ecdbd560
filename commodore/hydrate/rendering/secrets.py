"""Detection of secret values in objects, before anything is committed to git."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from commodore.base.kubernetes import key_of

_PLACEHOLDER = re.compile(r"\s*(<[^<>]*>|\?\{[^}]*\})\s*")
_PRIVATE_KEY = re.compile(r"-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY( BLOCK)?-----")


@dataclass(frozen=True, slots=True)
class PlainSecret:
    """An object with secret values.

    Attributes:
        name: the display name of the object.
        keys: the keys of the values, never the values themselves.
    """

    name: str
    keys: tuple[str, ...]


def find_secrets(objects: Iterable[Mapping[str, Any]], allowed: Sequence[str]) -> list[PlainSecret]:
    """Return the Secrets with values. Placeholders in angle brackets and references to stores are not values.

    Args:
        allowed: patterns for `NAMESPACE/NAME` of Secrets that may have values.
    """
    secrets = []
    for item in objects:
        if item.get("kind") != "Secret" or item.get("apiVersion") != "v1":
            continue
        key = key_of(item)
        if any(fnmatchcase(f"{key.namespace}/{key.name}", pattern) for pattern in allowed):
            continue
        keys = [
            f"{field}.{name}"
            for field in ("data", "stringData")
            for name, value in _items(item.get(field))
            if _counts(value, encoded=field == "data")
        ]
        if keys:
            secrets.append(PlainSecret(str(key), tuple(keys)))
    return secrets


def find_private_keys(objects: Iterable[Mapping[str, Any]]) -> list[PlainSecret]:
    """Return the objects, other than Secrets, with a private key in a string."""
    results = []
    for item in objects:
        if item.get("kind") == "Secret" and item.get("apiVersion") == "v1":
            continue
        keys = tuple(path for path, text in _texts(item, "") if _PRIVATE_KEY.search(text))
        if keys:
            results.append(PlainSecret(str(key_of(item)), keys))
    return results


def _items(value: Any) -> list[tuple[Any, Any]]:
    return sorted(value.items(), key=str) if isinstance(value, Mapping) else []


def _counts(value: Any, *, encoded: bool) -> bool:
    if value in (None, ""):
        return False
    text = str(value)
    if encoded:
        try:
            text = base64.b64decode(text, validate=True).decode()
        except (binascii.Error, ValueError):
            text = str(value)
    return bool(text.strip()) and not _PLACEHOLDER.fullmatch(text) and not _PLACEHOLDER.fullmatch(str(value))


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    stack = [(path, value)]
    while stack:
        place, entry = stack.pop()
        if isinstance(entry, Mapping):
            stack += [(f"{place}.{key}" if place else str(key), item) for key, item in entry.items()]
        elif isinstance(entry, list):
            stack += [(f"{place}[{number}]", item) for number, item in enumerate(entry)]
        elif isinstance(entry, str):
            yield place, entry
