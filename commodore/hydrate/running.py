"""A run: plan, render and publish all groups of the Applications that were found."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from commodore.argocd.acquiring import Providers, RepoMap, repository_identity
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.diagnostics import Diagnostic, Diagnostics
from commodore.argocd.rendering import Capabilities
from commodore.argocd.running import open_run
from commodore.argocd.trees import Tree
from commodore.context import Context
from commodore.errors import CommodoreError, InputError, Location, did_you_mean, raise_all
from commodore.events import Event, Warned, stage
from commodore.git import Author, Git, GitRights, Repository, RepositoryStore, check_out_tree, redact, repository_key
from commodore.hydrate import layout, planning
from commodore.hydrate.catalogs import Catalogs, reference_to
from commodore.hydrate.clones import Clones, revision_of
from commodore.hydrate.conventions import check_projects, check_promotions
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
    Writing,
)
from commodore.hydrate.provenance import check_signature, read_commit
from commodore.hydrate.publishing import Destination, Result
from commodore.hydrate.publishing import Superseding as Reasons
from commodore.hydrate.reading import read_all, warn_of_other_sources
from commodore.hydrate.rendering import GroupRenderer, Rules, check_equal
from commodore.hydrate.sources import Found
from commodore.hydrate.superseding import Superseding, is_older
from commodore.staging import temporary_folder

RENDER_STAGE, PUSH_STAGE = "render", "push"


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which groups are hydrated; of each kind, empty for all.

    Attributes:
        names: of Applications; their whole groups count.
        branches: patterns of the branches that are written to.
        repositories: URLs of what is hydrated from or written to.
    """

    names: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()

    def takes(self, group: Group) -> bool:
        """Whether a group is among them."""
        named = not self.names or any(member.name in self.names for member in group.members)
        keys = {repository_key(url) for url in self.repositories}
        placed = not keys or bool(keys & {group.dry_key, group.key})
        return named and placed and (not self.branches or any(fnmatchcase(group.branch, one) for one in self.branches))

    def check(self, hydrations: Sequence[Hydration]) -> None:
        """See that each name, pattern and URL fits something: a mistyped one would do nothing, and say nothing.

        Raises:
            InputError: CMD-HYD-029, one does not.
        """
        names, branches = {one.name for one in hydrations}, {one.branch for one in hydrations}
        urls = {repository_key(url): redact(url) for one in hydrations for url in (one.dry_url, one.url)}
        asked = [
            (f"no Application is called {one}", did_you_mean(one, names)) for one in self.names if one not in names
        ]
        asked += [
            (f"no branch that is hydrated fits {pattern}", did_you_mean(pattern, branches))
            for pattern in self.branches
            if not any(fnmatchcase(branch, pattern) for branch in branches)
        ]
        asked += [
            (f"nothing is hydrated from or to {redact(url)}", did_you_mean(url, urls.values()))
            for url in self.repositories
            if repository_key(url) not in urls
        ]
        raise_all([InputError("CMD-HYD-029", what, hint=hint) for what, hint in asked])


