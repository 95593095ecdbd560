"""Catalogs of many clusters, compiled in one run: selection, waves, journal, engines, one report."""

from __future__ import annotations

from commodore.base.lazy_exports import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commodore.clusters.report.model import FleetReport as FleetReport
    from commodore.clusters.report.model import as_pins as as_pins
    from commodore.clusters.report.model import report_bytes as report_bytes
    from commodore.clusters.report.rendering import render_markdown as render_markdown
    from commodore.clusters.report.rendering import render_text as render_text
    from commodore.clusters.report.stored import merge_reports as merge_reports
    from commodore.clusters.report.stored import narrow_report as narrow_report
    from commodore.clusters.report.stored import read_report as read_report
    from commodore.clusters.report.stored import report_file as report_file
    from commodore.clusters.request import DaskOptions as DaskOptions
    from commodore.clusters.request import FleetCompile as FleetCompile
    from commodore.clusters.running import compile_fleet as compile_fleet
    from commodore.clusters.selection import ClusterSelection as ClusterSelection
    from commodore.clusters.selection import Shard as Shard
    from commodore.clusters.selection import parse_fact as parse_fact
    from commodore.clusters.sources import ApiFleet as ApiFleet
    from commodore.clusters.sources import FleetSource as FleetSource
    from commodore.clusters.sources import read_cluster_files as read_cluster_files
    from commodore.clusters.wave_file import read_waves as read_waves
    from commodore.clusters.waves import ALL_CLUSTERS as ALL_CLUSTERS
    from commodore.clusters.waves import Wave as Wave
    from commodore.clusters.waves import allow_failures as allow_failures
    from commodore.clusters.waves import canary as canary
else:
    __getattr__ = lazy_exports(__name__)
