"""The plan of a run: the clusters of each wave, from the list of a source. Nothing is written or compiled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from commodore.base.context import Context
from commodore.base.errors import UsageError
from commodore.base.events import Warned
from commodore.clusters.journal import PlannedRun
from commodore.clusters.request import FleetCompile
from commodore.clusters.selection import Candidate
from commodore.clusters.sources import FleetSource
from commodore.clusters.waves import Wave, assign, check_waves
from commodore.fleet import named_cells, read_states
from commodore.version import __version__


@dataclass(frozen=True, slots=True)
class Plan:
    """The clusters of a run by wave.

    Attributes:
        waves: all waves in order, with the clusters of all shards.
    """

    request: FleetCompile
    waves: tuple[tuple[Wave, tuple[Candidate, ...]], ...]

    @property
    def own(self) -> tuple[tuple[Wave, tuple[Candidate, ...]], ...]:
        """The waves with the clusters of this run's shard."""
        shard = self.request.shard
        return tuple(
            (wave, tuple(item for item in ones if shard is None or shard.holds(item.id))) for wave, ones in self.waves
        )

    def ids(self, wave: Wave) -> list[str]:
        """Return the clusters of a wave in this run's shard."""
        return [item.id for own, ones in self.own for item in ones if own is wave]

    def record(self, started: str) -> PlannedRun:
        """Return the plan as stored on disk."""
        return PlannedRun(
            commodore=__version__,
            started=started,
            digest=self.request.digest,
            options=self.request.deciding,
            push=self.request.request.push,
            shard=self.request.shard,
            clusters={item.id: wave.name for wave, ones in self.waves for item in ones},
        )


def plan_run(request: FleetCompile, source: FleetSource, context: Context) -> Plan:
    """Choose the clusters of a run, and assign them to its waves.

    Raises:
        CommodoreError: unknown clusters or waves; unreadable states; or waves that hold nothing back.
    """
    known = [Candidate.of(item) for item in source.list(context)]
    chosen = request.selection.choose(known)
    check_waves(request.waves, known, chosen)
    assigned = assign(chosen, request.waves)
    if request.approved or request.status:
        _check_names(request, known, context)
    for wave, ones in assigned:
        if not ones and not wave.clusters.is_all:
            context.announce(
                Warned(
                    "CMD-FLT-126",
                    f"wave {wave.name} has none of the chosen clusters",
                    hint="nothing is tried in it before later waves are pushed; choose one of its clusters, too",
                )
            )
    return Plan(request, tuple(assigned))


def _check_names(request: FleetCompile, known: Sequence[Candidate], context: Context) -> None:
    """Refuse unknown waves and clusters in options, and a status that no wave uses.

    Raises:
        UsageError: CMD-FLT-090, no such wave or cluster; CMD-FLT-121, no wave soaks.
        CommodoreError: a status file cannot be read.
    """
    from commodore.fleet import check_known  # loads the generator of charts, which few runs need

    check_known("wave", sorted(request.approved), [wave.name for wave in request.waves])
    check_known("cluster", named_cells(request.status), sorted(item.id for item in known))
    if request.status and not any(wave.soak for wave in request.waves):
        raise UsageError(
            "CMD-FLT-121",
            "--status is read when a wave has soaked, and no wave soaks",
            hint="give a wave a `soak` in the file of --waves, or remove --status",
        )
    read_states(request.status, math.inf, context.limits)
