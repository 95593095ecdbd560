"""Catalogs of many clusters, compiled in one run: selection, waves, journal, engines, one report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commodore.base.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from commodore.clusters.dask_options import DaskOptions
    from commodore.clusters.report.merging import merge_reports
    from commodore.clusters.report.model import FleetReport, as_pins, read_report
    from commodore.clusters.report.narrowing import narrow_report, report_file
    from commodore.clusters.report.render_markdown import render_markdown
    from commodore.clusters.report.render_text import render_text
    from commodore.clusters.running import FleetCompile, compile_fleet
    from commodore.clusters.selection import ClusterSelection, Shard, parse_fact
    from commodore.clusters.sources import ApiFleet, FleetSource, read_cluster_files
    from commodore.clusters.wave_file import read_waves
    from commodore.clusters.waves import ALL_CLUSTERS, Wave, allow_failures, canary

__getattr__ = lazy_exports(
    __name__,
    {
        "dask_options": ("DaskOptions",),
        "report.merging": ("merge_reports",),
        "report.model": (
            "FleetReport",
            "as_pins",
            "read_report",
        ),
        "report.narrowing": (
            "narrow_report",
            "report_file",
        ),
        "report.render_markdown": ("render_markdown",),
        "report.render_text": ("render_text",),
        "running": (
            "FleetCompile",
            "compile_fleet",
        ),
        "selection": (
            "ClusterSelection",
            "Shard",
            "parse_fact",
        ),
        "sources": (
            "ApiFleet",
            "FleetSource",
            "read_cluster_files",
        ),
        "wave_file": ("read_waves",),
        "waves": (
            "ALL_CLUSTERS",
            "Wave",
            "allow_failures",
            "canary",
        ),
    },
)

__all__ = [
    "ALL_CLUSTERS",
    "ApiFleet",
    "ClusterSelection",
    "DaskOptions",
    "FleetCompile",
    "FleetReport",
    "FleetSource",
    "Shard",
    "Wave",
    "allow_failures",
    "as_pins",
    "canary",
    "compile_fleet",
    "merge_reports",
    "narrow_report",
    "parse_fact",
    "read_cluster_files",
    "read_report",
    "read_waves",
    "render_markdown",
    "render_text",
    "report_file",
]
