"""A snapshot of a destination repository: its branches, and their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from commodore.base.context import Context
from commodore.base.events import Warned
from commodore.core.sources.git import Git, GitRights, Repository
from commodore.hydrate.branches.edits import (
    NO_EDITS,
    Edit,
    PastCommit,
    find_edits,
    is_made_by_hydration,
    is_ours,
    of_scope,
    past_of,
)
from commodore.hydrate.branches.files import blobs_at, entries_of, manifests_of, metadata_below
from commodore.hydrate.branches.layout import METADATA
from commodore.hydrate.branches.records import NOTES, Note, OwnedPaths, examine, read_note
from commodore.hydrate.model import CommitRules, Scope


@dataclass(frozen=True, slots=True)
class PastBranch:
    """The history of a branch.

    Attributes:
        commits: its head and the ancestors, newest first.
        note: the newest note among these commits; None without notes.
    """

    commits: tuple[PastCommit, ...]
    note: Note | None


@dataclass(frozen=True, slots=True)
class Destination:
    """A snapshot of a repository that is written to. Moved branches give a new snapshot.

    Attributes:
        repository: its bare clone.
        writing: options for commits.
        sign: the signing key; empty for git's default key; None to not sign.
        rights: the credentials for pushes; None for git's own configuration.
        heads: the remote's branches.
    """

    repository: Repository
    context: Context
    writing: CommitRules
    sign: str | None
    rights: GitRights | None
    heads: Mapping[str, str]
    _past: dict[str, PastBranch] = field(default_factory=dict, repr=False, compare=False)
    _edits: dict[str, Mapping[str, Edit]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def git(self) -> Git:
        """Git in the bare clone."""
        return Git(self.repository.path, self.context)

    def with_heads(self, heads: Mapping[str, str]) -> Destination:
        """Return a copy with other branches or notes."""
        return replace(self, heads=heads, _past={}, _edits={})

    def fetched(self) -> Destination:
        """Return a snapshot of the remote's current state, with its notes.

        Raises:
            EnvironmentFault: the remote does not answer.
        """
        self.repository.fetch()
        if self.writing.notes:
            self.repository.fetch_ref(NOTES)
        return self.with_heads(_heads(self.repository))

    def past_of(self, head: str, branch: str) -> PastBranch:
        """Return the history of a commit of a branch."""
        if head not in self._past:
            commits = past_of(self.git, head)
            if not self.writing.notes:
                commits = [replace(commit, note=b"") for commit in commits]
            content = next((commit.note for commit in commits if commit.note), b"")
            note = read_note(content) if content else None
            if content and note is None:
                self.context.announce(
                    Warned(
                        "CMD-HYD-035",
                        f"the note of the branch {branch} is not valid JSON of a hydration; it is ignored",
                        hint="it is replaced with the next commit",
                    )
                )
            self._past[head] = PastBranch(tuple(commits), note)
        return self._past[head]

    def note_of(self, branch: str) -> Note | None:
        """Return the last note of a branch; None without notes."""
        head = self.heads.get(branch)
        return self.past_of(head, branch).note if head else None

    def edits(self, branch: str, scope: Scope) -> Mapping[str, Edit]:
        """Return a group's files on a branch that others have changed since they were hydrated, by output path."""
        return of_scope(self.all_edits(branch), scope)

    def all_edits(self, branch: str) -> Mapping[str, Edit]:
        """Return all hydrated files on a branch that others have changed, by output path."""
        head = self.heads.get(branch)
        if not head:
            return NO_EDITS
        if head not in self._edits:
            past = self.past_of(head, branch)
            is_noted = is_ours(past.commits[0].note) and not (past.note and past.note.edited)
            self._edits[head] = NO_EDITS if is_noted else find_edits(self.git, past.commits, past.note)
        return self._edits[head]

    def hydrated_branches(self) -> list[str]:
        """Return the branches with metadata of hydrated commits in their roots, also branches created by others."""
        there = blobs_at(self.git, (f"{sha}:{METADATA}" for sha in self.heads.values()))
        return [name for name, sha in self.heads.items() if f"{sha}:{METADATA}" in there]

    def noted_groups(self, branch: str) -> frozenset[str]:
        """Return the ids of groups that were hydrated to a branch according to its note.

        Branches that others create at a hydrated commit have its note, which names the hydrated branch. Without a note
        that names branches, a branch counts as hydrated while its newest commit was made by a hydration.
        """
        head = self.heads.get(branch)
        if not head:
            return frozenset()
        note = self.past_of(head, branch).note
        groups = note.groups if note is not None else {}
        if any(group.branch for group in groups.values()):
            return frozenset(name for name, group in groups.items() if group.branch == branch)
        is_made = self.is_made_by_hydration(branch)
        is_alone = list(self.heads.values()).count(head) == 1
        return frozenset(groups or [branch]) if is_made and is_alone else frozenset()

    def is_made_by_hydration(self, branch: str) -> bool:
        """Return True if the newest commit of a branch was made by a hydration."""
        head = self.heads.get(branch)
        if not head:
            return False
        place = f"{head}:{METADATA}"
        return is_made_by_hydration(self.past_of(head, branch).commits[0], blobs_at(self.git, [place]).get(place))

    def is_noted(self, branch: str) -> bool:
        """Return True if the head of a branch has a note of a hydration."""
        head = self.heads.get(branch)
        return head is not None and is_ours(self.past_of(head, branch).commits[0].note)

    def metadata_of(self, commit: str) -> dict[str, bytes]:
        """Return the content of each `hydrator.metadata` of a commit by folder; the key of the root is empty."""
        return {"": b""} | metadata_below(self.git, entries_of(self.git, commit), root=True)

    def manifests_of(self, commit: str, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the manifests of a commit by output path, without missing files."""
        return manifests_of(self.git, entries_of(self.git, commit), paths)

    def owned(self, commit: str, scope: Scope) -> OwnedPaths:
        """Return the output paths of a commit by their owner."""
        metadata = self.metadata_of(commit)
        metadata.pop("", None)
        return examine(metadata, scope, self.writing.adopt)


def open_destination(
    repository: Repository,
    context: Context,
    writing: CommitRules,
    sign: str | None = None,
    rights: GitRights | None = None,
) -> Destination:
    """Open a destination repository. Its notes are fetched if they differ from the clone's; offline, the clone's notes
    are used.

    Args:
        repository: its bare clone, up to date with the remote.

    Raises:
        EnvironmentFault: the remote does not answer.
    """
    opened = Destination(repository, context, writing, sign, rights, _heads(repository))
    state = repository.state
    is_same = state is not None and state.notes.get(NOTES, "") == notes_head(opened.git)
    if writing.notes and not context.offline and not is_same:
        repository.fetch_ref(NOTES)
    return opened


def notes_head(git: Git) -> str:
    """Return the commit of the notes in a clone; empty if the clone has no notes."""
    return git.run(["rev-parse", "--verify", "--quiet", NOTES], check=False).text


def _heads(repository: Repository) -> dict[str, str]:
    return {name: sha for name, sha in repository.refs().branches.items() if name != "HEAD"}
