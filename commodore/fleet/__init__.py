"""Fleets: the charts of many clusters, made from configuration that advances through environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.fleet.application_sets import ApplicationSetOptions, application_set
    from commodore.fleet.examples import new_fleet
    from commodore.fleet.generating import Generated, GenerateOptions, Selection, check_known, generate, stale_error
    from commodore.fleet.previewing import preview
    from commodore.fleet.repository.config import read_config
    from commodore.fleet.repository.schema import STATIC_SCHEMAS, config_schema, static_schema

__getattr__ = lazy_exports(
    __name__,
    {
        "application_sets": ("ApplicationSetOptions", "application_set"),
        "examples": ("new_fleet",),
        "generating": ("GenerateOptions", "Generated", "Selection", "check_known", "generate", "stale_error"),
        "previewing": ("preview",),
        "repository.config": ("read_config",),
        "repository.schema": ("STATIC_SCHEMAS", "config_schema", "static_schema"),
    },
)

__all__ = [
    "ApplicationSetOptions",
    "GenerateOptions",
    "Generated",
    "STATIC_SCHEMAS",
    "Selection",
    "application_set",
    "check_known",
    "config_schema",
    "generate",
    "new_fleet",
    "preview",
    "read_config",
    "stale_error",
    "static_schema",
]
