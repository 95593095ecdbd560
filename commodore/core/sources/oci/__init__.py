"""Registries of OCI artefacts: references, tags, manifests, layers. Logins of the machine's user are not used."""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.core.sources.oci.reference import at_version as at_version
    from commodore.core.sources.oci.reference import parse_reference as parse_reference
    from commodore.core.sources.oci.registry import CHART as CHART
    from commodore.core.sources.oci.registry import Registries as Registries
    from commodore.core.sources.oci.registry import content_layer as content_layer
else:
    # The registry client is slow to import, and most runs do not need it.
    __getattr__ = lazy_exports(__name__)
