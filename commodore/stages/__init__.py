"""What `catalog compile`, `package compile`, `component compile` and golden tests walk through (ADR 0007)."""

from commodore.stages.bundling import bundle_libraries
from commodore.stages.checkouts import Components, DependencyCheckout, Fetcher
from commodore.stages.checks import check_classes, check_inventory, link_libraries
from commodore.stages.cleaning import clean
from commodore.stages.compiling import CompileOptions, catalog_batch, compile_instances, engine_of, open_engine
from commodore.stages.components import fetch_components, write_hierarchy
from commodore.stages.configuration import (
    Configuration,
    ConfigurationRepository,
    ConfigurationSource,
    fetch_configuration,
    open_configuration,
)
from commodore.stages.last_run import (
    LastRun,
    check_same_cluster,
    recall_remotes,
    remember_cluster,
    remember_remotes,
)
from commodore.stages.locating import settings_located
from commodore.stages.packages import fetch_packages
from commodore.stages.publishing import assemble_manifests, describe_compile, write_references
from commodore.stages.rendering import render_inventory
from commodore.stages.tools import check_tools

__all__ = [
    "CompileOptions",
    "Components",
    "Configuration",
    "ConfigurationRepository",
    "ConfigurationSource",
    "DependencyCheckout",
    "Fetcher",
    "LastRun",
    "assemble_manifests",
    "bundle_libraries",
    "catalog_batch",
    "check_classes",
    "check_inventory",
    "check_same_cluster",
    "check_tools",
    "clean",
    "compile_instances",
    "describe_compile",
    "engine_of",
    "fetch_components",
    "fetch_configuration",
    "fetch_packages",
    "link_libraries",
    "open_configuration",
    "open_engine",
    "recall_remotes",
    "remember_cluster",
    "remember_remotes",
    "render_inventory",
    "settings_located",
    "write_hierarchy",
    "write_references",
]
