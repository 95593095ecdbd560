"""The tracking of objects: labels and annotations that name their Application."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from commodore.argocd.configuration import ArgoSettings
from commodore.base.errors import InputError
from commodore.base.kubernetes import key_of

TRACKING = "argocd.argoproj.io/tracking-id"
INSTALLATION = "argocd.argoproj.io/installation-id"
_OLD_LABEL = "applications.argoproj.io/app-name"
_LONGEST_LABEL = 63
_WITH_TEMPLATES = frozenset(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"))


@dataclass(frozen=True, slots=True)
class Tracker:
    """Writes the tracking of an Application.

    Attributes:
        instance: the Application's instance name.
        namespace: of its destination.
    """

    settings: ArgoSettings
    instance: str
    namespace: str

    def mark(self, data: dict[str, Any], *, definitions: bool = False) -> None:
        """Mark an object, in place; CustomResourceDefinitions only with `definitions`.

        Raises:
            InputError: CMD-ARGO-503, its labels or annotations are not strings.
        """
        _check_texts(data)
        key, method = self.settings.label_key, self.settings.tracking_method
        if not self.instance or not key or (is_definition(data) and not definitions):
            return
        if method != "annotation":
            name = self.instance
            if method == "annotation+label" and len(name) > _LONGEST_LABEL:
                name = name[:_LONGEST_LABEL]
                while name and not name[-1].isalnum():
                    name = name[:-1]
            self._label(data, key, name)
        if method != "label":
            annotations = _map(data, "annotations")
            annotations[TRACKING] = self.identity(data)
            if self.settings.installation:
                annotations[INSTALLATION] = self.settings.installation
            else:
                annotations.pop(INSTALLATION, None)

    def identity(self, data: dict[str, Any]) -> str:
        """Return the tracking id of an object."""
        metadata = metadata_of(data)
        namespace = metadata.get("namespace") or self.namespace
        return f"{self.instance}:{key_of(data).group}/{data['kind']}:{namespace}/{metadata.get('name') or ''}"

    def _label(self, data: dict[str, Any], key: str, name: str) -> None:
        _map(data, "labels")[key] = name
        if key == _OLD_LABEL and data["kind"] in _WITH_TEMPLATES:
            template = data.get("spec", {}).get("template")
            if isinstance(template, dict):
                _map(template, "labels")[key] = name


def is_definition(data: dict[str, Any]) -> bool:
    """Check if an object is a CustomResourceDefinition."""
    return data["kind"] == "CustomResourceDefinition" and key_of(data).group == "apiextensions.k8s.io"


def metadata_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of an object, and add them if missing."""
    metadata = data.get("metadata")
    if not isinstance(metadata, dict):
        metadata = data["metadata"] = {}
    return metadata


def _map(data: dict[str, Any], key: str) -> dict[str, Any]:
    """Return labels or annotations, and add them if missing."""
    metadata = metadata_of(data)
    mapping = metadata.get(key)
    if not isinstance(mapping, dict):
        mapping = metadata[key] = {}
    return mapping


def _check_texts(data: dict[str, Any]) -> None:
    metadata = data.get("metadata")
    for key in ("labels", "annotations"):
        for path in _wrong(metadata.get(key) if isinstance(metadata, dict) else None, key):
            name = metadata.get("name") if isinstance(metadata, dict) else ""
            raise InputError(
                "CMD-ARGO-503",
                f"metadata.{path} of {data['kind']} {name} must be a string",
                hint="values of labels and annotations are strings; quote numbers, true and false",
            )


def _wrong(value: Any, key: str) -> Iterator[str]:
    if value is None:
        return
    if not isinstance(value, dict):
        yield key
        return
    for name, text in value.items():
        if not isinstance(text, str) and text is not None:
            yield f"{key}.{name}"
