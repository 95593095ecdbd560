"""Records of a hydrated branch: the notes of its commits, and the owners of its paths."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from commodore.core.sources.git import repository_key
from commodore.hydrate.branches.layout import FILES, HYDRATOR, METADATA, read_metadata
from commodore.hydrate.model import LAYOUT, Scope

NOTES = "refs/notes/hydrator.metadata"


@dataclass(frozen=True, slots=True)
class GroupNote:
    """The note of a group.

    Attributes:
        inputs: the digest of everything that its output depended on in addition to the dry commit.
        branch: the hydrated branch; empty in notes of older versions. Branches that others create at a hydrated commit
            share its note, and this distinguishes them.
    """

    dry_sha: str = ""
    inputs: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """The note of a commit.

    Attributes:
        dry_sha: the dry commit that was processed last; the only key that other programs read.
        groups: by group id.
        edited: output paths with edits of others, each with the last commit with its files as hydrated.
    """

    dry_sha: str = ""
    groups: Mapping[str, GroupNote] = field(default_factory=dict)
    edited: Mapping[str, str] = field(default_factory=dict)

    def with_group(self, group: str, noted: GroupNote) -> Note:
        """Return the note with a group added or replaced."""
        return replace(self, dry_sha=noted.dry_sha, groups={**self.groups, group: noted})

    @property
    def is_ours(self) -> bool:
        """Return True if this program wrote it or added to it."""
        return bool(self.groups)

    def text(self) -> str:
        """The serialised note."""
        groups = {
            name: {
                "drySha": group.dry_sha,
                "inputs": group.inputs,
                **({"branch": group.branch} if group.branch else {}),
            }
            for name, group in sorted(self.groups.items())
        }
        edited = {"edited": dict(sorted(self.edited.items()))} if self.edited else {}
        own = {"layout": LAYOUT, "groups": groups, **edited}
        return json.dumps({"drySha": self.dry_sha, "commodore": own}, separators=(",", ":")) + "\n"


def read_note(content: bytes) -> Note | None:
    """Parse a note, also of another program; None if it is not JSON with a dry commit."""
    try:
        data: Any = json.loads(content)
        sha, own = data["drySha"], data.get("commodore", {})
        if own.get("layout") != LAYOUT:
            return Note(str(sha))
        groups = {
            name: GroupNote(value["drySha"], value["inputs"], str(value.get("branch", "")))
            for name, value in own["groups"].items()
        }
        edited = {str(path): str(commit) for path, commit in own.get("edited", {}).items()}
    except (ValueError, TypeError, LookupError, AttributeError):
        return None
    return Note(str(sha), groups, edited)


@dataclass(frozen=True, slots=True)
class OwnedPaths:
    """Output paths of a branch by owner.

    Attributes:
        ours: hydrated by this program, with the names of the files.
        foreign: hydrated by another program.
        stale: paths of `ours` that no Application writes any more.
    """

    ours: Mapping[str, tuple[str, ...]]
    foreign: tuple[str, ...]
    stale: tuple[str, ...]


def examine(metadata: Mapping[str, bytes], scope: Scope, adopt: Collection[str]) -> OwnedPaths:
    """Group the output paths of a branch by owner.

    Args:
        metadata: the content of each `hydrator.metadata` below the root, by its folder.
        adopt: paths of another program to take over.
    """
    ours: dict[str, tuple[str, ...]] = {}
    foreign: list[str] = []
    dry = repository_key(scope.dry_url)
    for folder, content in sorted(metadata.items()):
        data = read_metadata(content)
        if folder in adopt:
            ours[folder] = FILES
        elif not is_hydrated_here(content):
            foreign.append(folder)
        elif _is_of(data, dry, scope):
            ours[folder] = _names(data)
    stale = tuple(folder for folder in ours if folder not in scope.written)
    return OwnedPaths(ours, tuple(foreign), stale)


def is_hydrated_here(metadata: bytes | None) -> bool:
    """Return True if this program wrote the metadata of an output path."""
    return str(read_metadata(metadata).get("hydrator", "")).split("/")[0] == HYDRATOR


def _is_of(data: Mapping[str, Any], dry: str, scope: Scope) -> bool:
    source = data.get("drySource")
    revision = source.get("targetRevision") if isinstance(source, Mapping) else None
    try:
        same = repository_key(str(data.get("repoURL"))) == dry
    except Exception:
        return False
    return same and (revision or "HEAD") in {item or "HEAD" for item in scope.dry_revisions}


def _names(data: Mapping[str, Any]) -> tuple[str, ...]:
    files = data.get("files")
    if not isinstance(files, list):
        return FILES
    return tuple(sorted({*(name for name in files if name in FILES), METADATA}))
