"""Who a Kubernetes object is, and in which order objects stand in a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class ObjectKey(NamedTuple):
    """What names an object in a cluster; a missing part is an empty text. The version of its API does not count."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        kind = f"{self.kind}.{self.group}" if self.group else self.kind
        return f"{kind} {self.namespace}/{self.name}" if self.namespace else f"{kind} {self.name}"


def key_of(document: object) -> ObjectKey:
    """The key of any YAML document. Whatever is missing or is no text counts as empty: nothing raises."""
    if not isinstance(document, dict):
        return ObjectKey("", "", "", "")
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    group, slash, _version = _text(document.get("apiVersion")).rpartition("/")
    return ObjectKey(
        group if slash else "",
        _text(document.get("kind")),
        _text(metadata.get("namespace")),
        _text(metadata.get("name")),
    )


def sort_key(document: object) -> tuple[str, str, str]:
    """Objects are ordered by kind, then namespace, then name."""
    key = key_of(document)
    return key.kind, key.namespace, key.name


def in_order(documents: Iterable[Any]) -> list[Any]:
    """The documents ordered by `sort_key`; those with equal keys keep their order."""
    return sorted(documents, key=sort_key)


def is_well_formed(document: object) -> bool:
    """Whether a document is a map whose identifying fields are texts, or missing."""
    if not isinstance(document, dict):
        return False
    metadata = document.get("metadata", {})
    if not isinstance(metadata, dict):
        return False
    parts = (document.get("apiVersion", ""), document.get("kind", ""), metadata.get("namespace", ""))
    return all(isinstance(part, str) for part in (*parts, metadata.get("name", "")))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
