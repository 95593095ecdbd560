"""Hydrated branches and output paths that no Application is hydrated to any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from commodore.base.errors import CommodoreError, InputError, Location
from commodore.core.sources.git import redact, repository_key
from commodore.hydrate.branches.destination import Destination
from commodore.hydrate.branches.layout import read_metadata
from commodore.hydrate.branches.records import is_hydrated_here
from commodore.hydrate.model import Group, Hydration
from commodore.hydrate.planning.groups import PlannedGroup
from commodore.hydrate.reading.job import Job

REASON = "no Application hydrates to it any more"


def find_abandoned(
    destination: Destination,
    groups: Sequence[Group],
    hydrations: Sequence[Hydration],
    job: Job,
) -> list[PlannedGroup]:
    """Return the paths of a repository that no Application hydrates any more, as groups of recorded Applications.

    Args:
        groups: all that hydrate to the repository.
        hydrations: all Applications; a deployed branch gets its manifests by promotion, and is not abandoned.
        job: branches outside of its protection patterns belong to other jobs.
    """
    url, key = groups[0].first.url, groups[0].key
    own = [hydration for hydration in hydrations if repository_key(hydration.url) == key]
    deployed = {item.sync_branch for item in own} - {item.branch for item in own}
    by_branch: dict[str, list[Group]] = {}
    for group in groups:
        by_branch.setdefault(group.branch, []).append(group)
    shas = {(item.dry_key, member.dry_revision or "HEAD"): item.dry_sha for item in groups for member in item.members}
    planneds: list[PlannedGroup] = []
    for branch in sorted({*by_branch, *destination.hydrated_branches()} - (deployed - by_branch.keys())):
        if job.protected and not any(fnmatchcase(branch, pattern) for pattern in job.protected):
            continue
        lost = destination.noted_groups(branch) - {item.id for item in by_branch.get(branch, ())}
        if not lost:
            continue
        written = {item.path for item in own if branch in (item.branch, item.sync_branch)}
        members = [
            item
            for item in _recorded(destination, url, branch)
            if item.path not in written and not _is_of(item, by_branch.get(branch, ()))
        ]
        planneds += [_planned(item) for item in _groups(members, key, shas)]
    return [planned for planned in planneds if job.only.takes(planned.group)]


def refusal(planned: PlannedGroup) -> InputError:
    """Return the error for a group without Applications if its removal was not decided."""
    group = planned.group
    paths = ", ".join(member.path for member in group.members)
    return InputError(
        "CMD-HYD-049",
        f"no Application hydrates any more to {paths} of the branch {group.branch} of {redact(group.first.url)}",
        hint="add --removed delete --allow-mass-removal to remove what was written there, or --removed keep to leave"
        " it; if another job hydrates it, narrow this one by --branch or --protect",
    )


def _recorded(destination: Destination, url: str, branch: str) -> Iterator[Hydration]:
    """Return the Applications recorded at the output paths of a branch."""
    for path, content in destination.metadata_of(destination.heads[branch]).items():
        if path and is_hydrated_here(content):
            data = read_metadata(content)
            try:
                repository_key(str(data["repoURL"]))
                yield _hydration(data, url, branch, path)
            except (CommodoreError, LookupError, TypeError, AttributeError):
                continue


def _hydration(data: Mapping[str, Any], url: str, branch: str, path: str) -> Hydration:
    application, source = data["applications"][0], data["drySource"]
    return Hydration(
        name=str(application["name"]),
        namespace=str(application.get("namespace", "")),
        project=str(application.get("project", "")),
        dry_url=str(data["repoURL"]),
        dry_revision=str(source.get("targetRevision", "")),
        dry_path=str(source.get("path", "")),
        url=url,
        sync_branch=branch,
        branch=branch,
        path=path,
        target_namespace="",
        settings={"drySha": str(data["drySha"])},
        generate_paths="",
        place=Location(f"{path} of the branch {branch}"),
    )


def _is_of(member: Hydration, groups: Sequence[Group]) -> bool:
    """Return True if a path belongs to a current group, which reports it as stale."""
    key, revision = repository_key(member.dry_url), member.dry_revision or "HEAD"
    return any(
        group.dry_key == key and revision in {m.dry_revision or "HEAD" for m in group.members} for group in groups
    )


def _groups(members: Sequence[Hydration], key: str, shas: Mapping[tuple[str, str], str]) -> list[Group]:
    by_dry: dict[str, list[Hydration]] = {}
    for item in sorted(members, key=lambda member: member.path):
        by_dry.setdefault(repository_key(item.dry_url), []).append(item)
    return [
        Group(dry, _dry_sha(dry, several[0], shas), key, several[0].branch, tuple(several))
        for dry, several in sorted(by_dry.items())
    ]


def _dry_sha(dry: str, member: Hydration, shas: Mapping[tuple[str, str], str]) -> str:
    """Return the current dry commit of a revision if the plan has it, else the recorded commit."""
    return shas.get((dry, member.dry_revision or "HEAD"), "") or str(member.settings["drySha"])


def _planned(group: Group) -> PlannedGroup:
    return PlannedGroup(
        group, "abandoned", REASON, "sha256:" + "0" * 64, stale=tuple(member.path for member in group.members)
    )
