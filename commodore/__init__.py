"""Compile the GitOps catalog of a Kubernetes cluster.

What programs use of it; everything else may change between versions. A name is loaded when it is first asked for.
"""

from __future__ import annotations

from commodore.lazy_exports import lazy_exports

TYPE_CHECKING = False  # as `typing` has it, which is too much to load before an interruption is answered
if TYPE_CHECKING:
    from commodore.catalog import CatalogChange
    from commodore.context import Context
    from commodore.engine import Engine
    from commodore.errors import CommodoreError, Findings
    from commodore.events import Event
    from commodore.library import compile_catalog, compile_request
    from commodore.lieutenant import ClusterFile, ClusterSource, LieutenantApi
    from commodore.limits import Limits
    from commodore.pipeline import CatalogCompile, CatalogResult
    from commodore.stages import CompileOptions
    from commodore.workspace import Workspace

# The one place of the version: the build and `commodore version` read it here.
__version__ = "0.1.0"

__getattr__ = lazy_exports(
    __name__,
    {
        "catalog": ("CatalogChange",),
        "context": ("Context",),
        "engine": ("Engine",),
        "errors": ("CommodoreError", "Findings"),
        "events": ("Event",),
        "library": ("compile_catalog", "compile_request"),
        "lieutenant": ("ClusterFile", "ClusterSource", "LieutenantApi"),
        "limits": ("Limits",),
        "pipeline": ("CatalogCompile", "CatalogResult"),
        "stages": ("CompileOptions",),
        "workspace": ("Workspace",),
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
