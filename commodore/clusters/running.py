"""`fleet compile`: all clusters of a run. Plan it, open it, and roll it out; see `docs/explanation/architecture.md`.

A run that was killed at any moment can go on: clusters that are done are not done again, and what was compiled and not
pushed is compiled again, and pushed if it is what was judged.
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
        ask: is asked about each wave that is good, before it is published.

    Returns:
        what became of each cluster; it is also in the folder of the run.

    Raises:
        CommodoreError: nothing was begun: no such clusters, another run in this folder, another run to go on with.
    """
    request.check()
    folder = Workspace.at(request.request.workspace.root / "fleet")
    with folder.locked(context.limits):
        plan = plan_run(request, source, context)
        with open_run(plan, source, folder.root, context) as run:
            return roll_out(run, ask)
