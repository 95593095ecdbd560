"""The identity of Kubernetes objects, and their order in files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class ObjectKey(NamedTuple):
    """The identity of an object in a cluster; missing parts are empty. The API version is not included."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        kind = f"{self.kind}.{self.group}" if self.group else self.kind
        return f"{kind} {self.namespace}/{self.name}" if self.namespace else f"{kind} {self.name}"


def key_of(document: object) -> ObjectKey:
    """Return the key of any YAML document. Missing and invalid fields count as empty: nothing raises."""
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
    """Return the sort key of an object: kind, namespace, name."""
    key = key_of(document)
    return key.kind, key.namespace, key.name


def in_order(documents: Iterable[Any]) -> list[Any]:
    """Sort documents by `sort_key`; the order of equal keys is kept."""
    return sorted(documents, key=sort_key)


def is_well_formed(document: object) -> bool:
    """Return True if a document is a map whose identifying fields are texts or missing."""
    if not isinstance(document, dict):
        return False
    metadata = document.get("metadata", {})
    if not isinstance(metadata, dict):
        return False
    parts = (document.get("apiVersion", ""), document.get("kind", ""), metadata.get("namespace", ""))
    return all(isinstance(part, str) for part in (*parts, metadata.get("name", "")))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
