"""The first step: read the Applications, check them, and fetch their sources."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import CommodoreError, InputError, raise_all
from commodore.core.sources.git import Repository, RepositoryStore, repository_key
from commodore.hydrate.branches.provenance import reference_to
from commodore.hydrate.model import Group, Hydration, Pins, Scope, revision_of
from commodore.hydrate.reading.applications import read_all, warn_of_other_sources
from commodore.hydrate.reading.checks import check_dry_branch, check_projects, check_promotions, check_together
from commodore.hydrate.reading.job import Job

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Run:
    """A job and its environment.

    Attributes:
        store: the clones of all repositories.
    """

    job: Job
    store: RepositoryStore
    context: Context
    diagnostics: Diagnostics

    def dry(self, hydration: Hydration) -> Repository:
        """Return the repository of the sources."""
        return self.store.repository(hydration.dry_url)

    def dry_revision(self, hydration: Hydration) -> str | None:
        """Return the hydrated revision; None for the default branch."""
        return self.job.dry_sha or revision_of(hydration.dry_revision)

    def dry_sha(self, hydration: Hydration) -> str:
        """Return the hydrated commit.

        Raises:
            CommodoreError: no such revision.
        """
        return self.dry(hydration).resolve(self.dry_revision(hydration)).sha


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of a run.

    Attributes:
        run: its job removes nothing if an Application is invalid, as the paths of that Application are unknown.
        members: the valid Applications.
        present: the members with available repositories and revisions.
        lost: the errors of excluded Applications.
        applications: the original Applications of members, by the key of their repository, branch and path.
        written: the paths of members, by the key of their repository and branch.
        projects: the projects of members, by the key of their repository.
    """

    run: Run
    members: tuple[Hydration, ...]
    present: tuple[Hydration, ...]
    lost: tuple[CommodoreError, ...]
    applications: Mapping[tuple[str, str, str], Mapping[str, Any]]
    written: Mapping[tuple[str, str], frozenset[str]]
    projects: Mapping[str, frozenset[str]]

    def application(self, hydration: Hydration) -> Mapping[str, Any]:
        """Return the original Application of a member."""
        return self.applications[repository_key(hydration.url), hydration.branch, hydration.path]

    def elsewhere(self) -> frozenset[str]:
        """Return the keys of the git repositories of additional sources, without dry repositories."""
        return frozenset(
            repository_key(other.url)
            for member in self.members
            for other in member.additional
            if other.is_elsewhere(member)
        )

    def scope(self, group: Group) -> Scope:
        """Return the part of a branch that belongs to a group."""
        # A proposed branch begins with the deployed content, including paths of other groups.
        branches = (group.branch, group.first.sync_branch)
        written = {path for branch in branches for path in self.written.get((group.key, branch), ())}
        revisions = tuple(sorted({member.dry_revision for member in group.members}))
        return Scope(group.first.dry_url, revisions, tuple(sorted(written)))

    def follows(self, group: Group) -> tuple[str, ...]:
        """Return the dry branches with the group's commit as their head."""
        job, is_read = self.run.job, (group.key, group.branch, group.first.path) in self.applications
        if job.dry_sha or job.each_commit or not is_read:
            return ()
        repository = self.run.dry(group.first)
        branches = repository.refs().branches
        named = {revision_of(member.dry_revision) or repository.default_branch() for member in group.members}
        return tuple(sorted(name for name in named if branches.get(name) == group.dry_sha))

    def pins(self, group: Group, context: Context) -> dict[str, Pins]:
        """Return the additional commits that members are rendered from, by output path, for members with such commits.

        Args:
            context: receives warnings about these commits.
        """
        members = (member for member in group.members if member.catalog or member.additional)
        return {member.path: self._pins_of(member, group, context) for member in members}

    def _pins_of(self, member: Hydration, group: Group, context: Context) -> Pins:
        store = self.run.store
        if member.catalog is not None:
            repository = store.repository(member.catalog.url)
            return Pins(reference_to(repository, repository.resolve(member.catalog.revision or None).sha, context))
        commits = []
        for item in member.additional:
            if item.is_elsewhere(member):
                commits.append(store.repository(item.url).resolve(revision_of(item.revision)).sha)
            else:
                commits.append("" if item.is_chart else group.dry_sha)
        return Pins(additional=tuple(commits))


