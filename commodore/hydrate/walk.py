"""The steps of hydration: read, plan, render, publish. Each step takes the result of the previous step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from commodore.base.errors import CommodoreError, InputError
from commodore.base.events import Warned, ignore, stage
from commodore.core.sources.git import Git, redact
from commodore.hydrate.branches.destination import Destination
from commodore.hydrate.model import CommitRequest, Group, Outcome, Result
from commodore.hydrate.planning.abandoned import refusal
from commodore.hydrate.planning.groups import PlannedGroup
from commodore.hydrate.planning.plan import Plan, plan
from commodore.hydrate.publishing.changes import kept_warning, stale_warning
from commodore.hydrate.publishing.publishing import Published, check_push, publish_all
from commodore.hydrate.reading.inputs import Run, read
from commodore.hydrate.rendering.render import Rendered, dry_commits_of, render

PUSH_STAGE = "push"
_DOING = ("render", "unaffected", "remove", "abandoned")
"""Decisions that lead to a commit."""


@dataclass(frozen=True, slots=True)
class HydrationResult:
    """The results of the groups of a run, and the errors of the Applications that were excluded from it."""

    results: tuple[tuple[PlannedGroup, Result], ...]
    lost: tuple[CommodoreError, ...]


def hydrate(run: Run, ready: Callable[[Group], bool] = lambda _: True) -> HydrationResult:
    """Read, plan, render and publish. A failed group does not affect other groups.

    Args:
        ready: returns False for groups to skip in this run.

    Raises:
        CommodoreError: see `read` and `plan`.
    """
    made = plan(read(run))
    run, destinations = made.inputs.run, made.destinations
    done: list[tuple[PlannedGroup, Result]] = []
    with dry_commits_of(made.inputs) as dry_commits:
        rounds = _rounds(run, [_if_ready(group, ready) for group in made.groups])
        refused = _refusals(run, rounds[0] if rounds else (), destinations)
        for several in rounds:
            rendered = render(_doing(several, refused), dry_commits)
            pushed = _publish(run, rendered, destinations)
            destinations = {**destinations, **{key: value.destination for key, value in pushed.items()}}
            results: dict[str, Result] = {**refused, **_failed(rendered)}
            for published in pushed.values():
                results |= published.results
            made_of = {entry.planned.group.id: entry for entry in rendered}
            for item in several:
                if item.group.id in made_of:
                    item = _reported(run, made_of[item.group.id], pushed)
                elif item.decision == "hydrated" and item.group.id not in results:
                    item = _reported_as_left(run, item)
                done.append((item, results.get(item.group.id) or _left(item, destinations[item.group.key])))
    return HydrationResult(tuple(done), made.lost)


def requests_of(made: Plan) -> tuple[list[CommitRequest], dict[str, CommodoreError]]:
    """Return the commit requests of a plan, and the errors of failed groups by group id."""
    refused = _refusals(made.inputs.run, made.groups, made.destinations)
    with dry_commits_of(made.inputs) as dry_commits:
        rendered = render(_doing(made.groups, refused), dry_commits)
    requests = [item.result for item in rendered if isinstance(item.result, CommitRequest)]
    return requests, {**refused, **_failed(rendered)}


def _doing(planned: Iterable[PlannedGroup], refused: Collection[str]) -> list[PlannedGroup]:
    return [item for item in planned if item.decision in _DOING and item.group.id not in refused]


def _failed(rendered: Iterable[Rendered]) -> dict[str, CommodoreError]:
    return {item.planned.group.id: item.result for item in rendered if isinstance(item.result, CommodoreError)}


def _refusals(
    run: Run, planned: Sequence[PlannedGroup], destinations: Mapping[str, Destination]
) -> dict[str, CommodoreError]:
    """Return the errors of groups that are not rendered: removal was not requested, or a push would be refused."""
    refused: dict[str, CommodoreError] = {}
    closed: dict[str, CommodoreError | None] = {}
    for item in _doing(planned, ()):
        if item.decision == "abandoned" and run.job.publishing.writing.removal != "delete":
            refused[item.group.id] = refusal(item)
            continue
        key = item.group.key
        if key not in closed:
            closed[key] = None if run.job.publishing.dry else _push_error(destinations[key])
        if (error := closed[key]) is not None:
            refused[item.group.id] = error
    return refused


def _push_error(destination: Destination) -> CommodoreError | None:
    try:
        check_push(destination)
    except CommodoreError as error:
        return error
    return None


def _publish(run: Run, rendered: Sequence[Rendered], destinations: Mapping[str, Destination]) -> dict[str, Published]:
    work: dict[str, tuple[Destination, list[CommitRequest]]] = {}
    for item in rendered:
        if isinstance(item.result, CommitRequest):
            key = item.planned.group.key
            work.setdefault(key, (destinations[key], []))[1].append(item.result)
    how, number = run.job.publishing, sum(len(several) for _, several in work.values())
    with stage(ignore if how.dry or not work else run.context.announce, PUSH_STAGE, number):
        return publish_all(run.store, work, how)


def _reported(run: Run, rendered: Rendered, pushed: Mapping[str, Published]) -> PlannedGroup:
    """Return a rendered group with its warnings and duration."""
    group, seconds = rendered.planned.group, rendered.seconds
    if isinstance(rendered.result, CommitRequest):
        seconds += pushed[group.key].seconds
    return replace(rendered.planned, warnings=(*rendered.warnings, *_warnings_of(run, group)), seconds=seconds)


def _reported_as_left(run: Run, planned: PlannedGroup) -> PlannedGroup:
    """Warn about stale and edited paths on the branch of an up-to-date group; the warnings repeat in each run."""
    branch = f"{planned.group.branch} of {redact(planned.group.first.url)}"
    stale = (stale_warning(planned.stale, branch),) if planned.stale else ()
    kept = (kept_warning(planned.edits, branch),) if planned.edits else ()
    for warned in (*stale, *kept):
        run.context.announce(warned)
    return replace(planned, warnings=(*stale, *kept, *_warnings_of(run, planned.group)))


def _warnings_of(run: Run, group: Group) -> Iterator[Warned]:
    """Yield the warnings among the diagnostics of a group's Applications."""
    labels = {run.job.settings.label(member.namespace, member.name) for member in group.members}
    labels |= {member.name for member in group.members}
    for item in run.diagnostics.collected():
        if item.subject.application in labels and item.severity == "warning":
            yield item.as_warning()


