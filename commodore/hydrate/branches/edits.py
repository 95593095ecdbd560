"""Files of output paths that others have changed on a branch since it was hydrated.

Every hydration adds a note to the head of the branch, so the commits between the nearest noted commit and the head were
made by others. Files are compared, not commits: a merge, or a reverted change, is not an edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from commodore.core.sources.git import Git
from commodore.hydrate.branches.files import blobs_at
from commodore.hydrate.branches.layout import FILES, MANIFEST, METADATA, read_metadata
from commodore.hydrate.branches.records import NOTES, Note, examine, is_hydrated_here, read_note
from commodore.hydrate.model import Scope

ANCESTORS = 50
"""The maximum number of commits of a branch that are searched for a hydrated commit."""


@dataclass(frozen=True, slots=True)
class PastCommit:
    """The head of a branch, or a first-parent ancestor of it.

    Attributes:
        authored: the author date, in seconds since 1970.
        note: its own note; empty if it has no note.
    """

    sha: str
    authored: int
    note: bytes


@dataclass(frozen=True, slots=True)
class Edit:
    """Files of an output path that others have changed.

    Attributes:
        base: the last commit with the files as hydrated.
        files: their names.
        by: the newest commit that changed them, and its author.
        metadata: `hydrator.metadata` of the path at the base.
    """

    base: str
    files: frozenset[str]
    by: str
    metadata: bytes = field(default=b"", repr=False)

    @property
    def is_of_manifest(self) -> bool:
        """Return True if only the manifest was changed."""
        return self.files == {MANIFEST}


NO_EDITS: Mapping[str, Edit] = MappingProxyType({})


def past_of(git: Git, head: str) -> list[PastCommit]:
    """Return the commits of a branch, newest first."""
    arguments = ["log", "--first-parent", f"-{ANCESTORS}", f"--notes={NOTES}", "--format=%H%x00%at%x00%N%x01", head]
    commits = []
    for text in git.run(arguments).stdout.split(b"\x01"):
        if text.strip():
            sha, authored, note = text.strip(b"\n").split(b"\0", 2)
            commits.append(PastCommit(sha.decode(), int(authored), note.strip()))
    return commits


def find_edits(git: Git, past: Sequence[PastCommit], note: Note | None) -> dict[str, Edit]:
    """Return the edits at the head of a branch, by output path.

    Args:
        git: runs in the clone of the destination.
        past: the head and its ancestors, newest first.
        note: the newest note among these commits.
    """
    head = past[0].sha
    bases = note.edited if note is not None else {}
    base = _hydrated(git, past)
    changed: dict[str, tuple[str, set[str]]] = {}
    if base and base != head:
        changed = {folder: (base, names) for folder, names in _changed(git, base, head).items()}
    for folder, since in bases.items():
        changed[folder] = (since, _changed(git, since, head, folder).get(folder, set()))
    places = {f"{since}:{folder}/{METADATA}": folder for folder, (since, names) in changed.items() if names}
    metadata = {places[place]: content for place, content in blobs_at(git, places).items()}
    return {
        folder: Edit(since, frozenset(names), _newest(git, since, head, folder), metadata[folder])
        for folder, (since, names) in sorted(changed.items())
        if is_hydrated_here(metadata.get(folder))
    }


def _hydrated(git: Git, past: Sequence[PastCommit]) -> str:
    """Return the newest commit that was made or noted by a hydration; empty without such a commit.

    The note of a commit may be missing: notes are disabled, were removed, or their push failed after the commit's.
    """
    noted = next((number for number, value in enumerate(past) if is_ours(value.note)), len(past))
    newer = past[:noted]
    roots = blobs_at(git, (f"{entry.sha}:{METADATA}" for entry in newer))
    for item in newer:
        if is_made_by_hydration(item, roots.get(f"{item.sha}:{METADATA}")):
            return item.sha
    if noted < len(past):
        return past[noted].sha
    return git.run(["log", "-1", "--format=%H", past[0].sha, "--", f":(glob)**/*/{METADATA}"]).text


def _changed(git: Git, base: str, head: str, folder: str = "") -> dict[str, set[str]]:
    """Return the names of hydrated files that differ between two commits, by output path."""
    places = [f":(literal){folder}"] if folder else []
    arguments = ["diff", "--name-only", "-z", "--no-renames", base, head, "--", *places]
    answer = git.run(arguments, check=False)
    if answer.returncode != 0:  # the history before the edit is gone
        return {folder: set(FILES)} if folder else {}
    changed: dict[str, set[str]] = {}
    for path in answer.stdout.decode("utf-8", "surrogateescape").split("\0"):
        place, _, name = path.rpartition("/")
        if place and name in FILES:
            changed.setdefault(place, set()).add(name)
    return changed


def _newest(git: Git, base: str, head: str, folder: str) -> str:
    files = [f":(literal){folder}/{name}" for name in FILES]
    return git.run(["log", "-1", "--format=%h by %an", f"{base}..{head}", "--", *files], check=False).text


def is_ours(note: bytes) -> bool:
    """Return True if a note was written by this program."""
    read = read_note(note) if note else None
    return read is not None and read.is_ours


def is_made_by_hydration(commit: PastCommit, root: bytes | None) -> bool:
    """Return True if a commit without a note was made by a hydration: it has the author date of the dry commit.

    Args:
        root: the `hydrator.metadata` of its root; None if absent.
    """
    data = read_metadata(root)
    return bool(data.get("drySha")) and _seconds(data.get("date")) == commit.authored


def _seconds(date: Any) -> int | None:
    try:
        return int(datetime.fromisoformat(date).timestamp())
    except (TypeError, ValueError):
        return None


def of_scope(edits: Mapping[str, Edit], scope: Scope) -> dict[str, Edit]:
    """Return the edits of paths that belong to a group."""
    ours = examine({path: edit.metadata for path, edit in edits.items()}, scope, ()).ours
    return {path: edit for path, edit in edits.items() if path in ours}


def as_text(edits: Mapping[str, Edit]) -> str:
    """Format edits for messages: each path and who changed it."""
    return ", ".join(f"{path} ({edit.by})" if edit.by else path for path, edit in edits.items())