def read(run: Run) -> Inputs:
    """Read the Applications of a job, check them, and fetch their sources. Each remote is queried once.

    Applications that are invalid, or have unreachable sources or branches, are excluded; `lost` has their errors.

    Raises:
        CommodoreError: Applications conflict, or all of them are invalid or unreachable.
    """
    job = run.job
    clusters = job.catalogs.cluster if job.catalogs is not None else None
    listed = read_all(
        job.sources.applications, lenient=job.lenient, options_in_git=job.options_in_git, clusters=clusters
    )
    errors, blocked = [error for _, error in listed.failed], {branch for branch, _ in listed.failed}
    good = [(hydration, data) for hydration, data in listed.hydrations if hydration.branch not in blocked]
    if job.lenient:
        warn_of_other_sources([(data, value.place) for value, data in good], run.context.announce)
    if not good:
        raise_all(errors)
    if errors:
        how = job.publishing
        how = replace(how, writing=replace(how.writing, removal="keep"))
        run = replace(run, job=replace(job, publishing=how))
    lost = [*errors, *map(_blocked, sorted({hydration.branch for hydration, _ in listed.hydrations} & blocked))]
    members = tuple(value for value, _ in good)
    job.only.check(members)
    check_together(members, job.protected, lost)
    check_projects(members, (*job.settings.projects, *job.sources.projects))
    check_promotions(members, job.sources.strategies, run.context.announce)
    present, unreachable = _within_reach(run, members)
    if not present:
        raise_all([*lost, *unreachable])
    for item in present:
        check_dry_branch(item, revision_of(item.dry_revision) or run.dry(item).default_branch())
    applications = {(repository_key(value.url), value.branch, value.path): data for value, data in good}
    written = _gathered(((key, branch), path) for key, branch, path in applications)
    projects = _gathered((repository_key(member.url), member.project) for member in members)
    return Inputs(run, members, present, (*lost, *unreachable), applications, written, projects)


def _gathered(pairs: Iterable[tuple[_Key, str]]) -> dict[_Key, frozenset[str]]:
    gathered: dict[_Key, set[str]] = {}
    for key, value in pairs:
        gathered.setdefault(key, set()).add(value)
    return {key: frozenset(values) for key, values in gathered.items()}


def _blocked(branch: str) -> InputError:
    return InputError(
        "CMD-HYD-044",
        f"nothing is hydrated to the branch {branch}: one of its Applications is invalid",
        hint="correct that Application",
    )


def _within_reach(run: Run, hydrations: Sequence[Hydration]) -> tuple[tuple[Hydration, ...], list[CommodoreError]]:
    """Fetch repositories. Return the hydrations with available repositories and revisions, and the errors of others."""
    needed = [_needed(run, item) for item in hydrations]
    with contextlib.suppress(CommodoreError):
        run.store.sync(sorted({pair for pairs in needed for pair in pairs}, key=str))
    present: list[Hydration] = []
    errors: list[CommodoreError] = []
    for hydration, pairs in zip(hydrations, needed, strict=True):
        try:
            run.store.sync(pairs)
            run.dry_sha(hydration)
        except CommodoreError as error:
            errors.append(error.about(f"Application {hydration.name}", at=[hydration.place]))
        else:
            present.append(hydration)
    return tuple(present), errors


def _needed(run: Run, hydration: Hydration) -> list[tuple[str, str | None]]:
    catalog = hydration.catalog
    others = [(catalog.url, catalog.revision or None)] if catalog is not None else []
    others += [(item.url, revision_of(item.revision)) for item in hydration.additional if item.is_elsewhere(hydration)]
    url = hydration.url
    return [
        (hydration.dry_url, run.dry_revision(hydration)),
        *others,
        (url, hydration.branch),
        (url, hydration.sync_branch),
    ]
