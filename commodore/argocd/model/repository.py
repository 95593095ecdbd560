"""The repositories of an installation, from Secrets. Credentials are never read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from commodore.argocd.model.cluster import secret_text
from commodore.argocd.model.fields import Fields
from commodore.base.errors import InputError, Location
from commodore.core.sources.git import redact

REPOSITORY_TYPES = ("repository", "repo-creds", "repository-write", "repo-write-creds")


@dataclass(frozen=True, slots=True)
class KnownRepository:
    """A repository of Argo CD, or a template for all URLs with a prefix.

    Attributes:
        type: `git`, `helm` or `oci`.
        name: the name that charts use for it.
        template: True if the URL is a prefix.
        enable_oci: True if its charts are in an OCI registry.
    """

    url: str
    type: str = "git"
    name: str = ""
    project: str = ""
    template: bool = False
    enable_oci: bool = False
    place: Location | None = None


def read_repository(secret: Mapping[str, Any], kind: str, place: Location) -> KnownRepository:
    """Read the repository of a Secret.

    Args:
        kind: one of `REPOSITORY_TYPES`.

    Raises:
        InputError: CMD-ARGO-103, a field is missing or has the wrong type.
    """
    fields = Fields.of(secret, "", place)
    url = secret_text(fields, "url")
    if not url:
        raise InputError("CMD-ARGO-103", "data.url is missing", hint="add the field", locations=[place])
    return KnownRepository(
        url=redact(url),
        type=secret_text(fields, "type") or "git",
        name=secret_text(fields, "name"),
        project=secret_text(fields, "project"),
        template=kind not in ("repository", "repository-write"),
        enable_oci=secret_text(fields, "enableOCI") == "true",
        place=place,
    )
