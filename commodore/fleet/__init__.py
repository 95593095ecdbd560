"""Fleets: the charts of many clusters, made from configuration that advances through environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.fleet.application_sets import ApplicationSetOptions, application_set
    from commodore.fleet.examples import new_fleet
    from commodore.fleet.generating import Generated, GenerateOptions, Selection, check_known, generate, stale_error
    from commodore.fleet.previewing import preview
    from commodore.fleet.promotion.changing import Found, find_patch
    from commodore.fleet.promotion.folding import Fold, loss_lines
    from commodore.fleet.promotion.gates import Conditions
    from commodore.fleet.promotion.overview import Overview, as_dot, as_mermaid, as_svg, survey
    from commodore.fleet.promotion.planning import PlannedStep, plan
    from commodore.fleet.promotion.promoting import (
        PromoteOptions,
        Step,
        fold_patch,
        load_fleet,
        promote,
        start_patch,
        write_changes,
    )
    from commodore.fleet.promotion.status_file import FleetState, parse_duration, read_states
    from commodore.fleet.repository.config import read_config
    from commodore.fleet.repository.owners import Owners
    from commodore.fleet.repository.schema import STATIC_SCHEMAS, config_schema, static_schema

__getattr__ = lazy_exports(
    __name__,
    {
        "application_sets": ("ApplicationSetOptions", "application_set"),
        "examples": ("new_fleet",),
        "generating": ("GenerateOptions", "Generated", "Selection", "check_known", "generate", "stale_error"),
        "previewing": ("preview",),
        "promotion.changing": ("Found", "find_patch"),
        "promotion.folding": ("Fold", "loss_lines"),
        "promotion.gates": ("Conditions",),
        "promotion.overview": ("Overview", "as_dot", "as_mermaid", "as_svg", "survey"),
        "promotion.planning": ("PlannedStep", "plan"),
        "promotion.promoting": (
            "PromoteOptions",
            "Step",
            "fold_patch",
            "load_fleet",
            "promote",
            "start_patch",
            "write_changes",
        ),
        "promotion.status_file": ("FleetState", "parse_duration", "read_states"),
        "repository.config": ("read_config",),
        "repository.owners": ("Owners",),
        "repository.schema": ("STATIC_SCHEMAS", "config_schema", "static_schema"),
    },
)

__all__ = [
    "ApplicationSetOptions",
    "Conditions",
    "FleetState",
    "Fold",
    "Found",
    "GenerateOptions",
    "Generated",
    "Overview",
    "Owners",
    "PlannedStep",
    "PromoteOptions",
    "STATIC_SCHEMAS",
    "Selection",
    "Step",
    "application_set",
    "as_dot",
    "as_mermaid",
    "as_svg",
    "check_known",
    "config_schema",
    "find_patch",
    "fold_patch",
    "generate",
    "load_fleet",
    "loss_lines",
    "new_fleet",
    "parse_duration",
    "plan",
    "preview",
    "promote",
    "read_config",
    "read_states",
    "stale_error",
    "start_patch",
    "static_schema",
    "survey",
    "write_changes",
]
