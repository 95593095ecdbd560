"""Conditions of a promotion: approval, health, soak, and the live state that a patch depends on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, NotReady, PolicyError
from commodore.base.events import Warned
from commodore.core.sources.git import Git
from commodore.fleet.dependencies import dependencies_of, is_live, unmet, wanted_revision
from commodore.fleet.findings import at, cells_in_words
from commodore.fleet.patches import covered
from commodore.fleet.promotion.changing import LocatedPatch, placed_at, waits_of
from commodore.fleet.promotion.next_place import entered, left
from commodore.fleet.promotion.status_file import FleetState
from commodore.fleet.repository.config import Prefix, SequenceNode, covers, in_path
from commodore.fleet.repository.model import APPLICATIONS, Values

Approve = Callable[[SequenceNode], bool]
"""Called before a promotion enters a node that a person has to approve; returns True if it is approved."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions that a promotion is checked against.

    Attributes:
        approve: called at manual gates.
        state: the known state of applications; None if not given.
        health: require that all cells with the patch are healthy, for the soak time of their nodes.
        now: the current time, for soaking.
    """

    approve: Approve
    state: FleetState | None
    health: bool
    now: datetime


def manual_nodes(located: LocatedPatch, place: Prefix) -> list[SequenceNode]:
    """Return the nodes that a promotion enters and that a person has to approve."""
    return [node for node in entered(located.fleet.config, located.patch.prefixes, place) if node.manual]


def approval_error(node: SequenceNode) -> CommodoreError:
    """Return the error of a manual gate without approval."""
    return PolicyError(
        "CMD-FLT-073",
        f"{in_path(node.prefix)} requires approval ({at(node.location)})",
        hint="approve it with --approve",
        locations=[node.location],
    )


def check_gates(located: LocatedPatch, place: Prefix, conditions: Conditions, context: Context) -> None:
    """Raise if a patch may not be promoted to a place.

    Raises:
        CommodoreError: CMD-FLT-073, as `check_dependencies`; with `health` 068, 074 and 075.
    """
    for node in manual_nodes(located, place):
        if not conditions.approve(node):
            raise approval_error(node)
    check_dependencies(located, place, conditions, context)
    if conditions.health and located.patch.placements:
        reached = covered(located.fleet.config, located.patch.prefixes)
        _check_health(located, reached, located.values(), conditions.state or FleetState())
        _check_soak(located, place, reached, conditions, context)


def applications_of(located: LocatedPatch) -> list[str]:
    """Return the applications that a patch changes; all of its folder if it changes ApplicationSets only."""
    own = located.patch.files[-1].layer.values.get(APPLICATIONS, {})
    return sorted(own or {name for section, name in located.app.items if section == APPLICATIONS})


def check_dependencies(located: LocatedPatch, place: Prefix | None, conditions: Conditions, context: Context) -> None:
    """Raise if a dependency of a patch is not met at its placements or at `place`; without `health` warn instead.

    Raises:
        InputError: CMD-FLT-050, it depends on the live state of the cells at `place`, which is not given; 074, it is
            unknown in one of them.
        NotReady: CMD-FLT-067, values do not meet a dependency; 068, the live state does not.
    """
    after = located
    if place is not None:
        placed = placed_at(located, located.patch.files[-1], place)
        after = located.with_placements([*located.patch.placements, placed])
        _check_live(located, place, conditions.state)
    for wait in waits_of(after, after.merged()):
        if conditions.health:
            raise NotReady(
                "CMD-FLT-067",
                f"needs {wait.in_words}",
                hint="promote what it depends on first, or remove the dependency",
                locations=[wait.lack.dependency.location],
            )
        context.announce(
            Warned(
                "CMD-FLT-047",
                f"the patch {located.name} is not applied in {cells_in_words([in_path(cell) for cell in wait.cells])}: "
                f"{wait.lack.in_words}",
                wait.lack.hint,
            )
        )


def _check_live(located: LocatedPatch, place: Prefix, state: FleetState | None) -> None:
    """Raise if the live state that the patch depends on is unknown or not met in a cell below `place`."""
    kind, values = located.kind.name, located.values()
    for dependency in dependencies_of(located.patch.files[-1], located.kind.sections):
        cells = [cell for cell in values if covers(place, cell) and is_live(dependency, values[cell])]
        if cells and state is None:
            raise InputError(
                "CMD-FLT-050",
                f"{located.patch.name} depends on the live state {dependency.text}",
                hint="give it with --status",
                locations=[dependency.location],
            )
        for cell in cells:
            assert state is not None
            lack = unmet(dependency, values[cell], state.live(kind, cell))
            if lack is not None:
                where = f"not ready in {kind}/{in_path(cell)}: {lack.in_words}"
                if state.of(kind, cell, str(dependency.path[1])) is None:
                    raise InputError(
                        "CMD-FLT-074",
                        where,
                        hint="give its state with --status",
                        locations=[dependency.location],
                    )
                raise NotReady("CMD-FLT-068", where, hint="wait for it", locations=[dependency.location])


def _check_health(
    located: LocatedPatch, cells: Sequence[Prefix], values: dict[Prefix, Values], state: FleetState
) -> None:
    """Raise for the first application that is broken or unknown, else for the first that may still become ready."""
    kind = located.kind.name
    on_the_way: list[str] = []
    for cell in cells:
        for application in applications_of(located):
            if state.is_ready(kind, cell, application, wanted_revision(values[cell], application)):
                continue
            known = state.of(kind, cell, application)
            words = known.in_words + (f", at {known.revision}" if known.revision else "") if known else "state unknown"
            if known is None or not known.may_become_ready:
                raise InputError(
                    "CMD-FLT-074",
                    f"not healthy in {kind}/{in_path(cell)}: {application} ({words})",
                    hint="check the application, or give its state with --status",
                )
            on_the_way.append(f"{application} ({words}) in {kind}/{in_path(cell)}")
    if on_the_way:
        more = f" and {len(on_the_way) - 1} more" if len(on_the_way) > 1 else ""
        raise NotReady(
            "CMD-FLT-068", f"not healthy yet: {on_the_way[0]}{more}", hint="wait for it, or check the application"
        )


def _check_soak(
    located: LocatedPatch, place: Prefix, reached: Sequence[Prefix], conditions: Conditions, context: Context
) -> None:
    nodes = [node for node in left(located.fleet.config, located.patch.prefixes, place) if node.soak]
    placed = placed_since(located, context) if nodes else {}
    state = conditions.state or FleetState()
    for node in nodes:
        times = []
        for cell in (cell for cell in reached if covers(node.prefix, cell)):
            known = [state.of(located.kind.name, cell, name) for name in applications_of(located)]
            since = [app.since for app in known if app is not None and app.since is not None]
            times.append(max(since) if since else placed.get(cell, conditions.now))
        since_all = max(times, default=conditions.now)
        ready = since_all + timedelta(seconds=node.soak)
        if ready > conditions.now:
            raise NotReady(
                "CMD-FLT-075",
                f"{in_path(node.prefix)} is healthy since {_timestamp(since_all)} and soaks for {node.soak_text}: "
                f"ready at {_timestamp(ready)}",
                hint="wait until then",
                locations=[node.location],
            )


def _timestamp(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def placed_since(located: LocatedPatch, context: Context) -> dict[Prefix, datetime]:
    """Return since when cells have the patch without interruption, by the commits of its files; empty without git."""
    folder = located.app.folder
    with contextlib.suppress(CommodoreError):
        arguments = ["log", "--reverse", "--no-renames", "--name-status", "--format=@%ct", "--relative", "--", "."]
        return _replay(located, Git(folder, context).run(arguments).text)
    return {}


def _replay(located: LocatedPatch, log: str) -> dict[Prefix, datetime]:
    config = located.fleet.config
    known = dict.fromkeys(config.prefixes())
    there: set[Prefix] = set()
    since: dict[Prefix, datetime] = {}
    for commit in log.split("@")[1:]:
        time, _, changes = commit.partition("\n")
        for line in changes.splitlines():
            status, _, path = line.partition("\t")
            parts = Path(path).parts
            prefix = tuple(part for part in parts[:-1] if part != "patches")
            if path and Path(path).stem == located.patch.name and prefix in known:
                (there.discard if status == "D" else there.add)(prefix)
        reached = set(covered(config, there))
        moment = datetime.fromtimestamp(int(time), UTC)
        since = {cell: since.get(cell, moment) for cell in reached}
    return since