def _rounds(run: Run, planned: Sequence[PlannedGroup]) -> list[list[PlannedGroup]]:
    """Return the rounds of groups to publish together. With `each_commit`, a round has one dry commit of each group."""
    steps = [_steps(run, item) for item in planned]
    most = max(map(len, steps), default=0)
    return [[several[number] for several in steps if number < len(several)] for number in range(most)]


def _steps(run: Run, planned: PlannedGroup) -> list[PlannedGroup]:
    group = planned.group
    repository = run.dry(group.first)
    if not run.job.each_commit or planned.decision != "render" or not planned.known:
        return [planned]
    if not repository.has_commits([planned.known]):
        return [planned]
    arguments = ["rev-list", "--first-parent", "--reverse", f"{planned.known}..{group.dry_sha}"]
    commits = Git(repository.path, run.context).run(arguments).text.split()
    if len(commits) > run.context.limits.hydrate_commits:
        raise InputError(
            "CMD-HYD-015",
            f"{len(commits)} dry commits since {planned.known[:7]} would each be hydrated to {group.branch}, which"
            f" is more than {run.context.limits.hydrate_commits}",
            hint="run once without --each-commit",
        )
    return [replace(planned, group=replace(group, dry_sha=sha)) for sha in commits] or [planned]


def _if_ready(planned: PlannedGroup, ready: Callable[[Group], bool]) -> PlannedGroup:
    if planned.decision == "hydrated" or ready(planned.group):
        return planned
    return replace(planned, decision="waiting", reason="it has failed, and is tried again later")


def _left(planned: PlannedGroup, destination: Destination) -> Outcome:
    head = destination.heads.get(planned.group.branch, "")
    return Outcome(planned.decision, planned.reason, head, head, stale=planned.stale)
