"""The built-in jsonnet-bundler: what components require, fetched once, laid out in `vendor`.

`effective_jsonnetfiles` says what components require; `bundle` and `bundle_component` bring it.
"""

from __future__ import annotations

from commodore.dependencies.bundle.exports import ExportCache
from commodore.dependencies.bundle.install import BundleResult, install
from commodore.dependencies.bundle.jsonnetfile import (
    FILE_NAME,
    GitSource,
    JsonnetDependency,
    JsonnetFile,
    LocalSource,
    parse_jsonnetfile,
    read_jsonnetfile,
    serialise,
)
from commodore.dependencies.bundle.remotes import Remote, parse_remote
from commodore.dependencies.bundle.render import Requirer, effective_jsonnetfiles
from commodore.dependencies.bundle.sources import LibrarySources
from commodore.dependencies.bundle.walk import Conflict
from commodore.dependencies.bundle.workspace_bundle import BundledComponent, bundle, bundle_component

__all__ = [
    "BundleResult",
    "BundledComponent",
    "Conflict",
    "ExportCache",
    "JsonnetDependency",
    "FILE_NAME",
    "GitSource",
    "JsonnetFile",
    "LibrarySources",
    "LocalSource",
    "Remote",
    "Requirer",
    "bundle",
    "bundle_component",
    "effective_jsonnetfiles",
    "install",
    "parse_jsonnetfile",
    "parse_remote",
    "read_jsonnetfile",
    "serialise",
]
