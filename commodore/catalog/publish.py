"""The catalog repository: bring it up to date, install the new trees, stage, commit, push.

The steps in their order: `prepare` (or `open_local`), `install`, `stage`, then `publish` or `leave`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.base import events
from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.files.tree import files
from commodore.base.files.workspace import Workspace, guard_disk, make_folder, move_entry, write_atomically
from commodore.base.printable import some_of
from commodore.catalog._local_changes import (
    OWNED_FOLDERS,
    announce_output,
    commit_of,
    differing_paths,
    is_owned,
    keep_foreign,
    record_commit,
    record_output,
)
from commodore.catalog._same import files_of, holds
from commodore.core.review import ChangeSummary, DiffLine, DiffMode, FileDiff, describe
from commodore.core.sources.git import (
    Author,
    Entry,
    Git,
    PublishedClone,
    PushOutcome,
    RepositoryStore,
    commit,
    committed_files,
    push,
    stage_all,
    stage_exactly,
    staged_changes,
    unstage,
)


@dataclass(frozen=True, slots=True)
class CatalogChange:
    """The change of the catalog by a compile, and its state.

    Attributes:
        changed: whether anything is staged; with a diff mode that hides changes, `lines` may be empty nevertheless.
        files: the changes to show, file by file.
        summary: the numbers of added and deleted files, and so on.
        committed_sha: the new commit, if any.
        pushed: whether the remote has it.
        exact: whether it may only be pushed onto the commit that it was compared with.
        entries: the files in `manifests/` and `refs/` by path, as git stores them.
    """

    changed: bool
    files: tuple[FileDiff, ...]
    summary: ChangeSummary
    committed_sha: str | None = None
    pushed: bool = False
    exact: bool = False
    entries: Mapping[str, Entry] = field(default_factory=dict, repr=False, compare=False)

    @property
    def lines(self) -> tuple[DiffLine, ...]:
        """Return the lines of all files with their kinds, without indentation and colours."""
        return tuple(line for file in self.files for line in file.lines)


def prepare(workspace: Workspace, store: RepositoryStore, url: str, author: Author | None) -> PublishedClone:
    """Update `catalog/` to the newest commit of the remote's default branch; it is cloned if it is missing.

    Output of earlier runs is replaced. Local changes and unpushed commits are saved under `refs/commodore/discarded`.
    Another thread can stop it by closing the store.

    Raises:
        InputError: the URL is invalid.
        PolicyError: files in the folder would be lost.
        EnvironmentFault: the remote does not respond; or offline, and without a clone.
    """
    keep_foreign(workspace.catalog, store.context, url=url)
    with workspace.staging("clone") as staging:  # the next run removes leftovers of a killed one
        return store.working_clone(url, workspace.catalog, author=author, staging=staging)


def open_local(workspace: Workspace, context: Context) -> PublishedClone:
    """Open the catalog on disk, without network access; a missing repository is created.

    Local changes below `manifests/` and `refs/` are saved under `refs/commodore/discarded`.

    Raises:
        PolicyError: CMD-CAT-016, a link or file is in the folder's place.
    """
    folder = workspace.catalog
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise PolicyError(
            "CMD-CAT-016", f"{folder} is a link or file, not a folder", hint="move it away, then run again"
        )
    if not (folder / ".git").is_dir():
        with guard_disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
        Git(folder, context).run(["init", "--quiet", "--template=", "--initial-branch=master"])
    keep_foreign(folder, context, url=None)
    sha = commit_of(folder, "HEAD", context)
    branch = Git(folder, context).run(["symbolic-ref", "--quiet", "--short", "HEAD"], check=False)
    return PublishedClone(folder, "", branch.text, sha, empty=not sha)


def install(workspace: Workspace, manifests: Path, refs: Path) -> bool:
    """Replace `catalog/manifests` and `catalog/refs` by the new trees, by renames one right after the other.

    An unchanged tree is not replaced.

    Hidden entries of the old folders are kept, as in the published tool, except for stale ref files among them.

    Args:
        workspace: the workspace of the catalog.
        manifests: the new tree, which is moved; or the current one, if `assemble` found no change.
        refs: the new ref files. Both are on the workspace's file system.

    Returns:
        True if a tree was replaced.

    Raises:
        EnvironmentFault: the operating system refused; the old trees are in place.
    """
    trees = [(manifests, workspace.manifests)] if manifests != workspace.manifests else []
    if not _is_same(refs, workspace.refs):
        trees.append((refs, workspace.refs))
    if not trees:
        return False
    for new, place in trees:
        _carry_hidden(place, new, stale_refs=place == workspace.refs)
    # Replaced trees are moved out of the catalog: if this process is killed here, they are never staged.
    with workspace.staging("replaced") as replaced, guard_disk(workspace.catalog):
        make_folder(workspace.catalog, root=workspace.root)
        announce_output(workspace.catalog)
        _swap(trees, replaced, workspace.root)
    return True


def _is_same(new: Path, place: Path) -> bool:
    with guard_disk(new):
        return holds(place, files_of(new))


def _swap(trees: Sequence[tuple[Path, Path]], replaced: Path, root: Path) -> None:
    """Rename each new tree to its place, all or none; old trees are moved to the folder `replaced`."""
    undo: list[tuple[Path, Path]] = []
    try:
        for new, place in trees:
            if os.path.lexists(place):
                move_entry(place, replaced / place.name, root=root)
                undo.append((replaced / place.name, place))
            move_entry(new, place, root=root)
            undo.append((place, new))
    except (OSError, PolicyError):
        for now, before in reversed(undo):
            move_entry(now, before, root=root)
        raise


def stage(clone: PublishedClone, context: Context, mode: DiffMode = "plain") -> CatalogChange:
    """Stage everything and return the change against HEAD. Ignored files are skipped, except in the compiler's own
    folders, which are staged byte by byte.

    Args:
        clone: from `prepare` or `open_local`.
        mode: the display of modified files; it does not affect `changed`.

    Raises:
        PolicyError: a merge in the clone is unfinished.
        EnvironmentFault: git fails.
    """
    stage_all(clone.path, context)
    entries = stage_exactly(clone.path, OWNED_FOLDERS, is_owned, context)
    record_output(clone.path, context)
    changes = staged_changes(clone.path, context)
    files, summary = describe(clone.path, changes, context, mode)
    return CatalogChange(bool(changes), files, summary, entries=entries)


def add_files(clone: PublishedClone, files: Mapping[str, bytes], context: Context) -> None:
    """Write files to the root of a catalog, next to its trees, and stage them.

    Raises:
        EnvironmentFault: they cannot be written, or git fails.
    """
    for name, content in files.items():
        with guard_disk(clone.path / name):
            write_atomically(clone.path / name, content, root=clone.path)
    Git(clone.path, context).run(["--literal-pathspecs", "add", "--force", "--", *files])


def unchanged(clone: PublishedClone, context: Context) -> CatalogChange:
    """Return the change of a run that has installed nothing into the updated clone of `prepare`."""
    record_commit(clone.path, clone.sha, context)
    return CatalogChange(False, (), ChangeSummary())


def staged_tree(clone: PublishedClone, context: Context) -> str:
    """Return the id of the staged tree."""
    return Git(clone.path, context).run(["write-tree"]).text


def tree_digest(workspace: Workspace) -> str:
    """Return a digest of `manifests/` and `refs/`: the SHA-256 of a line `mode sha256 path` per file, sorted by path.

    It is the same on every machine. Modes are git's; the digest of a link is that of its target.

    Raises:
        EnvironmentFault: a file cannot be read.
    """
    lines = []
    with guard_disk(workspace.catalog):
        for folder in (workspace.manifests, workspace.refs):
            for name, path in files(folder, links=True) if folder.is_dir() else ():
                if path.is_symlink():
                    mode, content = "120000", os.fsencode(os.readlink(path))
                else:
                    mode = "100755" if path.stat().st_mode & stat.S_IXUSR else "100644"
                    content = path.read_bytes()
                lines.append(f"{mode} {hashlib.sha256(content).hexdigest()} {folder.name}/{name}\n")
    return hashlib.sha256("".join(sorted(lines, key=_path_of)).encode("utf-8", "surrogateescape")).hexdigest()


def _path_of(line: str) -> str:
    return line.split(" ", 2)[2]


def leave(clone: PublishedClone, context: Context) -> None:
    """Un-stage the changes of `stage` and keep the files, at the end of a run in local mode."""
    unstage(clone.path, context)


def publish(
    clone: PublishedClone,
    change: CatalogChange,
    message: str,
    context: Context,
    *,
    author: Author | None = None,
    before_push: Callable[[str], None] = lambda _: None,
) -> CatalogChange:
    """Commit the staged files and push, never by force. Without changes nothing happens.

    After a concurrent push, the new trees are committed again on top of it, if that reverts nothing of it. If there are
    no changes left to commit, the other commit is the result.

    Args:
        before_push: called with each commit before it is pushed, as the result of a push may stay unknown.

    Returns:
        the change, with the commit and the state of the push.

    Raises:
        PolicyError: CMD-CAT-025, another push has changed `manifests/` or `refs/`; if the change is `exact`, any file.
            CMD-CAT-026, the commit does not have the compiled files.
        EnvironmentFault: CMD-CAT-013, the push was refused or failed; CMD-CAT-014, the remote moved each time. The
            commit stays in the clone.
    """
    if not change.changed:
        return change
    base = clone.sha
    sha = _commit(clone, change, message, author, context)
    for attempt in range(context.limits.push_attempts):
        before_push(sha)
        if _push(clone, context) is PushOutcome.PUSHED:
            return replace(change, committed_sha=sha, pushed=True)
        if attempt + 1 == context.limits.push_attempts:
            break
        base, ours = commit_of(clone.path, f"refs/remotes/origin/{clone.branch}", context), base
        _refuse_to_revert(clone, ours, base, context, exact=change.exact)
        context.announce(events.Noted(f"{clone.url} has moved meanwhile; committing on top of it"))
        if not _stage_on_top(clone, ours, base, context):
            return replace(change, changed=False, committed_sha=base)
        sha = _commit(clone, change, message, author, context)
    raise EnvironmentFault(
        "CMD-CAT-014",
        f"the catalog {clone.url} was changed by other pushes before each of {context.limits.push_attempts} pushes",
        hint=f"the commit is kept in {clone.path}; run again when others are done",
        locations=(str(clone.path),),
    )


def _refuse_to_revert(clone: PublishedClone, base: str, remote: str, context: Context, *, exact: bool) -> None:
    """Raise an error if our commit on top of the commit `remote` would revert changes of others since `base`.

    Equal changes on both sides are not reverted.
    """
    different = set(filter(is_owned, differing_paths(clone.path, remote, "HEAD", context)))
    if different and (exact or not different.isdisjoint(differing_paths(clone.path, base, remote, context))):
        raise moved_meanwhile(clone, base, remote, context)


def moved_meanwhile(clone: PublishedClone, base: str, remote: str, context: Context) -> PolicyError:
    """Return the error for a catalog whose remote has another commit than the one that a change was compared with."""
    newest = Git(clone.path, context).run(["log", "-1", "--format=%h by %an: %s", "--end-of-options", remote]).text
    is_known = commit_of(clone.path, base, context) == base  # after a forced push it may be missing
    paths = sorted(differing_paths(clone.path, base, remote, context)) if is_known else []
    changed = f", in {some_of(paths)}" if paths else ""
    return PolicyError(
        "CMD-CAT-025",
        f"the catalog {clone.url} was changed by others since it was compared{changed} ({newest})",
        hint="nothing was pushed; run again to compare with their commit and see the changes that would be reverted",
        locations=[str(clone.path)],
    )


def _commit(clone: PublishedClone, change: CatalogChange, message: str, author: Author | None, context: Context) -> str:
    """Commit the staged files, and verify that the commit has exactly the compiled files, as only these are pushed."""
    sha = commit(clone.path, message, author, context)
    entries = committed_files(clone.path, sha, OWNED_FOLDERS, is_owned, context)
    if entries != change.entries:
        wrong = {path for path, _ in entries.items() ^ change.entries.items()}
        raise PolicyError(
            "CMD-CAT-026",
            f"the commit {sha[:10]} in {clone.path} does not have the compiled files: {some_of(sorted(wrong))}",
            hint="nothing was pushed; let no other program change the folder during a run, and run again",
            locations=[str(clone.path)],
        )
    return sha


def _push(clone: PublishedClone, context: Context) -> PushOutcome:
    try:
        return push(clone.path, clone.branch, context, url=clone.remote or None)
    except EnvironmentFault as error:
        retry = f"git -C {clone.path} push origin HEAD:{clone.branch}"
        raise EnvironmentFault(
            "CMD-CAT-013",
            f"the catalog was committed but not pushed: {error.message}",
            hint="; ".join(filter(None, (error.hint, f"the commit is kept: push it with '{retry}', or run again"))),
            locations=error.locations,
        ) from error


def _stage_on_top(clone: PublishedClone, base: str, remote: str, context: Context) -> bool:
    """Stage our trees on top of the commit `remote`, with changes of others in other files since `base`. Returns False
    if the remote has our trees already.
    """
    folder = clone.path
    ours = differing_paths(folder, base, "HEAD", context)
    theirs = differing_paths(folder, base, remote, context)
    taken = sorted(path for path in theirs - ours if not is_owned(path))
    Git(folder, context).run(["reset", "--quiet", "--soft", remote])
    if taken:
        arguments = ["--literal-pathspecs", "restore", "--quiet", "--source=HEAD", "--staged", "--worktree"]
        arguments += ["--pathspec-from-file=-", "--pathspec-file-nul"]
        paths = "\0".join(taken).encode("utf-8", "surrogateescape")
        Git(folder, context).run(arguments, input=paths)
    return bool(staged_changes(folder, context))


def _carry_hidden(old: Path, new: Path, *, stale_refs: bool) -> None:
    """Copy the hidden entries of a folder that the new one lacks; with `stale_refs`, without the ref files in them."""
    if old.is_symlink() or not old.is_dir():
        return
    with guard_disk(new):
        for entry in sorted(old.iterdir()):
            if not entry.name.startswith(".") or os.path.lexists(new / entry.name):
                continue
            inside = not entry.is_symlink() and entry.is_dir()
            for file in (path for _, path in files(entry, links=True)) if inside else (entry,):
                if file.is_symlink() or (file.is_file() and not (stale_refs and _is_ref_file(file))):
                    target = new / file.relative_to(old)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(file, target, follow_symlinks=False)


def _is_ref_file(file: Path) -> bool:
    lines = file.read_bytes().splitlines()
    return (
        lines[:1] != []
        and lines[0].startswith(b"data: ")
        and b"encoding: original" in lines
        and b"vault_params:" in lines
    )
