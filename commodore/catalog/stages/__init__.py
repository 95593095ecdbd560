"""The stages of `catalog compile`, `package compile`, `component compile` and golden tests (ADR 0007)."""

from commodore.catalog.stages.bundling import bundle_libraries
from commodore.catalog.stages.checkouts import Components, DependencyCheckout, Fetcher
from commodore.catalog.stages.checks import check_classes, check_inventory, link_libraries
from commodore.catalog.stages.cleaning import clean
from commodore.catalog.stages.compiling import CompileOptions, catalog_batch, compile_instances, engine_of, open_engine
from commodore.catalog.stages.components import fetch_components, write_hierarchy
from commodore.catalog.stages.configuration import (
    Configuration,
    ConfigurationRepository,
    ConfigurationSource,
    fetch_configuration,
    open_configuration,
)
from commodore.catalog.stages.last_run import (
    LastRun,
    check_same_cluster,
    recall_remotes,
    remember_cluster,
    remember_remotes,
)
from commodore.catalog.stages.locating import settings_located
from commodore.catalog.stages.packages import fetch_packages
from commodore.catalog.stages.publishing import assemble_manifests, describe_compile, write_references
from commodore.catalog.stages.rendering import render_inventory
from commodore.catalog.stages.tools import check_tools

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
