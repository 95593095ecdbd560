"""Compile the GitOps catalog of a Kubernetes cluster.

What programs use of it; everything else may change between versions. A name is loaded when it is first asked for.
"""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports
from commodore.version import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.base.context import Context as Context
    from commodore.base.errors import CommodoreError as CommodoreError
    from commodore.base.errors import Findings as Findings
    from commodore.base.events import Event as Event
    from commodore.base.files.workspace import Workspace as Workspace
    from commodore.base.limits import Limits as Limits
    from commodore.catalog import CatalogChange as CatalogChange
    from commodore.catalog.library import compile_catalog as compile_catalog
    from commodore.catalog.library import compile_request as compile_request
    from commodore.catalog.pipeline import CatalogCompile as CatalogCompile
    from commodore.catalog.pipeline import CatalogResult as CatalogResult
    from commodore.catalog.stages import CompileOptions as CompileOptions
    from commodore.core.engine import Engine as Engine
    from commodore.core.lieutenant import ClusterFile as ClusterFile
    from commodore.core.lieutenant import ClusterSource as ClusterSource
    from commodore.core.lieutenant import LieutenantApi as LieutenantApi
else:
    __getattr__ = lazy_exports(__name__)
