"""Fleets: the charts of many clusters, made from configuration that advances through environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.fleet.application_sets import ApplicationSetOptions, application_set
    from commodore.fleet.comparing import RenderedDiff, diff_rendered
    from commodore.fleet.drifting import Drifts, drift
    from commodore.fleet.examples import new_fleet
    from commodore.fleet.findings import by_severity
    from commodore.fleet.generating import (
        Generated,
        GenerateOptions,
        Selection,
        check_known,
        check_output,
        generate,
        stale_error,
    )
    from commodore.fleet.importing import Imported, import_applications
    from commodore.fleet.previewing import preview
    from commodore.fleet.promotion.changing import Found, find_patch, waits_of
    from commodore.fleet.promotion.folding import Fold, loss_lines
    from commodore.fleet.promotion.gates import Conditions
    from commodore.fleet.promotion.overview import Narrowing, Overview, as_dot, as_mermaid, as_svg, survey
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
    from commodore.fleet.promotion.status_file import FleetState, named_cells, parse_duration, read_states
    from commodore.fleet.repository.config import read_config
    from commodore.fleet.repository.owners import Owners
    from commodore.fleet.repository.schema import STATIC_SCHEMAS, config_schema, static_schema
    from commodore.fleet.values_text import as_yaml

__getattr__ = lazy_exports(
    __name__,
    {
        "application_sets": (
            "ApplicationSetOptions",
            "application_set",
        ),
        "comparing": (
            "RenderedDiff",
            "diff_rendered",
        ),
        "drifting": (
            "Drifts",
            "drift",
        ),
        "examples": ("new_fleet",),
        "findings": ("by_severity",),
        "generating": (
            "GenerateOptions",
            "Generated",
            "Selection",
            "check_known",
            "check_output",
            "generate",
            "stale_error",
        ),
        "importing": (
            "Imported",
            "import_applications",
        ),
        "previewing": ("preview",),
        "promotion.changing": (
            "Found",
            "find_patch",
            "waits_of",
        ),
        "promotion.folding": (
            "Fold",
            "loss_lines",
        ),
        "promotion.gates": ("Conditions",),
        "promotion.overview": (
            "Narrowing",
            "Overview",
            "as_dot",
            "as_mermaid",
            "as_svg",
            "survey",
        ),
        "promotion.planning": (
            "PlannedStep",
            "plan",
        ),
        "promotion.promoting": (
            "PromoteOptions",
            "Step",
            "fold_patch",
            "load_fleet",
            "promote",
            "start_patch",
            "write_changes",
        ),
        "promotion.status_file": (
            "FleetState",
            "named_cells",
            "parse_duration",
            "read_states",
        ),
        "repository.config": ("read_config",),
        "repository.owners": ("Owners",),
        "repository.schema": (
            "STATIC_SCHEMAS",
            "config_schema",
            "static_schema",
        ),
        "values_text": ("as_yaml",),
    },
)

__all__ = [
    "ApplicationSetOptions",
    "Conditions",
    "Drifts",
    "FleetState",
    "Fold",
    "Found",
    "GenerateOptions",
    "Generated",
    "Imported",
    "Narrowing",
    "Overview",
    "Owners",
    "PlannedStep",
    "PromoteOptions",
    "RenderedDiff",
    "STATIC_SCHEMAS",
    "Selection",
    "Step",
    "application_set",
    "as_dot",
    "as_mermaid",
    "as_svg",
    "as_yaml",
    "by_severity",
    "check_known",
    "check_output",
    "config_schema",
    "diff_rendered",
    "drift",
    "find_patch",
    "fold_patch",
    "generate",
    "import_applications",
    "load_fleet",
    "loss_lines",
    "named_cells",
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
    "waits_of",
    "write_changes",
]
