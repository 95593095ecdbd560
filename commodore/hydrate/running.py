"""A run: plan, render and publish all groups of the Applications that were found."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from commodore.argocd.acquiring import Providers, repository_identity
from commodore.argocd.rendering import Capabilities
from commodore.argocd.running import open_run
from commodore.argocd.trees import Tree
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import CommodoreError, InputError, raise_all
from commodore.base.events import Event, Warned, ignore, stage
from commodore.base.files.staging import temporary_folder
from commodore.core.sources.git import Git, Repository, RepositoryStore, check_out_tree, redact, repository_key
from commodore.hydrate import layout, planning
from commodore.hydrate.abandoned import find_abandoned, refusal
from commodore.hydrate.catalogs import reference_to
from commodore.hydrate.clones import Clones, revision_of
from commodore.hydrate.committing import kept_warning, stale_warning
from commodore.hydrate.conventions import check_projects, check_promotions
from commodore.hydrate.deciding import Decider
from commodore.hydrate.jobs import Job, Planned
from commodore.hydrate.model import (
    Additional,
    CommitRequest,
    DryCommit,
    Group,
    Hydration,
    Outcome,
    PathOutput,
    Pins,
    Scope,
)
from commodore.hydrate.provenance import check_signature, read_commit
from commodore.hydrate.publishing import Destination, Result
from commodore.hydrate.publishing import Superseding as Reasons
from commodore.hydrate.reading import read_all, warn_of_other_sources
from commodore.hydrate.rendering import GroupRenderer, check_equal
from commodore.hydrate.superseding import Superseding

RENDER_STAGE, PUSH_STAGE = "render", "push"
_DOING = ("render", "unaffected", "remove", "abandoned")
"""Decisions after which something is written."""


@dataclass
class _Collected:
    """The warnings while a group was worked on, and how many seconds that took."""

    warnings: list[Warned] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class Hydrator:
    """Hydrates in one working directory.

    Args:
        store: the clones of all repositories.

    Attributes:
        lost: why Applications were left out of the last plan.
    """

    job: Job
    store: RepositoryStore
    context: Context
    diagnostics: Diagnostics
    lost: list[CommodoreError] = field(default_factory=list)
    _refusals: dict[int, CommodoreError | None] = field(default_factory=dict)
    _renderers: dict[tuple[str, str], GroupRenderer] = field(default_factory=dict)
    _written: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    _projects: dict[str, set[str]] = field(default_factory=dict)
    _commits: dict[tuple[str, str], DryCommit] = field(default_factory=dict)
    _data: dict[tuple[str, str, str], Mapping[str, Any]] = field(default_factory=dict)
    _destinations: dict[str, Destination] = field(default_factory=dict)
    _collected: dict[str, _Collected] = field(default_factory=dict)
    _listener: _Collected | None = None
    _elsewhere: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        announce = self.context.announce

        def on_event(event: Event) -> None:
            if isinstance(event, Warned) and self._listener is not None:
                self._listener.warnings.append(event)
            announce(event)

        self.context = replace(self.context, announce=on_event)

    def plan(self) -> list[Planned]:
        """The groups, and what is to be done for each. Remotes are asked once; nothing is rendered or written.

        Applications that are wrong, or whose sources or branches cannot be reached, are left out; `lost` says why.

        Raises:
            CommodoreError: Applications are in each other's way, or none is right and in reach.
        """
        job = self.job
        hydrations = self._read()
        self._data = {(repository_key(one.url), one.branch, one.path): data for one, data in hydrations}
        members = [one for one, _ in hydrations]
        job.only.check(members)
        for one in members:
            self._elsewhere |= {repository_key(other.url) for other in one.additional if _is_elsewhere(other, one)}
            self._projects.setdefault(repository_key(one.url), set()).add(one.project)
            self._written.setdefault((repository_key(one.url), one.branch), set()).add(one.path)
        protect = (*job.protect, *job.found.protect)
        planning.check(members, protect, self.lost)
        check_projects(members, (*job.settings.projects, *job.found.projects))
        check_promotions(members, job.found.strategies, self.context.announce)
        left = self._within_reach(members)
        for one in left:
            planning.check_dry_branch(one, revision_of(one.dry_revision) or self.dry(one).default_branch())
        groups = planning.group(left, self._dry_sha)
        if job.dry_sha and len({one.dry_key for one in groups}) > 1:
            raise InputError(
                "CMD-HYD-014",
                "a dry commit is named, and Applications have several dry repositories",
                hint="narrow the sources to those of one repository",
            )
        planning.check_sizes(groups, self.context.limits.hydrate_applications)
        planning.warn(groups, self.context.announce)
        decider = Decider(job, self.dry, self.context)
        planned = [
            decider.decide(one, self._destination(one), self.scope(one), self._pins(one))
            for one in groups
            if job.only.takes(one)
        ]
        return [*planned, *self._abandoned(groups, members, protect)]

    def _read(self) -> list[tuple[Hydration, Mapping[str, Any]]]:
        """The Applications. While one is wrong, its branch stays as it is, and nothing is removed anywhere: what it
        writes is not known.

        Raises:
            CommodoreError: no Application is right.
        """
        job = self.job
        clusters = job.catalogs.cluster if job.catalogs is not None else None
        read = read_all(
            job.found.applications, lenient=job.lenient, options_in_git=job.options_in_git, clusters=clusters
        )
        good = [(one, data) for one, data in read.hydrations if one.branch not in read.branches]
        if job.lenient:
            warn_of_other_sources([(data, one.place) for one, data in good], self.context.announce)
        if not good:
            raise_all(read.errors)
        if read.errors:
            self.lost += read.errors
            blocked = sorted({one.branch for one, _ in read.hydrations} & read.branches)
            self.lost += [
                InputError(
                    "CMD-HYD-044",
                    f"nothing is hydrated to the branch {branch}: one of its Applications is wrong",
                    hint="correct that Application",
                )
                for branch in blocked
            ]
            self.job = replace(job, writing=replace(job.writing, removal="keep"))
        return good

    def _abandoned(
        self, groups: Sequence[Group], members: Sequence[Hydration], protect: Sequence[str]
    ) -> list[Planned]:
        if self.job.writing.removal == "keep":
            return []
        found: list[Planned] = []
        for key, destination in self._destinations.items():
            own = [one for one in groups if one.key == key]
            found += find_abandoned(destination, own, members, self.job, protect)
        return found

    def run(self, ready: Callable[[Group], bool] = lambda _: True) -> list[tuple[Planned, Result]]:
        """Plan, render and publish. A group that fails does not hold back others.

        Args:
            ready: groups that it is False for are left for a later run.

        Raises:
            CommodoreError: see `plan`.
        """
        planned = self.plan()
        done: list[tuple[Planned, Result]] = []
        with self.rendering():
            for several in self._rounds([_if_ready(one, ready) for one in planned]):
                requests, failed = self.requests(several)
                results = self._publish(requests) | failed
                self._report_left(several, results)
                done += [(self._with_events(one), results.get(one.group.id) or _left(one)) for one in several]
        return done

    def requests(
        self, planned: Sequence[Planned]
    ) -> tuple[list[tuple[Planned, CommitRequest]], dict[str, CommodoreError]]:
        """Render what is to be rendered: the commits that are wanted, and why others cannot be made, by group.

        It needs `rendering`.
        """
        made: list[tuple[Planned, CommitRequest]] = []
        waiting = [one for one in planned if one.decision in _DOING]
        refused = {one.group.id: self._refusal(one) for one in waiting}
        failed = {group: error for group, error in refused.items() if error is not None}
        waiting = [one for one in waiting if one.group.id not in failed]
        rendered = [one for one in waiting if one.decision == "render"]
        with stage(self.context.announce if rendered else ignore, RENDER_STAGE, len(rendered)):
            for one in waiting:
                with self._collecting(one.group):
                    try:
                        made.append((one, self._request(one)))
                    except CommodoreError as error:
                        failed[one.group.id] = error
        return made, failed

    @contextlib.contextmanager
    def rendering(self) -> Iterator[None]:
        """Keep what renders, and the files of dry commits, for a while: each commit is laid out once."""
        with contextlib.ExitStack() as self._open:
            try:
                yield
            finally:
                self._renderers.clear()
                self._commits.clear()

    def render(
        self,
        group: Group,
        applications: Mapping[str, Mapping[str, Any]],
        commit: DryCommit,
        pins: Mapping[str, Pins],
    ) -> tuple[PathOutput, ...]:
        """What is to be at the output paths of a group. It needs `rendering`.

        Args:
            applications: of the group's members, by output path.
            pins: other commits that catalogs and Applications with additional sources are made of, by output path.

        Raises:
            CommodoreError: see `GroupRenderer.render`; CMD-HYD-045, it is another result each time.
        """
        outputs = self._renderer(group).render(group, applications, commit, pins)
        if self.job.twice:
            self._renderers.pop((group.dry_key, group.dry_sha))
            check_equal(outputs, self._renderer(group).render(group, applications, commit, pins))
        return outputs

    def dry(self, hydration: Hydration) -> Repository:
        """The repository of the sources."""
        return self.store.repository(hydration.dry_url)

    def data(self, hydration: Hydration) -> Mapping[str, Any]:
        """The Application as it is written."""
        return self._data[repository_key(hydration.url), hydration.branch, hydration.path]

    def _within_reach(self, hydrations: Sequence[Hydration]) -> list[Hydration]:
        """Fetch what is needed. Those whose repositories or revisions are not there are left out, if there are others.

        Raises:
            CommodoreError: none is left.
        """
        needed = [self._needed(one) for one in hydrations]
        with contextlib.suppress(CommodoreError):
            self.store.sync(sorted({pair for pairs in needed for pair in pairs}, key=str))
        left = []
        for one, pairs in zip(hydrations, needed, strict=True):
            try:
                self.store.sync(pairs)
                self._dry_sha(one)
            except CommodoreError as error:
                self.lost.append(error.about(f"Application {one.name}", at=[one.place]))
            else:
                left.append(one)
        if not left:
            raise_all(self.lost)
        return left

    def _needed(self, hydration: Hydration) -> list[tuple[str, str | None]]:
        dry = (hydration.dry_url, self._wanted(hydration))
        catalog = hydration.catalog
        others = [(catalog.url, catalog.revision or None)] if catalog is not None else []
        others += [
            (one.url, revision_of(one.revision)) for one in hydration.additional if _is_elsewhere(one, hydration)
        ]
        return [dry, *others, (hydration.url, hydration.branch), (hydration.url, hydration.sync_branch)]

    def _publish(self, wanted: Sequence[tuple[Planned, CommitRequest]]) -> dict[str, Result]:
        by_destination: dict[int, list[tuple[Planned, CommitRequest]]] = {}
        for one, request in wanted:
            by_destination.setdefault(id(one.destination), []).append((one, request))
        if not by_destination:
            return {}
        superseding, one_by_one = Superseding(self.store, self.job.allow_older), threading.Lock()

        def reasons(asked: Sequence[tuple[CommitRequest, str]]) -> list[str]:
            with one_by_one:  # destinations may have sources in common
                return superseding.reasons(asked)

        pushing = (
            contextlib.nullcontext() if self.job.dry_run else stage(self.context.announce, PUSH_STAGE, len(wanted))
        )
        with pushing:
            return self._publish_all(list(by_destination.values()), reasons)

    def _publish_all(
        self, wanted: Sequence[Sequence[tuple[Planned, CommitRequest]]], reasons: Reasons
    ) -> dict[str, Result]:
        """Publish to several destinations at the same time: one that is slow does not hold back others."""

        def publish(several: Sequence[tuple[Planned, CommitRequest]]) -> dict[str, Result]:
            requests, began = [request for _, request in several], time.monotonic()
            try:
                return several[0][0].destination.publish(requests, reasons, dry=self.job.dry_run)
            except CommodoreError as error:
                return dict.fromkeys((one.group for one in requests), error)
            finally:
                for request in requests:
                    self._collected[request.group].seconds += time.monotonic() - began

        if len(wanted) == 1:
            return publish(wanted[0])
        results: dict[str, Result] = {}
        with ThreadPoolExecutor(self.context.limits.git_threads, thread_name_prefix="push") as pool:
            try:
                for done in pool.map(publish, wanted):
                    results |= done
            except BaseException:  # do not wait for pushes then, least of all at Ctrl-C
                pool.shutdown(wait=False, cancel_futures=True)
                self.store.close()
                raise
        return results

    @contextlib.contextmanager
    def _collecting(self, group: Group) -> Iterator[None]:
        """Keep the warnings of the block, and how long it runs."""
        told = self._collected[group.id] = self._listener = _Collected()
        began = time.monotonic()
        try:
            yield
        finally:
            self._listener = None
            told.seconds = time.monotonic() - began

    def _with_events(self, planned: Planned) -> Planned:
        told = self._collected.get(planned.group.id)
        if told is None:
            return planned
        labels = {f"{one.namespace or self.job.settings.namespace}/{one.name}" for one in planned.group.members}
        labels |= {one.name for one in planned.group.members}
        found = (as_warning(one) for one in self.diagnostics.found() if one.subject.application in labels)
        warnings = (*told.warnings, *(one for one in found if one is not None))
        return replace(planned, warnings=warnings, seconds=told.seconds)

    def _destination(self, group: Group) -> Destination:
        if group.key not in self._destinations:
            url = group.first.url
            rights = self.job.rights(url, frozenset(self._projects[group.key]))
            destination = Destination(self.store.repository(url), self.context, self.job.writing, self.job.sign, rights)
            destination.bring_notes()
            self._destinations[group.key] = destination
        return self._destinations[group.key]

    def _rounds(self, planned: Sequence[Planned]) -> Iterator[list[Planned]]:
        """Groups that are published together. With `each_commit` one round hydrates a dry commit of each group."""
        steps = [self._steps(one) for one in planned]
        for number in range(max(map(len, steps), default=0)):
            yield [several[number] for several in steps if number < len(several)]

    def _steps(self, planned: Planned) -> list[Planned]:
        group = planned.group
        repository = self.dry(group.first)
        if not self.job.each_commit or planned.decision != "render" or not planned.known:
            return [planned]
        if not repository.has_commits([planned.known]):
            return [planned]
        arguments = ["rev-list", "--first-parent", "--reverse", f"{planned.known}..{group.dry_sha}"]
        commits = Git(repository.path, self.context).run(arguments).text.split()
        if len(commits) > self.context.limits.hydrate_commits:
            raise InputError(
                "CMD-HYD-015",
                f"{len(commits)} dry commits since {planned.known[:7]} would each be hydrated to {group.branch}, which"
                f" is more than {self.context.limits.hydrate_commits}",
                hint="run once without --each-commit",
            )
        return [replace(planned, group=replace(group, dry_sha=sha)) for sha in commits] or [planned]

    def _request(self, planned: Planned) -> CommitRequest:
        group = planned.group
        repository = self.dry(group.first)
        if planned.decision == "abandoned":
            self.store.sync([(group.first.dry_url, group.dry_sha)])
        if self.job.verify_dry:
            tags = {one.dry_revision for one in group.members} & repository.refs().tags.keys()
            check_signature(repository.path, group.dry_sha, sorted(tags), self.context)
        commit = self._dry_commit(group, repository)
        pins = self._pins(group)
        references = {one.reference for one in pins.values()}
        if len(pins) == len(group.members) and len(references) == 1 and None not in references:
            commit = replace(commit, reference=references.pop())
        outputs: tuple[PathOutput, ...] = ()
        if planned.decision == "render":  # else only the note goes on, or paths go
            outputs = self.render(group, {one.path: self.data(one) for one in group.members}, commit, pins)
        root = layout.root_data(group.first.dry_url, commit)
        return CommitRequest(
            group=group.id,
            inputs=planned.inputs,
            url=group.first.url,
            sync_branch=group.first.sync_branch,
            branch=group.branch,
            scope=self.scope(group),
            follows=self._follows(group),
            commit=commit,
            message=self.job.rules.texts.message_of(root),
            paths=outputs,
            author=self.job.author,
        )

    def _dry_commit(self, group: Group, repository: Repository) -> DryCommit:
        """What is written down of a group's dry commit: read, and warned of, once for all groups."""
        key = (group.dry_key, group.dry_sha)
        if key not in self._commits:
            self._commits[key] = read_commit(repository.path, group.dry_sha, self.context)
        return self._commits[key]

    def _pins(self, group: Group) -> dict[str, Pins]:
        """The other commits that members are made of, by output path; without members that have none."""
        return {one.path: self._pins_of(one, group) for one in group.members if one.catalog or one.additional}

    def _pins_of(self, member: Hydration, group: Group) -> Pins:
        if member.catalog is not None:
            repository = self.store.repository(member.catalog.url)
            sha = repository.resolve(member.catalog.revision or None).sha
            return Pins(reference_to(repository, sha, self.context))
        commits = []
        for one in member.additional:
            if _is_elsewhere(one, member):
                commits.append(self.store.repository(one.url).resolve(revision_of(one.revision)).sha)
            else:
                commits.append("" if one.is_chart else group.dry_sha)
        return Pins(additional=tuple(commits))

    def scope(self, group: Group) -> Scope:
        """What is a group's own on its branch."""
        # A branch that is proposed begins with what is deployed, also with what others write there.
        branches = (group.branch, group.first.sync_branch)
        written = {path for branch in branches for path in self._written.get((group.key, branch), ())}
        revisions = tuple(sorted({one.dry_revision for one in group.members}))
        return Scope(group.first.dry_url, revisions, tuple(sorted(written)))

    def _follows(self, group: Group) -> tuple[str, ...]:
        """The dry branches of which the group's commit is the newest one."""
        is_read = (group.key, group.branch, group.first.path) in self._data
        if self.job.dry_sha or self.job.each_commit or not is_read:
            return ()
        repository = self.dry(group.first)
        branches = repository.refs().branches
        named = {revision_of(one.dry_revision) or repository.default_branch() for one in group.members}
        return tuple(sorted(name for name in named if branches.get(name) == group.dry_sha))

    def _renderer(self, group: Group) -> GroupRenderer:
        key = (group.dry_key, group.dry_sha)
        if key not in self._renderers:
            job, repository = self.job, self.dry(group.first)
            files: Path = self._open.enter_context(temporary_folder()) / "dry"
            check_out_tree(repository.path, group.dry_sha, files, self.context)
            tree = Tree(files.resolve(), group.dry_sha, repository.display_url)
            own = {repository_identity(one.dry_url): tree for one in group.members}
            clones = Clones(self.store, frozenset(self._elsewhere), files.parent, self.context)
            repo_map = job.repo_map.providing(Providers(git=clones))
            opened = open_run(job.settings, repo_map, Capabilities(), self.context, self.diagnostics, own)
            run = self._open.enter_context(opened)
            self._renderers[key] = GroupRenderer(
                job.settings, run.renderer, job.rules, self.context, self.diagnostics, job.catalogs
            )
        return self._renderers[key]

    def _refusal(self, planned: Planned) -> CommodoreError | None:
        """Why a group needs not be rendered: nothing was said of its end, or its commit could not be pushed."""
        if planned.decision == "abandoned" and self.job.writing.removal != "delete":
            return refusal(planned)
        key = id(planned.destination)
        if key not in self._refusals:
            self._refusals[key] = None
            try:
                if not self.job.dry_run:
                    planned.destination.can_push()
            except CommodoreError as error:
                self._refusals[key] = error
        return self._refusals[key]

    def _report_left(self, planned: Sequence[Planned], results: Mapping[str, Result]) -> None:
        """Warn of what is on the branches of groups that are hydrated, and is not theirs: each run says it."""
        for one in planned:
            if one.decision != "hydrated" or one.group.id in results:
                continue
            branch = f"{one.group.branch} of {redact(one.group.first.url)}"
            with self._collecting(one.group):
                if one.stale:
                    self.context.announce(stale_warning(one.stale, branch))
                if one.edits:
                    self.context.announce(kept_warning(one.edits, branch))

    def _wanted(self, hydration: Hydration) -> str | None:
        return self.job.dry_sha or revision_of(hydration.dry_revision)

    def _dry_sha(self, hydration: Hydration) -> str:
        return self.dry(hydration).resolve(self._wanted(hydration)).sha


def as_warning(found: Diagnostic) -> Warned | None:
    """A finding of rendering as a warning; None if it is none."""
    about = f"Application {found.subject.application}: " if found.subject.application else ""
    return Warned(found.code, f"{about}{found.message}", found.hint) if found.severity == "warning" else None


def _is_elsewhere(source: Additional, member: Hydration) -> bool:
    """Whether a source is in another git repository than the dry one."""
    return not source.is_chart and repository_key(source.url) != repository_key(member.dry_url)


def _if_ready(planned: Planned, ready: Callable[[Group], bool]) -> Planned:
    if planned.decision == "hydrated" or ready(planned.group):
        return planned
    return replace(planned, decision="waiting", reason="it has failed, and is tried again later")


def _left(planned: Planned) -> Outcome:
    head = planned.destination.heads.get(planned.group.branch, "")
    return Outcome(planned.decision, planned.reason, head, head, stale=planned.stale)
