"""Whether rendered objects fit the schemas of their kinds."""

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
        version: of Kubernetes; empty for the newest that is known.
        objects: all that are rendered.

    Raises:
        EnvironmentFault: CMD-CAT-030, the schemas are not installed.
        UsageError: CMD-CLI-033, there are none of the version.
    """

    def __init__(self, version: str, objects: Iterable[Mapping[str, Any]]) -> None:
        kubernetes = Kubernetes()
        definitions = [one for one in objects if one.get("kind") == "CustomResourceDefinition"]
        self._schemas = Schemas(kubernetes, kubernetes.release(version or None), definitions)

    def check(self, objects: Sequence[Mapping[str, Any]], found: Diagnostics, application: str) -> None:
        """Report objects that do not fit (CMD-ARGO-903). A kind without schema fits."""
        for data in objects:
            complaints = self._schemas.complaints(api_kind(data), data)
            if complaints:
                more = f"; {len(complaints) - _SHOWN} more" if len(complaints) > _SHOWN else ""
                found.take(
                    InputError(
                        "CMD-ARGO-903",
                        f"{key_of(data)} does not fit its schema: {'; '.join(complaints[:_SHOWN])}{more}",
                        hint="the API server refuses it, or drops what it does not know",
                    ),
                    Subject(application=application),
                )
