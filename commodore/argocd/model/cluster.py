"""The clusters of an installation, from Secrets. Credentials are never read."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from commodore.argocd.model.fields import Fields
from commodore.base.errors import InputError, Location

SECRET_TYPE = "argocd.argoproj.io/secret-type"  # noqa: S105 - the name of a label
IN_CLUSTER = "in-cluster"
IN_CLUSTER_SERVER = "https://kubernetes.default.svc"
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def _without_applied(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return annotations for documents, without the copy of the whole Secret that `kubectl apply` adds."""
    return {key: value for key, value in annotations.items() if key != _APPLIED}


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster of Argo CD. `labels` and `annotations` are those of its Secret.

    Attributes:
        kube_version, api_versions: the capabilities that charts see, from facts.
    """

    name: str
    server: str
    project: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict, metadata={"json": _without_applied})
    namespaces: tuple[str, ...] = ()
    place: Location | None = None
    kube_version: str = ""
    api_versions: tuple[str, ...] = ()


def read_cluster(secret: Mapping[str, Any], place: Location) -> Cluster:
    """Read the cluster of a Secret with the type `cluster`.

    Raises:
        InputError: CMD-ARGO-103, a field is missing or has the wrong type.
    """
    fields = Fields.of(secret, "", place)
    metadata = fields.fields("metadata")
    server = secret_text(fields, "server")
    if not server:
        raise InputError("CMD-ARGO-103", "data.server is missing", hint="add the field", locations=[place])
    name = secret_text(fields, "name")
    namespaces = secret_text(fields, "namespaces")
    return Cluster(
        name=name or server,
        server=server.rstrip("/"),
        project=secret_text(fields, "project"),
        labels=metadata.text_map("labels"),
        annotations=metadata.text_map("annotations"),
        namespaces=tuple(part.strip() for part in namespaces.split(",") if part.strip()),
        place=place,
    )


def secret_text(secret: Fields, key: str) -> str:
    """Return a value of a Secret, plain or from base64; empty if it is absent."""
    plain = secret.fields("stringData").text(key)
    if plain:
        return plain
    encoded = secret.fields("data").text(key)
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):
        raise Fields.wrong_type(f"data.{key}", "base64 of text", encoded, secret.place) from None
