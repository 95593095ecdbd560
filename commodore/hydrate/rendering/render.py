"""The third step: render groups, each at its dry commit, as commit requests."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from commodore.argocd import Capabilities, Providers, checkouts, open_sources, report_unused
from commodore.base.errors import CommodoreError
from commodore.base.events import Event, Warned, ignore, stage
from commodore.base.files.staging import temporary_folder
from commodore.core.sources.git import check_out_tree
from commodore.hydrate.branches import layout
from commodore.hydrate.branches.provenance import check_signature, read_commit
from commodore.hydrate.model import CommitRequest, DryCommit, Group, PathOutput, Pins
from commodore.hydrate.planning.groups import PlannedGroup
from commodore.hydrate.reading.inputs import Inputs
from commodore.hydrate.reading.sources import Clones
from commodore.hydrate.rendering.group_renderer import GroupRenderer, check_equal

RENDER_STAGE = "render"


@dataclass(frozen=True, slots=True)
class Rendered:
    """A group that was rendered.

    Attributes:
        result: the commit request, or the error.
        warnings: announced while it was rendered.
        seconds: the duration.
    """

    planned: PlannedGroup
    result: CommitRequest | CommodoreError
    warnings: tuple[Warned, ...]
    seconds: float


@dataclass
class Collected:
    """The warnings of a block, and its duration in seconds."""

    warnings: list[Warned] = field(default_factory=list)
    seconds: float = 0.0


class DryCommits:
    """Checkouts of dry commits, and their renderers. Each commit is checked out once.

    Args:
        kept: closes opened resources.

    Attributes:
        context: of the run; its warnings are also collected by the current block of `collecting`.
    """

    def __init__(self, inputs: Inputs, kept: contextlib.ExitStack) -> None:
        self.inputs = inputs
        self.context = replace(inputs.run.context, announce=self._announce)
        self._collected: Collected | None = None
        self._kept = kept
        self._renderers: dict[tuple[str, str], GroupRenderer] = {}
        self._commits: dict[tuple[str, str], DryCommit] = {}

    @contextlib.contextmanager
    def collecting(self) -> Iterator[Collected]:
        """Collect the warnings of the block, and its duration."""
        collected = self._collected = Collected()
        began = time.monotonic()
        try:
            yield collected
        finally:
            self._collected = None
            collected.seconds = time.monotonic() - began

    def commit(self, group: Group) -> DryCommit:
        """Return the provenance of a group's dry commit. It is read, with its warnings, once for all groups."""
        key = (group.dry_key, group.dry_sha)
        if key not in self._commits:
            path = self.inputs.run.dry(group.first).path
            self._commits[key] = read_commit(path, group.dry_sha, self.context)
        return self._commits[key]

    def render(
        self,
        group: Group,
        applications: Mapping[str, Mapping[str, Any]],
        commit: DryCommit,
        pins: Mapping[str, Pins],
    ) -> tuple[PathOutput, ...]:
        """Render the output paths of a group.

        Args:
            applications: of the group's members, by output path.
            pins: additional commits of catalogs and of Applications with additional sources, by output path.

        Raises:
            CommodoreError: see `GroupRenderer.render`; CMD-HYD-045, the result is not reproducible.
        """
        outputs = self._renderer(group).render(group, applications, commit, pins)
        if self.inputs.run.job.twice:
            self._renderers.pop((group.dry_key, group.dry_sha))
            check_equal(outputs, self._renderer(group).render(group, applications, commit, pins))
        return outputs

    @property
    def are_laid_out(self) -> bool:
        """True once a group was rendered."""
        return bool(self._renderers)

    def _announce(self, event: Event) -> None:
        if isinstance(event, Warned) and self._collected is not None:
            self._collected.warnings.append(event)
        self.inputs.run.context.announce(event)

    def _renderer(self, group: Group) -> GroupRenderer:
        key = (group.dry_key, group.dry_sha)
        if key not in self._renderers:
            run, repository = self.inputs.run, self.inputs.run.dry(group.first)
            job, result = run.job, run.diagnostics
            files = self._kept.enter_context(temporary_folder()) / "dry"
            check_out_tree(repository.path, group.dry_sha, files, self.context)
            urls = [member.dry_url for member in group.members]
            own = checkouts(urls, files.resolve(), group.dry_sha, repository.display_url)
            clones = Clones(run.store, self.inputs.elsewhere(), files.parent, self.context)
            repo_map = job.repo_map.providing(Providers(git=clones))
            opened = open_sources(job.settings, repo_map, Capabilities(), self.context, result, own)
            renderer = self._kept.enter_context(opened).renderer
            self._renderers[key] = GroupRenderer(job.settings, renderer, job.rules, self.context, result, job.catalogs)
        return self._renderers[key]


@contextlib.contextmanager
def dry_commits_of(inputs: Inputs) -> Iterator[DryCommits]:
    """Check out dry commits on demand, and keep them until the end of the block."""
    with contextlib.ExitStack() as kept:
        dry_commits = DryCommits(inputs, kept)
        yield dry_commits
    if dry_commits.are_laid_out:  # a run without rendering needs no worker
        report_unused(inputs.run.job.repo_map, inputs.run.diagnostics)


def render(planned: Sequence[PlannedGroup], dry_commits: DryCommits) -> tuple[Rendered, ...]:
    """Render groups. A failed group does not affect others."""
    made = []
    number = sum(entry.decision == "render" for entry in planned)
    with stage(dry_commits.context.announce if number else ignore, RENDER_STAGE, number):
        for item in planned:
            with dry_commits.collecting() as collected:
                result: CommitRequest | CommodoreError
                try:
                    result = _request(item, dry_commits)
                except CommodoreError as error:
                    result = error
            made.append(Rendered(item, result, tuple(collected.warnings), collected.seconds))
    return tuple(made)


def _request(planned: PlannedGroup, dry_commits: DryCommits) -> CommitRequest:
    """Return the commit request of a group."""
    group, inputs, context = planned.group, dry_commits.inputs, dry_commits.context
    run = inputs.run
    repository = run.dry(group.first)
    if planned.decision == "abandoned":
        run.store.sync([(group.first.dry_url, group.dry_sha)])
    if run.job.verify_dry:
        tags = {member.dry_revision for member in group.members} & repository.refs().tags.keys()
        check_signature(repository.path, group.dry_sha, sorted(tags), context)
    commit = dry_commits.commit(group)
    pins = inputs.pins(group, context)
    references = {pin.reference for pin in pins.values()}
    if len(pins) == len(group.members) and len(references) == 1 and None not in references:
        commit = replace(commit, reference=references.pop())
    outputs: tuple[PathOutput, ...] = ()
    if planned.decision == "render":  # else only the note is updated, or paths are removed
        applications = {member.path: inputs.application(member) for member in group.members}
        outputs = dry_commits.render(group, applications, commit, pins)
    return CommitRequest(
        group=group.id,
        inputs=planned.inputs,
        url=group.first.url,
        sync_branch=group.first.sync_branch,
        branch=group.branch,
        scope=inputs.scope(group),
        follows=inputs.follows(group),
        commit=commit,
        message=run.job.rules.texts.message_of(layout.root_data(group.first.dry_url, commit)),
        paths=outputs,
        author=run.job.author,
    )
