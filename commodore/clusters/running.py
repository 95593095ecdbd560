"""`fleet compile`: plan a run, open it, and roll it out; see `docs/explanation/architecture.md`.

A run that was killed at any moment can be resumed: finished clusters are skipped, and catalogs that were compiled and
not pushed are compiled again, and pushed if they are equal to the judged ones.
"""

from __future__ import annotations

from commodore.base.context import Context
from commodore.base.files.workspace import Workspace
from commodore.clusters.opening import open_run
from commodore.clusters.planning import plan_run
from commodore.clusters.report.model import FleetReport
from commodore.clusters.request import FleetCompile
from commodore.clusters.rollout import Ask, roll_out
from commodore.clusters.sources import FleetSource


def compile_fleet(request: FleetCompile, source: FleetSource, ask: Ask, context: Context) -> FleetReport:
    """Compile the catalogs of many clusters, and publish them wave by wave.

    Args:
        ask: called to confirm each wave within its limits before it is published.

    Returns:
        the report with the outcome of each cluster; it is also in the folder of the run.

    Raises:
        CommodoreError: nothing was begun: unknown clusters, another run in this folder, a different run to resume.
    """
    request.check()
    folder = Workspace.at(request.request.workspace.root / "fleet")
    with folder.locked(context.limits):
        plan = plan_run(request, source, context)
        with open_run(plan, source, folder.root, context) as run:
            return roll_out(run, ask)