EVERYTHING = Narrowing()


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be hydrated, and how.

    Attributes:
        author: of the commits; None is git's own identity.
        dry_run: push nothing.
        allow_older: push although the branch of the sources has moved meanwhile, or a newer commit is hydrated.
        dry_sha: the dry commit, instead of what revisions resolve to.
        each_commit: hydrate the dry commits since the last one, too, each by itself.
        twice: render twice, and compare.
        verify_dry: take dry commits with a good signature alone.
        hard: render all, whatever is noted.
        repo_map: folders that stand for dry repositories, whatever is committed; for dry runs.
        rights: what a push is let in by, to a URL to which Applications of some projects write.
        catalogs: compiles those of clusters; None if no entry names one.
    """

    found: Found
    settings: ArgoSettings
    rules: Rules
    writing: Writing
    only: Narrowing = EVERYTHING
    protect: tuple[str, ...] = ()
    author: Author | None = None
    sign: str | None = None
    dry_run: bool = False
    allow_older: bool = False
    lenient: bool = False
    options_in_git: bool = False
    dry_sha: str = ""
    each_commit: bool = False
    twice: bool = False
    verify_dry: bool = False
    hard: bool = False
    repo_map: RepoMap = field(default_factory=RepoMap)
    rights: Callable[[str, frozenset[str]], GitRights | None] = lambda *_: None
    catalogs: Catalogs | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """A group, and what is to be done: `hydrated`, `unaffected`, `superseded`, `waiting` or `render`.

    Attributes:
        known: the dry commit that is noted for it; empty if there is none.
        warnings: those of planning and rendering it.
        seconds: how long rendering it took, and pushing to its repository, which groups have in common.
    """

    group: Group
    decision: str
    reason: str
    inputs: str
    destination: Destination
    known: str = ""
    warnings: tuple[Warned, ...] = ()
    seconds: float = 0.0


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
    _data: dict[tuple[Location, str], Mapping[str, Any]] = field(default_factory=dict)
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

        Applications whose sources or branches cannot be reached are left out; `lost` says why.

        Raises:
            CommodoreError: an Application is wrong, or none is in reach.
        """
        job = self.job
        clusters = job.catalogs.cluster if job.catalogs is not None else None
        hydrations = read_all(
            job.found.applications, lenient=job.lenient, options_in_git=job.options_in_git, clusters=clusters
        )
        if job.lenient:
            warn_of_other_sources(job.found.applications, self.context.announce)
        job.only.check(hydrations)
        self._data = {(place, data["metadata"]["name"]): data for data, place in job.found.applications}
        for one in hydrations:
            self._elsewhere |= {repository_key(other.url) for other in one.additional if _is_elsewhere(other, one)}
            self._projects.setdefault(repository_key(one.url), set()).add(one.project)
            self._written.setdefault((repository_key(one.url), one.branch), set()).add(one.path)
        planning.check(hydrations, (*job.protect, *job.found.protect))
        check_projects(hydrations, (*job.settings.projects, *job.found.projects))
        check_promotions(hydrations, job.found.strategies, self.context.announce)
        hydrations = self._within_reach(hydrations)
        for one in hydrations:
            planning.check_dry_branch(one, revision_of(one.dry_revision) or self.dry(one).default_branch())
        groups = planning.group(hydrations, self._dry_sha)
        if job.dry_sha and len({one.dry_key for one in groups}) > 1:
            raise InputError(
                "CMD-HYD-014",
                "a dry commit is named, and Applications have several dry repositories",
                hint="narrow the sources to those of one repository",
            )
        planning.check_sizes(groups, self.context.limits.hydrate_applications)
        planning.warn(groups, self.context.announce)
        destinations: dict[str, Destination] = {}
        return [self._decide(one, destinations) for one in groups if job.only.takes(one)]

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
                done += [(self._with_events(one), results.get(one.group.id) or _left(one)) for one in several]
        return done

    def requests(
        self, planned: Sequence[Planned]
    ) -> tuple[list[tuple[Planned, CommitRequest]], dict[str, CommodoreError]]:
        """Render what is to be rendered: the commits that are wanted, and why others cannot be made, by group.

        It needs `rendering`.
        """
        made: list[tuple[Planned, CommitRequest]] = []
        failed: dict[str, CommodoreError] = {}
        waiting = [one for one in planned if one.decision in ("render", "unaffected")]
        with stage(self.context.announce, RENDER_STAGE, len(waiting)):
            for one in waiting:
                with self._collecting(one.group):
                    try:
                        self._check_access(one)
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
        return self._data[hydration.place, hydration.name]

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

        with stage(self.context.announce, PUSH_STAGE, len(wanted)):
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
        found = (as_warning(one) for one in self.diagnostics.found() if one.application in labels)
        warnings = (*told.warnings, *(one for one in found if one is not None))
        return replace(planned, warnings=warnings, seconds=told.seconds)

    def _decide(self, group: Group, destinations: dict[str, Destination]) -> Planned:
        destination = destinations.get(group.key)
        if destination is None:
            url = group.first.url
            rights = self.job.rights(url, frozenset(self._projects[group.key]))
            destination = Destination(self.store.repository(url), self.context, self.job.writing, self.job.sign, rights)
            destination.bring_notes()
            destinations[group.key] = destination
        settings = {f"{part}/{key}": value.value for part, key, value in self.job.settings.rows()}
        options: dict[str, Any] = {**self.job.rules.as_dict(), "settings": settings}
        if pins := self._pins(group):
            options["pins"] = {
                path: [one.additional, one.reference and one.reference.sha] for path, one in pins.items()
            }
        inputs = planning.inputs_digest(group, options)
        note = destination.note_of(group.branch)
        known, before = note.groups.get(group.id, ("", "")) if note is not None else ("", "")
        decision, reason = "render", "it was not hydrated from this commit with these inputs"
        if self.job.writing.rewrite:
            reason = "--rewrite"
        elif self.job.hard or self.job.repo_map.find(group.first.dry_url) is not None:
            reason = "it is to be rendered again"
        elif self._is_too_old(group, known):
            decision, reason = "superseded", f"it is hydrated from {known[:7]}, which is newer; --allow-older goes back"
        elif any(one.catalog for one in group.members):
            reason = "a catalog is made of more than its dry commit, and is compiled at each run"
        elif (known, before) == (group.dry_sha, inputs) and group.branch in destination.heads:
            decision, reason = "hydrated", f"it is hydrated from {group.dry_sha[:7]}"
        elif known and before == inputs and not self._is_affected(group, known):
            decision, reason = "unaffected", f"no file of its Applications has changed since {known[:7]}"
        return Planned(group, decision, reason, inputs, destination, known)

    def _is_too_old(self, group: Group, known: str) -> bool:
        if not self.job.dry_sha or self.job.allow_older or known in ("", group.dry_sha):
            return False
        return is_older(self.dry(group.first), group.dry_sha, known)

    def _is_affected(self, group: Group, known: str) -> bool:
        repository = self.dry(group.first)
        if not repository.has_commits([known]):
            return True
        arguments = ["diff", "--name-only", "-z", "--no-renames", known, group.dry_sha]
        changed = Git(repository.path, self.context).run(arguments).stdout.decode("utf-8", "surrogateescape")
        return planning.is_affected(group, [path for path in changed.split("\0") if path])

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
        if self.job.verify_dry:
            tags = {one.dry_revision for one in group.members} & repository.refs().tags.keys()
            check_signature(repository.path, group.dry_sha, sorted(tags), self.context)
        commit = read_commit(repository.path, group.dry_sha, self.context)
        applications = {one.path: self.data(one) for one in group.members}
        pins = self._pins(group)
        references = {one.reference for one in pins.values()}
        if len(pins) == len(group.members) and len(references) == 1 and None not in references:
            commit = replace(commit, reference=references.pop())
        # What no change touches is not rendered: only the note goes on.
        outputs = self.render(group, applications, commit, pins) if planned.decision == "render" else ()
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
        if self.job.dry_sha or self.job.each_commit:
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

    def _check_access(self, planned: Planned) -> None:
        """See that what will be rendered can be pushed, as far as that can be known before."""
        key = id(planned.destination)
        if key not in self._refusals:
            self._refusals[key] = None
            try:
                if not self.job.dry_run:
                    planned.destination.can_push()
            except CommodoreError as error:
                self._refusals[key] = error
        refusal = self._refusals[key]
        if refusal is not None:
            raise refusal

    def _wanted(self, hydration: Hydration) -> str | None:
        return self.job.dry_sha or revision_of(hydration.dry_revision)

    def _dry_sha(self, hydration: Hydration) -> str:
        return self.dry(hydration).resolve(self._wanted(hydration)).sha


def as_warning(found: Diagnostic) -> Warned | None:
    """A finding of rendering as a warning; None if it is none."""
    about = f"Application {found.application}: " if found.application else ""
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
    return Outcome(planned.decision, planned.reason, head, head)
