"""The built-in jsonnet-bundler: libraries that components require, fetched once, laid out in `vendor`.

`effective_jsonnetfiles` reads the requirements of components; `bundle` and `bundle_component` install them.
"""

from __future__ import annotations

from commodore.core.dependencies.bundle.exports import ExportCache
from commodore.core.dependencies.bundle.install import BundleResult
from commodore.core.dependencies.bundle.jsonnetfile import GitSource, JsonnetDependency, JsonnetFile, LocalSource
from commodore.core.dependencies.bundle.remotes import Remote
from commodore.core.dependencies.bundle.render import Requirer, effective_jsonnetfiles
from commodore.core.dependencies.bundle.sources import LibrarySources
from commodore.core.dependencies.bundle.workspace_bundle import BundledComponent, bundle, bundle_component

__all__ = [
    "BundleResult",
    "BundledComponent",
    "ExportCache",
    "GitSource",
    "JsonnetDependency",
    "JsonnetFile",
    "LibrarySources",
    "LocalSource",
    "Remote",
    "Requirer",
    "bundle",
    "bundle_component",
    "effective_jsonnetfiles",
]
