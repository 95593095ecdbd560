"""Fleets: the charts of many clusters, made from configuration that advances through environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.fleet.application_sets import ApplicationSetOptions, application_set
    from commodore.fleet.comparing import RenderedDiff, diff_rendered
    from commodore.fleet.compiling.dask_options import DaskOptions
    from commodore.fleet.compiling.running import FleetCompile, compile_fleet
    from commodore.fleet.compiling.selection import ClusterSelection, Shard, parse_fact
    from commodore.fleet.compiling.sources import ApiFleet, FleetSource, read_cluster_files
    from commodore.fleet.compiling.wave_file import read_waves
    from commodore.fleet.compiling.waves import ALL_CLUSTERS, Wave, allow_failures, canary
    from commodore.fleet.drifting import Drifts, drift
    from commodore.fleet.examples import new_fleet
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
    from commodore.fleet.report.merging import merge_reports
    from commodore.fleet.report.model import FleetReport, as_pins, read_report
    from commodore.fleet.report.narrowing import narrow_report, report_file
    from commodore.fleet.report.render_markdown import render_markdown
    from commodore.fleet.report.render_text import render_text
    from commodore.fleet.repository.config import read_config
    from commodore.fleet.repository.owners import Owners
    from commodore.fleet.repository.schema import STATIC_SCHEMAS, config_schema, static_schema
    from commodore.fleet.values_text import as_yaml

__getattr__ = lazy_exports(
    __name__,
    {
        "application_sets": ("ApplicationSetOptions", "application_set"),
        "comparing": ("RenderedDiff", "diff_rendered"),
        "compiling.dask_options": ("DaskOptions",),
        "compiling.running": ("FleetCompile", "compile_fleet"),
        "compiling.selection": ("ClusterSelection", "Shard", "parse_fact"),
        "compiling.sources": ("ApiFleet", "FleetSource", "read_cluster_files"),
        "compiling.wave_file": ("read_waves",),
        "compiling.waves": ("ALL_CLUSTERS", "Wave", "allow_failures", "canary"),
        "drifting": ("Drifts", "drift"),
        "examples": ("new_fleet",),
        "generating": (
            "GenerateOptions",
            "Generated",
            "Selection",
            "check_known",
            "check_output",
            "generate",
            "stale_error",
        ),
        "importing": ("Imported", "import_applications"),
        "previewing": ("preview",),
        "promotion.changing": ("Found", "find_patch", "waits_of"),
        "promotion.folding": ("Fold", "loss_lines"),
        "promotion.gates": ("Conditions",),
        "promotion.overview": ("Narrowing", "Overview", "as_dot", "as_mermaid", "as_svg", "survey"),
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
        "promotion.status_file": ("FleetState", "named_cells", "parse_duration", "read_states"),
        "report.merging": ("merge_reports",),
        "report.model": ("FleetReport", "as_pins", "read_report"),
        "report.narrowing": ("narrow_report", "report_file"),
        "report.render_markdown": ("render_markdown",),
        "report.render_text": ("render_text",),
        "repository.config": ("read_config",),
        "repository.owners": ("Owners",),
        "repository.schema": ("STATIC_SCHEMAS", "config_schema", "static_schema"),
        "values_text": ("as_yaml",),
    },
)

__all__ = [
    "ALL_CLUSTERS",
    "ApiFleet",
    "ApplicationSetOptions",
    "ClusterSelection",
    "Conditions",
    "DaskOptions",
    "Drifts",
    "FleetCompile",
    "FleetReport",
    "FleetSource",
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
    "Shard",
    "Step",
    "Wave",
    "allow_failures",
    "application_set",
    "as_dot",
    "as_mermaid",
    "as_pins",
    "as_svg",
    "as_yaml",
    "canary",
    "check_known",
    "check_output",
    "compile_fleet",
    "config_schema",
    "diff_rendered",
    "drift",
    "find_patch",
    "fold_patch",
    "generate",
    "import_applications",
    "load_fleet",
    "loss_lines",
    "merge_reports",
    "named_cells",
    "narrow_report",
    "new_fleet",
    "parse_duration",
    "parse_fact",
    "plan",
    "preview",
    "promote",
    "read_cluster_files",
    "read_config",
    "read_report",
    "read_states",
    "read_waves",
    "render_markdown",
    "render_text",
    "report_file",
    "stale_error",
    "start_patch",
    "static_schema",
    "survey",
    "waits_of",
    "write_changes",
]
