"""Validation of rendered objects by the schemas of their kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from commodore.base.diagnostics import Diagnostics, Subject
from commodore.base.errors import InputError
from commodore.base.kubernetes import key_of
from commodore.base.kubernetes.schemas import Kubernetes, Schemas, api_kind

_SHOWN = 5


class ObjectSchemas:
    """The schemas of Kubernetes, and of CustomResourceDefinitions among objects.

    Args:
        version: version of Kubernetes; empty for the newest known.
        objects: all rendered objects.

    Raises:
        EnvironmentFault: CMD-CAT-030, the schemas are not installed.
        UsageError: CMD-CLI-033, no schemas of the version.
    """

    def __init__(self, version: str, objects: Iterable[Mapping[str, Any]]) -> None:
        kubernetes = Kubernetes()
        definitions = [data for data in objects if data.get("kind") == "CustomResourceDefinition"]
        self._schemas = Schemas(kubernetes, kubernetes.release(version or None), definitions)

    def check(self, objects: Sequence[Mapping[str, Any]], diagnostics: Diagnostics, application: str) -> None:
        """Report invalid objects (CMD-ARGO-903). Objects of kinds without schema are not checked."""
        for data in objects:
            complaints = self._schemas.complaints(api_kind(data), data)
            if complaints:
                more = f"; {len(complaints) - _SHOWN} more" if len(complaints) > _SHOWN else ""
                diagnostics.take(
                    InputError(
                        "CMD-ARGO-903",
                        f"{key_of(data)} does not fit its schema: {'; '.join(complaints[:_SHOWN])}{more}",
                        hint="the API server rejects it, or drops unknown fields",
                    ),
                    Subject(application=application),
                )
