"""The second step: decide for each group of Applications if it is rendered. Nothing is rendered or written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from commodore.base.errors import CommodoreError, InputError
from commodore.hydrate.branches.destination import Destination, open_destination
from commodore.hydrate.model import Group
from commodore.hydrate.planning import groups
from commodore.hydrate.planning.abandoned import find_abandoned
from commodore.hydrate.planning.deciding import Decider
from commodore.hydrate.planning.groups import PlannedGroup
from commodore.hydrate.reading.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Plan:
    """Decisions for all groups.

    Attributes:
        destinations: the destination repositories by key.
    """

    inputs: Inputs
    destinations: Mapping[str, Destination]
    groups: tuple[PlannedGroup, ...]

    @property
    def lost(self) -> tuple[CommodoreError, ...]:
        """The errors of the Applications that were excluded."""
        return self.inputs.lost

    def by_branch(self) -> list[list[PlannedGroup]]:
        """Return the groups by destination branch."""
        branches: dict[tuple[str, str], list[PlannedGroup]] = {}
        for group in self.groups:
            branches.setdefault((group.group.key, group.group.branch), []).append(group)
        return list(branches.values())


def plan(inputs: Inputs) -> Plan:
    """Decide for each group of Applications if it is rendered.

    Raises:
        CommodoreError: a group is too large; a dry commit is given for several dry repositories; a destination
            cannot be written to.
    """
    run = inputs.run
    job = run.job
    made = groups.group(inputs.present, run.dry_sha)
    if job.dry_sha and len({item.dry_key for item in made}) > 1:
        raise InputError(
            "CMD-HYD-014",
            "a dry commit is given, but the Applications have several dry repositories",
            hint="narrow the sources to those of one repository",
        )
    groups.check_sizes(made, run.context.limits.hydrate_applications)
    groups.warn(made, run.context.announce)
    taken = [item for item in made if job.only.takes(item)]
    destinations = _destinations(inputs, taken)
    decider = Decider(run)
    planned = [
        decider.decide(item, destinations[item.key], inputs.scope(item), inputs.pins(item, run.context))
        for item in taken
    ]
    if job.publishing.writing.removal != "keep":
        for key, destination in destinations.items():
            own = [item for item in made if item.key == key]
            planned += find_abandoned(destination, own, inputs.members, job)
    return Plan(inputs, destinations, tuple(planned))


def _destinations(inputs: Inputs, taken: Iterable[Group]) -> dict[str, Destination]:
    run, how = inputs.run, inputs.run.job.publishing
    opened: dict[str, Destination] = {}
    for item in taken:
        if item.key not in opened:
            url = item.first.url
            rights = how.rights(url, inputs.projects[item.key])
            opened[item.key] = open_destination(run.store.repository(url), run.context, how.writing, how.sign, rights)
    return opened
