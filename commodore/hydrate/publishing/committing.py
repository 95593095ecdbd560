"""Commits on hydrated branches, and commits of notes, created in a bare clone without a working copy."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.events import Event, Warned
from commodore.base.printable import printable
from commodore.core.sources.git import Author, Git, identity_environment
from commodore.hydrate.branches import layout
from commodore.hydrate.branches.destination import Destination, notes_head
from commodore.hydrate.branches.edits import NO_EDITS, Edit
from commodore.hydrate.branches.files import FILE, Entry, contents_of, entries_of, manifests_of, metadata_below
from commodore.hydrate.branches.records import examine
from commodore.hydrate.model import CommitRequest, PathCounts, PathOutput
from commodore.hydrate.publishing.changes import Base, change_of, warn_of_paths

_KEPT = "refs/commodore/hydrate/"
_NEW_NOTES = "refs/notes/commodore-hydrate-building"
_UNSAFE = re.compile(r"[\x00-\x1f<>]")  # characters that end a name or an address for git


@dataclass(frozen=True, slots=True)
class Stamp:
    """The author and committer of a commit, and its dates.

    Attributes:
        author, committer: `Name <mail> SECONDS OFFSET`, as git writes it.
    """

    author: str
    committer: str


@dataclass(frozen=True, slots=True)
class BuiltCommit:
    """A commit that is ready to be pushed.

    Attributes:
        commit: the branch's new head; the old head without changes; empty without branch and changes.
        base: its parent; empty for a first commit.
        branches: the branches to push: the branch, and the deployed branch if it is new.
        counts: of the objects at the requested output paths.
        edited: output paths with kept edits of others, each with the last commit with its files as hydrated.
        warnings: announced while the commit was made.
    """

    commit: str
    base: str
    branches: Mapping[str, str] = field(default_factory=dict)
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    counts: Mapping[str, PathCounts] = field(default_factory=dict)
    edited: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[Warned, ...] = ()

    @property
    def is_new(self) -> bool:
        """Return True if a new commit was created."""
        return self.commit in self.branches.values() and self.commit != self.base


def stamp_of(git: Git, author: Author | None, date: str, *, dated_dry: bool) -> Stamp:
    """Return a stamp with the author date of a dry commit in UTC. The committer date is now, or equal to it if dated.

    Args:
        author: None for git's own identity.
        date: the author date of the dry commit, RFC 3339.
    """
    identity = identity_environment(git.folder, author, git.context)
    name, mail = (_UNSAFE.sub("", identity[f"GIT_AUTHOR_{key}"]) for key in ("NAME", "EMAIL"))
    authored = f"{name} <{mail}> {int(datetime.fromisoformat(date).timestamp())} +0000"
    return Stamp(authored, authored if dated_dry else _committer(git, identity))


def stamp_now(git: Git, author: Author | None) -> Stamp:
    """Return a stamp with the current time."""
    who = _committer(git, identity_environment(git.folder, author, git.context))
    return Stamp(who, who)


def _committer(git: Git, identity: Mapping[str, str]) -> str:
    return git.run(["var", "GIT_COMMITTER_IDENT"], environment=identity).text


def build(
    to: Destination,
    request: CommitRequest,
    heads: Mapping[str, str],
    stamp: Stamp,
    edits: Mapping[str, Edit] = NO_EDITS,
) -> BuiltCommit:
    """Create the requested commit on the head of its branch.

    Args:
        heads: the branches to build on; their commits may not be pushed yet.
        edits: files on the branch that others have changed since they were hydrated.

    Raises:
        CommodoreError: see `change_of`.
        PolicyError: CMD-HYD-007, git cannot write a file as requested.
        InputError: CMD-HYD-028, a manifest would be too large.
        EnvironmentFault: git fails; CMD-HYD-052, the commit cannot be signed.
    """
    warned: list[Warned] = []

    def announce(event: Event) -> None:
        if isinstance(event, Warned):
            warned.append(event)
        to.context.announce(event)

    git, head = to.git, heads.get(request.branch, "")
    parent = head or heads.get(request.sync_branch, "")
    entries = entries_of(git, parent)
    owned = examine(metadata_below(git, entries), request.scope, to.writing.adopt)
    warn_of_paths(owned, request, to.writing, announce)
    manifests = manifests_of(git, entries, [path.path for path in request.paths])
    counts = {path.path: layout.count_changes(manifests.get(path.path), path.objects) for path in request.paths}
    change = change_of(request, Base(entries, owned, counts, edits), to.writing, announce)
    branches: dict[str, str] = {}
    if request.sync_branch != request.branch and request.sync_branch not in heads:
        branches[request.sync_branch] = _begin(to, request, head, stamp)
        parent = parent or branches[request.sync_branch]
    commit = head
    if change.paths or change.removed:
        new = _files(to, request, change.paths, entries)
        gone = [f"{folder}/{name}" for folder in change.removed for name in owned.ours[folder]]
        commit = branches[request.branch] = _commit(to, request, parent, (new, gone), stamp)
        _check_written(git, commit, new, {path: entry for path, entry in entries.items() if path not in gone})
    elif parent and not head:
        commit = branches[request.branch] = parent
    paths = tuple(path.path for path in change.paths)
    return BuiltCommit(
        commit, parent, branches, paths, change.removed, owned.stale, counts, change.edited, tuple(warned)
    )


def commit_notes(git: Git, notes: Mapping[str, str], stamp: Stamp) -> str:
    """Create a commit of the notes ref with notes for commits (full ids) added, and return its id."""
    head = notes_head(git)
    if not notes:
        return head
    lines: list[str | bytes] = [f"reset {_NEW_NOTES}", f"commit {_NEW_NOTES}", f"committer {stamp.committer}"]
    lines += _data("Notes of hydrated commits\n")
    if head:
        lines.append(f"from {head}")
    for commit, text in sorted(notes.items()):
        lines += [f"N inline {commit}", *_data(text)]
    return _imported(git, lines, _NEW_NOTES)


def keep(git: Git, group: str, commit: str) -> str:
    """Keep a commit that could not be pushed, and return its ref."""
    ref = _KEPT + group
    git.run(["update-ref", ref, commit])
    return ref


def _files(
    to: Destination, request: CommitRequest, changed: Sequence[PathOutput], entries: Mapping[str, Entry]
) -> dict[str, bytes]:
    root = layout.root_data(request.scope.dry_url, request.commit)
    files = {layout.METADATA: layout.metadata(root)}
    most = to.context.limits.hydrate_manifest_bytes
    for item in changed:
        files |= layout.path_files(item, root)
        size = len(files[f"{item.path}/{layout.MANIFEST}"])
        if size > most:
            raise InputError(
                "CMD-HYD-028",
                f"{item.path}/{layout.MANIFEST} has {size} bytes, which is more than {most}",
                hint="hydrate fewer objects to one path",
            )
    old = contents_of(to.git, entries, [layout.ATTRIBUTES]).get(layout.ATTRIBUTES)
    lines = layout.attributes(old)
    if lines != old:
        files[layout.ATTRIBUTES] = lines
    return files


def _begin(to: Destination, request: CommitRequest, head: str, stamp: Stamp) -> str:
    """Create an empty first commit for the deployed branch, which promotion programs expect.

    Args:
        head: of the destination branch; if it began with an empty commit, that commit is reused.
    """
    empty = to.git.run(["hash-object", "-t", "tree", "-w", "--stdin"], input=b"").text
    if head:
        roots = to.git.run(["log", "--max-parents=0", "--first-parent", "--format=%H %T", head]).text.split("\n")
        for commit, tree in (line.split(" ") for line in roots if line):
            if tree == empty:
                return commit
    return _commit_tree(to, empty, "", f"Start of {request.sync_branch}\n", Stamp(stamp.author, stamp.author))


def _commit(
    to: Destination,
    request: CommitRequest,
    parent: str,
    change: tuple[Mapping[str, bytes], Sequence[str]],
    stamp: Stamp,
) -> str:
    """Create the commit of a change with new contents by path, and removed paths."""
    git, (new, gone) = to.git, change
    ref = f"{_KEPT}building-{request.group}-{time.monotonic_ns()}"
    message = f"{request.message}\n"
    lines: list[str | bytes] = [f"commit {ref}", f"author {stamp.author}", f"committer {stamp.committer}"]
    lines += _data(message)
    if parent:
        lines.append(f"from {parent}")
    lines += [f"D {_quoted(path)}" for path in gone]
    for path, content in sorted(new.items()):
        lines += [f"M {FILE} inline {_quoted(path)}", *_data(content)]
    commit = _imported(git, lines, ref)
    if to.sign is None:
        return commit
    return _commit_tree(to, git.run(["rev-parse", f"{commit}^{{tree}}"]).text, parent, message, stamp)


def _commit_tree(to: Destination, tree: str, parent: str, message: str, stamp: Stamp) -> str:
    sign = to.sign is not None
    arguments = ["commit-tree", tree, *(["-p", parent] if parent else []), *([f"-S{to.sign}"] if sign else [])]
    answer = to.git.run(
        arguments,
        input=message.encode("utf-8", "replace"),
        environment={**_identity("AUTHOR", stamp.author), **_identity("COMMITTER", stamp.committer)},
        check=not sign,
    )
    if sign and (answer.returncode != 0 or to.git.run(["verify-commit", answer.text], check=False).returncode != 0):
        raise EnvironmentFault(
            "CMD-HYD-052",
            f"the commit cannot be signed: {answer.stderr.strip().splitlines()[-1:] or 'it does not verify'}",
            hint="check git's user.signingKey and gpg.format, and gpg.ssh.allowedSignersFile for ssh",
        )
    return answer.text


def _imported(git: Git, lines: Sequence[str | bytes], ref: str) -> str:
    """Run `git fast-import` for a temporary ref, and return its commit."""
    stream = b"".join(
        (line.encode("utf-8", "surrogateescape") if isinstance(line, str) else line) + b"\n" for line in lines
    )
    arguments = ["fast-import", "--quiet", "--force", "--date-format=raw"]
    try:
        git.run(arguments, input=stream + b"done\n", settings=("core.ignoreCase=false",))
        return git.run(["rev-parse", "--verify", ref]).text
    finally:
        git.run(["update-ref", "-d", ref], check=False)


def _check_written(git: Git, commit: str, new: Mapping[str, bytes], others: Mapping[str, Entry]) -> None:
    """Check that the commit has exactly the requested files, as git has rules of its own about names.

    Args:
        others: the unchanged files of its base.
    """
    entries = entries_of(git, commit)
    wrong = [path for path in new if path not in entries or entries[path].mode != FILE]
    left = {path: entry for path, entry in entries.items() if path not in new}
    kept = {path: entry for path, entry in others.items() if path not in new}
    wrong += sorted(path for path in {*left, *kept} if left.get(path) != kept.get(path))
    if wrong or contents_of(git, entries, new) != dict(new):
        raise PolicyError(
            "CMD-HYD-007",
            f"git did not write {printable(wrong[0]) if wrong else 'the files'} as requested",
            hint="hydrate to a path without special characters",
        )


def _data(content: str | bytes) -> list[str | bytes]:
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return [f"data {len(raw)}", raw]


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _identity(who: str, stamp: str) -> dict[str, str]:
    name, _, rest = stamp.rpartition(" <")
    mail, _, date = rest.partition("> ")
    return {f"GIT_{who}_NAME": name, f"GIT_{who}_EMAIL": mail, f"GIT_{who}_DATE": date}
