"""The walk of hydration: read, plan, render, publish. Each step returns a value that the next one takes."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from commodore.base.errors import CommodoreError, InputError
from commodore.base.events import Warned, stage
from commodore.core.sources.git import Git, redact
from commodore.hydrate.branches.destination import Destination
from commodore.hydrate.branches.provenance import superseded
from commodore.hydrate.model import CommitRequest, Group, Outcome, Result
from commodore.hydrate.planning.abandoned import refusal
from commodore.hydrate.planning.groups import Planned
from commodore.hydrate.planning.plan import Plan, plan
from commodore.hydrate.publishing.changes import kept_warning, stale_warning
from commodore.hydrate.publishing.publishing import Published, Superseded, check_push, publish
from commodore.hydrate.reading.inputs import Run, read
from commodore.hydrate.rendering.render import Rendered, dry_commits_of, render

PUSH_STAGE = "push"
_DOING = ("render", "unaffected", "remove", "abandoned")
"""Decisions after which something is written."""


@dataclass(frozen=True, slots=True)
class Hydrated:
    """What became of the groups of a run, and why Applications were left out of it."""

    results: tuple[tuple[Planned, Result], ...]
    lost: tuple[CommodoreError, ...]


@dataclass(frozen=True, slots=True)
class _Pushed:
    """The results of commits by group, the seconds that each repository took, and the repositories afterwards."""

    results: Mapping[str, Result]
    seconds: Mapping[str, float]
    destinations: Mapping[str, Destination]


def hydrate(run: Run, ready: Callable[[Group], bool] = lambda _: True) -> Hydrated:
    """Read, plan, render and publish. A group that fails does not hold back others.

    Args:
        ready: groups that it is False for are left for a later run.

    Raises:
        CommodoreError: see `read` and `plan`.
    """
    made = plan(read(run))
    run, destinations = made.inputs.run, made.destinations
    done: list[tuple[Planned, Result]] = []
    with dry_commits_of(made.inputs) as dry_commits:
        rounds = _rounds(run, [_if_ready(one, ready) for one in made.groups])
        refused = _refusals(run, rounds[0] if rounds else (), destinations)
        for several in rounds:
            rendered = render(_doing(several, refused), dry_commits)
            pushed = _publish(run, rendered, destinations)
            destinations = pushed.destinations
            results = {**refused, **_failed(rendered), **pushed.results}
            said = _said_of_left(run, [one for one in several if one.group.id not in results])
            done += _done(run, several, rendered, said, results, pushed)
    return Hydrated(tuple(done), made.lost)


def requests_of(made: Plan) -> tuple[list[CommitRequest], dict[str, CommodoreError]]:
    """The commits that a plan wants, and why others cannot be made, by group."""
    refused = _refusals(made.inputs.run, made.groups, made.destinations)
    with dry_commits_of(made.inputs) as dry_commits:
        rendered = render(_doing(made.groups, refused), dry_commits)
    requests = [one.result for one in rendered if isinstance(one.result, CommitRequest)]
    return requests, {**refused, **_failed(rendered)}


def _doing(planned: Iterable[Planned], refused: Collection[str]) -> list[Planned]:
    return [one for one in planned if one.decision in _DOING and one.group.id not in refused]


def _failed(rendered: Iterable[Rendered]) -> dict[str, CommodoreError]:
    return {one.planned.group.id: one.result for one in rendered if isinstance(one.result, CommodoreError)}


def _refusals(
    run: Run, planned: Sequence[Planned], destinations: Mapping[str, Destination]
) -> dict[str, CommodoreError]:
    """The errors of groups that need not be rendered: nothing was said of their end, or no push would be taken."""
    refused: dict[str, CommodoreError] = {}
    closed: dict[str, CommodoreError | None] = {}
    for one in _doing(planned, ()):
        if one.decision == "abandoned" and run.job.writing.removal != "delete":
            refused[one.group.id] = refusal(one)
            continue
        key = one.group.key
        if key not in closed:
            closed[key] = None if run.job.dry_run else _push_error(destinations[key])
        if (error := closed[key]) is not None:
            refused[one.group.id] = error
    return refused


def _push_error(destination: Destination) -> CommodoreError | None:
    try:
        check_push(destination)
    except CommodoreError as error:
        return error
    return None


def _publish(run: Run, rendered: Sequence[Rendered], destinations: Mapping[str, Destination]) -> _Pushed:
    by_key: dict[str, list[CommitRequest]] = {}
    for one in rendered:
        if isinstance(one.result, CommitRequest):
            by_key.setdefault(one.planned.group.key, []).append(one.result)
    if not by_key:
        return _Pushed({}, {}, destinations)
    one_by_one = threading.Lock()

    def reasons(asked: Sequence[tuple[CommitRequest, str]]) -> list[str]:
        if run.job.allow_older:
            return [""] * len(asked)
        with one_by_one:  # destinations may have sources in common
            return superseded(run.store, asked)

    number = sum(map(len, by_key.values()))
    pushing = contextlib.nullcontext() if run.job.dry_run else stage(run.context.announce, PUSH_STAGE, number)
    with pushing:
        work = [(destinations[key], several) for key, several in by_key.items()]
        done = dict(zip(by_key, _publish_all(run, work, reasons), strict=True))
    return _Pushed(
        {group: result for published, _ in done.values() for group, result in published.results.items()},
        {key: seconds for key, (_, seconds) in done.items()},
        {**destinations, **{key: published.destination for key, (published, _) in done.items()}},
    )


def _publish_all(
    run: Run, work: Sequence[tuple[Destination, Sequence[CommitRequest]]], reasons: Superseded
) -> list[tuple[Published, float]]:
    """Publish to several destinations at the same time: one that is slow does not hold back others."""

    def publish_one(destination: Destination, requests: Sequence[CommitRequest]) -> tuple[Published, float]:
        began = time.monotonic()
        try:
            published = publish(destination, requests, reasons, dry=run.job.dry_run)
        except CommodoreError as error:
            published = Published(dict.fromkeys((one.group for one in requests), error), destination)
        return published, time.monotonic() - began

    if len(work) == 1:
        return [publish_one(*work[0])]
    with ThreadPoolExecutor(run.context.limits.git_threads, thread_name_prefix="push") as pool:
        try:
            return list(pool.map(publish_one, *zip(*work, strict=True)))
        except BaseException:  # do not wait for pushes then, least of all at Ctrl-C
            pool.shutdown(wait=False, cancel_futures=True)
            run.store.close()
            raise


def _said_of_left(run: Run, planned: Sequence[Planned]) -> dict[str, tuple[Warned, ...]]:
    """Warn of what is on the branches of groups that are hydrated, and is not theirs: each run says it."""
    said: dict[str, tuple[Warned, ...]] = {}
    for one in planned:
        if one.decision == "hydrated":
            branch = f"{one.group.branch} of {redact(one.group.first.url)}"
            stale = (stale_warning(one.stale, branch),) if one.stale else ()
            kept = (kept_warning(one.edits, branch),) if one.edits else ()
            said[one.group.id] = (*stale, *kept)
            for warned in said[one.group.id]:
                run.context.announce(warned)
    return said


def _done(
    run: Run,
    planned: Sequence[Planned],
    rendered: Sequence[Rendered],
    said: Mapping[str, tuple[Warned, ...]],
    results: Mapping[str, Result],
    pushed: _Pushed,
) -> Iterator[tuple[Planned, Result]]:
    """Each group with its warnings and seconds, and what became of it."""
    by_group = {one.planned.group.id: one for one in rendered}
    for one in planned:
        group, seconds = one.group, 0.0
        warnings = said.get(group.id)
        if (made := by_group.get(group.id)) is not None:
            pushing = pushed.seconds.get(group.key, 0.0) if isinstance(made.result, CommitRequest) else 0.0
            warnings, seconds = made.warnings, made.seconds + pushing
        if warnings is not None:
            one = replace(one, warnings=(*warnings, *_found(run, group)), seconds=seconds)
        yield one, results.get(group.id) or _left(one, pushed.destinations[group.key])


def _found(run: Run, group: Group) -> Iterator[Warned]:
    """The warnings among the diagnostics of a group's Applications."""
    labels = {run.job.settings.label(one.namespace, one.name) for one in group.members}
    labels |= {one.name for one in group.members}
    for one in run.diagnostics.found():
        if one.subject.application in labels and one.severity == "warning":
            yield one.as_warning()


def _rounds(run: Run, planned: Sequence[Planned]) -> list[list[Planned]]:
    """Groups that are published together. With `each_commit` one round hydrates a dry commit of each group."""
    steps = [_steps(run, one) for one in planned]
    most = max(map(len, steps), default=0)
    return [[several[number] for several in steps if number < len(several)] for number in range(most)]


def _steps(run: Run, planned: Planned) -> list[Planned]:
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


def _if_ready(planned: Planned, ready: Callable[[Group], bool]) -> Planned:
    if planned.decision == "hydrated" or ready(planned.group):
        return planned
    return replace(planned, decision="waiting", reason="it has failed, and is tried again later")


def _left(planned: Planned, destination: Destination) -> Outcome:
    head = destination.heads.get(planned.group.branch, "")
    return Outcome(planned.decision, planned.reason, head, head, stale=planned.stale)
