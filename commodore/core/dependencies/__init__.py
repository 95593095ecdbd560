"""Dependencies of a cluster: applications, specs, metadata, libraries, Jsonnet bundling."""

from commodore.core.dependencies.applications import Applications, discover_packages, parse_applications, unusual_names
from commodore.core.dependencies.libraries import LibraryOwner, resolve_libraries
from commodore.core.dependencies.metadata import ComponentMetadata, check_alias, deprecation_notices, read_metadata
from commodore.core.dependencies.specs import (
    DependencySpec,
    Kind,
    find_incomplete,
    instance_spec,
    overrides_version,
    read_specs,
)

__all__ = [
    "Applications",
    "ComponentMetadata",
    "DependencySpec",
    "Kind",
    "LibraryOwner",
    "check_alias",
    "deprecation_notices",
    "discover_packages",
    "find_incomplete",
    "instance_spec",
    "overrides_version",
    "parse_applications",
    "read_metadata",
    "read_specs",
    "resolve_libraries",
    "unusual_names",
]
