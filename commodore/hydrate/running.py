"""A run: plan, render and publish all groups of the Applications that were found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commodore.argocd.acquiring import RepoMap, repository_identity
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.diagnostics import Diagnostics
from commodore.argocd.rendering import Capabilities
from commodore.argocd.running import open_run
from commodore.argocd.trees import Tree
from commodore.context import Context
from commodore.errors import CommodoreError
from commodore.events import stage
from commodore.git import Author, Git, Repository, RepositoryStore, identity_environment
from commodore.hydrate import layout, planning
from commodore.hydrate.committing import Stamp
from commodore.hydrate.model import CommitRequest, DryCommit, Group, Hydration, Outcome, PathOutput, Writing
from commodore.hydrate.provenance import read_commit
from commodore.hydrate.publishing import Destination, Result
from commodore.hydrate.reading import read_all
from commodore.hydrate.rendering import GroupRenderer, Rules
from commodore.hydrate.sources import Found
from commodore.staging import temporary_folder

RENDER_STAGE = "render"


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be hydrated, and how.

    Attributes:
        only: names of Applications; their whole groups are hydrated. Empty for all.
        author: of the commits; None is git's own identity.
        dry_run: push nothing.
        allow_older: push although the branch of the sources has moved meanwhile.
    """

    found: Found
    settings: ArgoSettings
    rules: Rules
    writing: Writing
    only: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    author: Author | None = None
    sign: str | None = None
    dry_run: bool = False
    allow_older: bool = False
    lenient: bool = False
    options_in_git: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """A group, and what is to be done: `hydrated`, `unaffected` or `render`."""

    group: Group
    decision: str
    reason: str
    inputs: str
    destination: Destination


