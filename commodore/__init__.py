"""Compile the GitOps catalog of a Kubernetes cluster.

What programs use of it; everything else may change between versions. A name is loaded when it is first asked for.
"""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports
from commodore.version import __version__

TYPE_CHECKING = False  # as `typing` has it, which is too much to load before an interruption is answered
if TYPE_CHECKING:
    from commodore.base.context import Context
    from commodore.base.errors import CommodoreError, Findings
    from commodore.base.events import Event
    from commodore.base.files.workspace import Workspace
    from commodore.base.limits import Limits
    from commodore.catalog import CatalogChange
    from commodore.catalog.library import compile_catalog, compile_request
    from commodore.catalog.pipeline import CatalogCompile, CatalogResult
    from commodore.catalog.stages import CompileOptions
    from commodore.core.engine import Engine
    from commodore.core.lieutenant import ClusterFile, ClusterSource, LieutenantApi

__getattr__ = lazy_exports(
    __name__,
    {
        "catalog": ("CatalogChange",),
        "base.context": ("Context",),
        "core.engine": ("Engine",),
        "base.errors": ("CommodoreError", "Findings"),
        "base.events": ("Event",),
        "catalog.library": ("compile_catalog", "compile_request"),
        "core.lieutenant": ("ClusterFile", "ClusterSource", "LieutenantApi"),
        "base.limits": ("Limits",),
        "catalog.pipeline": ("CatalogCompile", "CatalogResult"),
        "catalog.stages": ("CompileOptions",),
        "base.files.workspace": ("Workspace",),
    },
)
__all__ = [
    "CatalogChange",
    "CatalogCompile",
    "CatalogResult",
    "ClusterFile",
    "ClusterSource",
    "CommodoreError",
    "CompileOptions",
    "Context",
    "Engine",
    "Event",
    "Findings",
    "LieutenantApi",
    "Limits",
    "Workspace",
    "__version__",
    "compile_catalog",
    "compile_request",
]
