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
    """What a compile changes in the catalog, and what became of it.

    Attributes:
        changed: whether anything is staged; with a diff mode that hides changes, `lines` may be empty nevertheless.
        files: the changes to show, file by file.
        summary: how many files were added, deleted and so on.
        committed_sha: the commit that was made, if any.
        pushed: whether the remote has it.
        exact: whether it may only be pushed onto the commit that it was compared with.
        entries: the files in `manifests/` and `refs/` by path, as git keeps them.
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
        """The changes of all files, without indentation and colours; each line knows what it is."""
        return tuple(line for file in self.files for line in file.lines)


def prepare(workspace: Workspace, store: RepositoryStore, url: str, author: Author | None) -> PublishedClone:
    """Bring `catalog/` to the newest commit of the remote's default branch; it is cloned only if it is not there.

    Output of earlier runs goes. Changes by others and unpushed commits are kept under `refs/commodore/discarded`.
    Another thread can end the talk with the remote by closing the store.

    Raises:
        InputError: the URL is not usable.
        PolicyError: something in the folder would be lost.
        EnvironmentFault: the remote does not answer; or offline, and there is no clone.
    """
    keep_foreign(workspace.catalog, store.context, url=url)
    with workspace.staging("clone") as staging:  # what a killed run leaves there is swept by the next one
        return store.working_clone(url, workspace.catalog, author=author, staging=staging)


def open_local(workspace: Workspace, context: Context) -> PublishedClone:
    """The catalog as it is on disk, without asking a remote; a folder that is no repository becomes one.

    Changes by others below `manifests/` and `refs/` are kept under `refs/commodore/discarded`.

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
    """Put the new trees in place of `catalog/manifests` and `catalog/refs` by renames, one right after the other.

    A tree that is the same as the one in its place stays away.

    Hidden entries of the old folders stay, as users know it, but for ref files among them, which are stale.

    Args:
        workspace: whose catalog it is.
        manifests: the new tree, which is moved away from there; or the one in place, if `assemble` found it to be same.
        refs: the new ref files. Both are on the workspace's file system.

    Returns:
        whether something was replaced.

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
    # Replaced trees go out of the catalog: if this process is killed here, nothing of them is ever staged.
    with workspace.staging("replaced") as replaced, guard_disk(workspace.catalog):
        make_folder(workspace.catalog, root=workspace.root)
        announce_output(workspace.catalog)
        _swap(trees, replaced, workspace.root)
    return True


def _is_same(new: Path, place: Path) -> bool:
    with guard_disk(new):
        return holds(place, files_of(new))


def _swap(trees: Sequence[tuple[Path, Path]], replaced: Path, root: Path) -> None:
    """Rename each new tree to its place, all or none; what was there goes to the folder `replaced`."""
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
    """Stage everything and tell what changed against HEAD. What git ignores is left out, but not in the folders that
    the compiler owns: these are staged as they are, byte by byte.

    Args:
        clone: from `prepare` or `open_local`.
        mode: how modified files are shown; it never decides about `changed`.

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
    """Put files into the root of a catalog, beside its trees, and stage them.

    Raises:
        EnvironmentFault: they cannot be written, or git fails.
    """
    for name, content in files.items():
        with guard_disk(clone.path / name):
            write_atomically(clone.path / name, content, root=clone.path)
    Git(clone.path, context).run(["--literal-pathspecs", "add", "--force", "--", *files])


def unchanged(clone: PublishedClone, context: Context) -> CatalogChange:
    """The change of a run that has installed nothing into the clone that `prepare` has brought to its newest commit."""
    record_commit(clone.path, clone.sha, context)
    return CatalogChange(False, (), ChangeSummary())


def staged_tree(clone: PublishedClone, context: Context) -> str:
    """The id of the tree that a commit would have now: that of what is staged."""
    return Git(clone.path, context).run(["write-tree"]).text


def tree_digest(workspace: Workspace) -> str:
    """What is in `manifests/` and `refs/`: the SHA-256 of a line `mode sha256 path` for each file, sorted by path.

    It is the same on every machine. Modes are git's; of a link, the digest is that of its target.

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
    """Un-stage what `stage` has staged and leave the files: the end of a run in local mode."""
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
    """Commit what is staged and push it, never by force. Without changes nothing happens.

    When there was another push meanwhile, the new trees are committed again on top of their commit, if that takes back
    nothing of it. If nothing is left to commit then, their commit is the outcome.

    Args:
        before_push: is given each commit before it is pushed: whether the push has arrived may never be known here.

    Returns:
        the change, with the commit and whether it was pushed.

    Raises:
        PolicyError: CMD-CAT-025, another push has changed `manifests/` or `refs/`; if the change is `exact`, anything.
            CMD-CAT-026, the commit does not hold what was compiled.
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
    """Raise if our commit on top of the commit `remote` would take back what others have changed since `base`.

    What they have changed to the same as we is no loss.
    """
    different = set(filter(is_owned, differing_paths(clone.path, remote, "HEAD", context)))
    if different and (exact or not different.isdisjoint(differing_paths(clone.path, base, remote, context))):
        raise moved_meanwhile(clone, base, remote, context)


def moved_meanwhile(clone: PublishedClone, base: str, remote: str, context: Context) -> PolicyError:
    """The error about a catalog whose remote is at another commit than the one that a change was compared with."""
    newest = Git(clone.path, context).run(["log", "-1", "--format=%h by %an: %s", "--end-of-options", remote]).text
    is_known = commit_of(clone.path, base, context) == base  # if their push was forced, it may not be
    paths = sorted(differing_paths(clone.path, base, remote, context)) if is_known else []
    changed = f", in {some_of(paths)}" if paths else ""
    return PolicyError(
        "CMD-CAT-025",
        f"the catalog {clone.url} was changed by others since it was compared{changed} ({newest})",
        hint="nothing was pushed; run again, which compares with their commit and shows what would be taken back",
        locations=[str(clone.path)],
    )


def _commit(clone: PublishedClone, change: CatalogChange, message: str, author: Author | None, context: Context) -> str:
    """Commit what is staged, and see that the commit has what was compiled: nothing else is pushed."""
    sha = commit(clone.path, message, author, context)
    entries = committed_files(clone.path, sha, OWNED_FOLDERS, is_owned, context)
    if entries != change.entries:
        wrong = {path for path, _ in entries.items() ^ change.entries.items()}
        raise PolicyError(
            "CMD-CAT-026",
            f"the commit {sha[:10]} in {clone.path} does not hold what was compiled: {some_of(sorted(wrong))}",
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
    """Stage our trees on top of the commit `remote`, with what others changed elsewhere since `base`. False if the
    remote has our trees already.
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
    """Copy the hidden entries of a folder that the new one has not; with `stale_refs`, not the ref files in them."""
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