@dataclass
class Hydrator:
    """Hydrates in one working directory.

    Args:
        store: the clones of all repositories.
    """

    job: Job
    store: RepositoryStore
    context: Context
    diagnostics: Diagnostics
    _stamps: dict[tuple[str, str], Stamp] = field(default_factory=dict)

    def plan(self) -> list[Planned]:
        """The groups, and what is to be done for each. Remotes are asked once; nothing is rendered or written.

        Raises:
            CommodoreError: an Application is wrong, or a repository cannot be reached.
        """
        job = self.job
        hydrations = read_all(job.found.applications, lenient=job.lenient, options_in_git=job.options_in_git)
        planning.check(hydrations, (*job.protect, *job.found.protect))
        branches = {(one.url, name) for one in hydrations for name in (one.branch, one.sync_branch)}
        self.store.sync([*((one.dry_url, _revision(one)) for one in hydrations), *sorted(branches)])
        groups = planning.group(hydrations, self._dry_sha)
        planning.warn(groups, self.context.announce)
        if job.only:
            groups = tuple(one for one in groups if any(member.name in job.only for member in one.members))
        destinations: dict[str, Destination] = {}
        return [self._decide(one, destinations) for one in groups]

    def run(self) -> list[tuple[Planned, Result]]:
        """Plan, render and publish. A group that fails does not hold back others.

        Raises:
            CommodoreError: see `plan`.
        """
        planned = self.plan()
        results: dict[str, Result] = {}
        by_destination: dict[int, list[tuple[Planned, CommitRequest]]] = {}
        rendering = [one for one in planned if one.decision in ("render", "unaffected")]
        self._check_access(rendering, results)
        with stage(self.context.announce, RENDER_STAGE, len(rendering)):
            for one in rendering:
                if one.group.id in results:
                    continue
                try:
                    request = self._request(one, planned)
                except CommodoreError as error:
                    results[one.group.id] = error
                    continue
                by_destination.setdefault(id(one.destination), []).append((one, request))
        for several in by_destination.values():
            requests = [request for _, request in several]
            destination = several[0][0].destination
            try:
                done = destination.publish(requests, self._stamp, self._superseded, dry=self.job.dry_run)
            except CommodoreError as error:
                done = dict.fromkeys((one.group for one in requests), error)
            results |= done
        return [(one, results.get(one.group.id) or _left(one)) for one in planned]

    def _decide(self, group: Group, destinations: dict[str, Destination]) -> Planned:
        destination = destinations.get(group.key)
        if destination is None:
            repository = self.store.repository(group.first.url)
            destination = Destination(repository, self.context, self.job.writing, self.job.sign)
            destination.bring_notes()
            destinations[group.key] = destination
        inputs = planning.inputs_digest(group, self.job.rules.as_dict())
        note = destination.note_of(group.branch)
        known = note.groups.get(group.id) if note is not None else None
        decision, reason = "render", "it was not hydrated from this commit with these inputs"
        if self.job.writing.rewrite:
            reason = "--rewrite"
        elif known == (group.dry_sha, inputs) and group.branch in destination.heads:
            decision, reason = "hydrated", f"it is hydrated from {group.dry_sha[:7]}"
        elif known is not None and known[1] == inputs and not self._is_affected(group, known[0]):
            decision, reason = "unaffected", f"no file of its Applications has changed since {known[0][:7]}"
        return Planned(group, decision, reason, inputs, destination)

    def _is_affected(self, group: Group, known: str) -> bool:
        repository = self._dry(group.first)
        if not repository.has_commits([known]):
            return True
        arguments = ["diff", "--name-only", "-z", "--no-renames", known, group.dry_sha]
        changed = Git(repository.path, self.context).run(arguments).stdout.decode("utf-8", "surrogateescape")
        return planning.is_affected(group, [path for path in changed.split("\0") if path])

    def _request(self, planned: Planned, others: Sequence[Planned]) -> CommitRequest:
        group = planned.group
        commit = read_commit(self._dry(group.first).path, group.dry_sha, self.context)
        applications = {one.path: self._data(one) for one in group.members}
        # What no change touches is not rendered: only the note goes on.
        outputs = self._render(group, applications, commit) if planned.decision == "render" else ()
        root = layout.root_data(group.first.dry_url, commit)
        written = [one.path for other in others if _same_branch(other.group, group) for one in other.group.members]
        return CommitRequest(
            group=group.id,
            inputs=planned.inputs,
            url=group.first.url,
            sync_branch=group.first.sync_branch,
            branch=group.branch,
            dry_url=group.first.dry_url,
            dry_revisions=tuple(sorted({one.dry_revision for one in group.members})),
            commit=commit,
            message=self.job.rules.texts.message_of(root),
            paths=outputs,
            written=tuple(sorted(written)),
            author=self.job.author,
        )

    def _render(
        self, group: Group, applications: Mapping[str, Mapping[str, Any]], commit: DryCommit
    ) -> tuple[PathOutput, ...]:
        repository = self._dry(group.first)
        with temporary_folder() as folder:
            files = folder / "dry"
            repository.export_tree(group.dry_sha, "", files)
            tree = Tree(files.resolve(), group.dry_sha, repository.display_url)
            own = {repository_identity(one.dry_url): tree for one in group.members}
            with open_run(self.job.settings, RepoMap(), Capabilities(), self.context, self.diagnostics, own) as run:
                renderer = GroupRenderer(
                    self.job.settings, run.renderer, self.job.rules, self.context, self.diagnostics
                )
                return renderer.render(group, applications, commit)

    def _check_access(self, rendering: Sequence[Planned], results: dict[str, Result]) -> None:
        """See that what will be rendered can be pushed, as far as that can be known before."""
        asked: dict[int, CommodoreError | None] = {}
        for one in rendering:
            key = id(one.destination)
            if key not in asked:
                asked[key] = None
                try:
                    if not self.job.dry_run:
                        one.destination.can_push()
                except CommodoreError as error:
                    asked[key] = error
            refusal = asked[key]
            if refusal is not None:
                results[one.group.id] = refusal

    def _superseded(self, request: CommitRequest) -> str:
        """Why a commit is not wanted any more: its dry branch has moved meanwhile."""
        repository = self.store.repository(request.dry_url)
        before = {name: sha for name, sha in repository.refs().branches.items() if sha == request.commit.sha}
        if self.job.allow_older or not before:
            return ""
        state = repository.ask_again()
        followed = [one or repository.default_branch() for one in request.dry_revisions]
        moved = [name for name in before if name in followed and state.branches.get(name) != request.commit.sha]
        if not moved:
            return ""
        return f"the branch {moved[0]} of the sources has moved meanwhile; run again"

    def _stamp(self, request: CommitRequest) -> Stamp:
        key = (request.dry_url, request.commit.sha)
        if key not in self._stamps:
            repository = self.store.repository(request.dry_url)
            git = Git(repository.path, self.context)
            date = git.run(["show", "--no-patch", "--format=%ad", "--date=raw", request.commit.sha]).text
            identity = identity_environment(repository.path, request.author, self.context)
            who = f"{identity['GIT_AUTHOR_NAME']} <{identity['GIT_AUTHOR_EMAIL']}>"
            committer = git.run(["var", "GIT_COMMITTER_IDENT"], environment=identity).text
            self._stamps[key] = Stamp(f"{who} {date}", committer)
        return self._stamps[key]

    def _dry(self, hydration: Hydration) -> Repository:
        return self.store.repository(hydration.dry_url)

    def _dry_sha(self, hydration: Hydration) -> str:
        return self._dry(hydration).resolve(_revision(hydration)).sha

    def _data(self, hydration: Hydration) -> Mapping[str, Any]:
        for data, place in self.job.found.applications:
            name = data.get("metadata", {}).get("name")
            if place == hydration.place and name == hydration.name:
                return data
        raise LookupError(hydration.name)


def _revision(hydration: Hydration) -> str | None:
    return None if hydration.dry_revision in ("", "HEAD") else hydration.dry_revision


def _same_branch(one: Group, other: Group) -> bool:
    return (one.key, one.branch) == (other.key, other.branch)


def _left(planned: Planned) -> Outcome:
    head = planned.destination.heads.get(planned.group.branch, "")
    return Outcome(planned.decision, planned.reason, head, head)
