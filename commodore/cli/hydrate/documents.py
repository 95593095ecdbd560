"""The documents for machines of `commodore hydrate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commodore.base.documents import ABSENT, Absent

if TYPE_CHECKING:
    from commodore.base.errors import ErrorRecord
    from commodore.hydrate import BranchStatus, PathCheck


@dataclass(frozen=True, slots=True)
class GroupSources:
    """The sources of a group; `sha` is the dry commit."""

    repo_url: str
    target_revision: str
    sha: str


@dataclass(frozen=True, slots=True)
class GroupDestination:
    """The branch of a group, and the one from which it is synchronised."""

    repo_url: str
    branch: str
    sync_branch: str


@dataclass(frozen=True, slots=True)
class GroupMember:
    """An Application of a group; the numbers of objects are there if it was rendered."""

    name: str
    path: str
    outcome: str | Absent = ABSENT
    objects: int | Absent = ABSENT
    added: int | Absent = ABSENT
    removed: int | Absent = ABSENT
    changed: int | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class GroupWarning:
    """A warning about a group."""

    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """A group of Applications, and what becomes of it; a group of a bundle has only its `id`, `branch` and outcome.

    Attributes:
        id: names the group whatever its dry commit is.
        stale: output paths that no Application writes any more.
        edited: by output path, the newest commit by which others have edited it, and its author.
        commit: the branch's head afterwards; null without a commit.
        base: its parent; null without a parent.
        changed, removed: output paths.
        diff: of a dry run, the lines by which manifests would change.
        seconds: of rendering, and of pushing to its repository, which groups have in common.
    """

    id: str
    outcome: str
    reason: str
    branch: str | Absent = ABSENT
    dry: GroupSources | Absent = ABSENT
    destination: GroupDestination | Absent = ABSENT
    applications: Sequence[GroupMember] | Absent = ABSENT
    stale: Sequence[str] | Absent = ABSENT
    edited: Mapping[str, str] | Absent = ABSENT
    commit: str | Absent | None = ABSENT
    base: str | Absent | None = ABSENT
    changed: Sequence[str] | Absent = ABSENT
    removed: Sequence[str] | Absent = ABSENT
    diff: Sequence[str] | Absent = ABSENT
    error: ErrorRecord | Absent | None = ABSENT
    warnings: Sequence[GroupWarning] | Absent = ABSENT
    seconds: float | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class HydratedGroups:
    """The groups of Applications, and what becomes of them; `exit_code` is that of the command."""

    groups: Sequence[GroupRecord]
    exit_code: int


@dataclass(frozen=True, slots=True)
class HydratedBranches:
    """The state of hydrated branches."""

    branches: Sequence[BranchStatus]


@dataclass(frozen=True, slots=True)
class CheckedPaths:
    """Hydrated output paths, compared with what is rendered again.

    Attributes:
        partial: whether something could not be checked.
        exit_code: that of the command.
    """

    paths: Sequence[PathCheck]
    partial: bool
    exit_code: int
