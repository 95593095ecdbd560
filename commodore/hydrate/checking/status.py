"""The status of hydrated branches: their commits and output paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commodore.core.sources.git import Git, redact
from commodore.hydrate.branches.layout import read_metadata
from commodore.hydrate.planning.groups import PlannedGroup
from commodore.hydrate.planning.plan import Plan
from commodore.hydrate.reading.inputs import Run


def _by_path(paths: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return dict(paths)


@dataclass(frozen=True, slots=True)
class BranchStatus:
    """The status of a branch.

    Attributes:
        head: its newest commit; empty if the branch does not exist, and then the other fields are empty, too.
        dry_sha: the dry commit of the last hydrated commit.
        noted: the dry commit that was processed last.
        behind: the number of newer dry commits; None if unknown.
        paths: the dry commit of each output path.
        stale: output paths that no Application writes any more.
        foreign: output paths that another program has hydrated.
        edited: output paths that others have edited, and who edited them.
        author: of the newest commit.
        ours: True if the newest commit was made by a hydration.
    """

    url: str = field(metadata={"json": redact})
    branch: str
    head: str
    dry_sha: str
    noted: str
    behind: int | None
    applications: tuple[str, ...]
    paths: tuple[tuple[str, str], ...] = field(metadata={"json": _by_path})
    stale: tuple[str, ...]
    foreign: tuple[str, ...]
    edited: Mapping[str, str]
    author: str
    ours: bool


def survey(plan: Plan) -> list[BranchStatus]:
    """Return the status of the branches that Applications are hydrated to; nothing is rendered or written."""
    return [_status(plan, several) for several in plan.by_branch()]


def _status(plan: Plan, several: Sequence[PlannedGroup]) -> BranchStatus:
    first, destination = several[0].group.first, plan.destinations[several[0].group.key]
    names = tuple(member.name for item in several if item.decision != "abandoned" for member in item.group.members)
    head = destination.heads.get(first.branch, "")
    if not head:
        return BranchStatus(first.url, first.branch, "", "", "", None, names, (), (), (), {}, "", ours=False)
    metadata = {path: read_metadata(content) for path, content in destination.metadata_of(head).items()}
    scopes = [plan.inputs.scope(item.group) for item in several]
    owned = [destination.owned(head, scope) for scope in scopes]
    edits = {path: edit.by for scope in scopes for path, edit in destination.edits(first.branch, scope).items()}
    note = destination.note_of(first.branch)
    return BranchStatus(
        url=first.url,
        branch=first.branch,
        head=head,
        dry_sha=_text(metadata.get("", {}), "drySha"),
        noted=note.dry_sha if note is not None else "",
        behind=commits_behind(plan.inputs.run, several),
        applications=names,
        paths=tuple((path, _text(data, "drySha")) for path, data in sorted(metadata.items()) if path),
        stale=tuple(sorted({path for item in owned for path in item.stale})),
        foreign=tuple(sorted({path for item in owned for path in item.foreign})),
        edited=edits,
        author=destination.git.run(["log", "-1", "--format=%an <%ae>", head]).text,
        ours=destination.is_made_by_hydration(first.branch),
    )


def commits_behind(run: Run, several: Sequence[PlannedGroup]) -> int | None:
    """Count the dry commits that are newer than the noted ones, and return the maximum over groups; None if unknown."""
    counts = []
    for item in several:
        repository = run.dry(item.group.first)
        if item.decision == "abandoned":
            continue
        if not item.known or not repository.has_commits([item.known]):
            return None
        arguments = ["rev-list", "--count", f"{item.known}..{item.group.dry_sha}"]
        counts.append(int(Git(repository.path, run.context).run(arguments).text))
    return max(counts, default=None)


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""
