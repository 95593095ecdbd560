"""State of a working copy, read from its files without starting git."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from commodore.base.files.workspace import Workspace, guard_disk, is_inside, remove_tree, write_atomically
from commodore.base.values.commits import is_commit
from commodore.core.sources.git._empty_repository import is_plain

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
_NEW = "initializing"  # git's reason for locking a worktree while it is being made
_STATE = "commodore"  # the note's file in a worktree's administrative folder
_DEPTH = 3  # of checkouts in a working directory: `inventory/classes/NAME`


@dataclass(frozen=True, slots=True)
class WorktreeFiles:
    """A linked worktree: its folder, its administrative folder, and the bare clone that holds the latter.

    `sha` is the commit HEAD is detached at, `branch` the branch it is on; either of them can be None.
    """

    folder: Path
    admin: Path
    common: Path
    sha: str | None
    branch: str | None


def linked_admin(folder: Path) -> Path | None:
    """Return the administrative folder that a worktree's `.git` file names, existing or not; None without the file."""
    pointer = _read(folder / ".git")
    if pointer is None or not pointer.startswith("gitdir: "):
        return None
    return (folder / pointer.removeprefix("gitdir: ")).absolute()


def read_worktree(folder: Path) -> WorktreeFiles | None:
    """Read a linked worktree's files; None if the folder is not a worktree, or its bare clone is not at its path."""
    admin = linked_admin(folder)
    if admin is None:
        return None
    common, head, back = _read(admin / "commondir"), _read(admin / "HEAD"), _read(admin / "gitdir")
    if common is None or head is None or back is None or (admin / back).resolve() != (folder / ".git").resolve():
        return None
    branch = head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else None
    sha = head if is_commit(head) else None
    return WorktreeFiles(folder, admin, (admin / common).resolve(), sha, branch)


def link_worktree(bare: Path, folder: Path, sha: str) -> bool:
    """Make `folder`, which is empty or not there, a worktree detached at a commit, without its files.

    The result is that of `git worktree add --no-checkout`, without its three processes. Only one worktree of a
    repository is made at a time.

    Returns:
        False if git must do it: the clone knows the folder already, or has an unusual format.

    Raises:
        EnvironmentFault: the disk refused.
    """
    name = folder.name
    if not (_PLAIN_NAME.fullmatch(name) and is_commit(sha) and is_plain(bare)) or name.endswith(".lock"):
        return False
    with guard_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        pointer = f"{folder.resolve()}/.git"
        entries = bare.resolve() / "worktrees"
        if any(_read(entry / "gitdir") == pointer for entry in entries.glob("*")):
            return False
        entries.mkdir(exist_ok=True)
        # Git leaves a locked worktree alone; otherwise it would remove one whose folder has no `.git` yet.
        content = {"locked": _NEW, "gitdir": pointer, "commondir": "../..", "HEAD": sha}
        fresh = bare.resolve() / f"commodore-new-{name}"
        remove_tree(fresh)  # left by a killed run
        fresh.mkdir()
        for file, text in content.items():
            (fresh / file).write_bytes(os.fsencode(f"{text}\n"))
        admin = _move_numbered(fresh, entries, name)
        write_atomically(folder / ".git", os.fsencode(f"gitdir: {admin}\n"))
        unlock_new(admin)
    return True


def unlock_new(admin: Path) -> None:
    """Unlock a complete worktree: remove the lock of its creation, not one that a user has set."""
    if _read(admin / "locked") == _NEW:
        with guard_disk(admin):
            (admin / "locked").unlink()


def _move_numbered(fresh: Path, parent: Path, name: str) -> Path:
    """Move a folder to this name, with the first free number if the name is taken. Returns the new path."""
    number = 0
    while os.path.lexists(folder := parent / f"{name}{number or ''}"):
        number += 1
    return fresh.rename(folder)


def users_of_branch(bare: Path, branch: str) -> int:
    """Return the number of worktrees of a bare clone that have `branch` checked out, without removed folders."""
    count = 0
    for entry in (bare / "worktrees").glob("*"):
        back = _read(entry / "gitdir")
        if back is not None and (entry / back).exists():
            count += _read(entry / "HEAD") == f"ref: refs/heads/{branch}"
    return count


def relink(folder: Path, root: Path) -> bool:
    """Repair the links between a worktree and its bare clone after both, or the folder alone, were moved or copied.

    Args:
        folder: the worktree, whose `.git` file names a path that is gone or belongs to another folder.
        root: the folder of all bare clones; only clones in it are considered.

    Returns:
        True if the two are linked now. They are not if another folder is the clone's worktree of that name.
    """
    named = linked_admin(folder)
    if named is None or named.parent.name != "worktrees" or root.name not in named.parts:
        return False
    cut = len(named.parts) - 1 - named.parts[::-1].index(root.name)
    admin = root.joinpath(*named.parts[cut + 1 :])
    back = _read(admin / "gitdir")
    if back is None or not (admin / "HEAD").is_file() or not is_inside(admin, root):
        return False
    other = (admin / back).parent
    owner = linked_admin(other)
    if other.resolve() != folder.resolve() and owner is not None and owner.resolve() == admin.resolve():
        return False
    write_atomically(admin / "gitdir", os.fsencode(f"{folder.absolute()}/.git\n"))
    write_atomically(folder / ".git", os.fsencode(f"gitdir: {admin.absolute()}\n"))
    return True


def rejoin(folder: Path) -> None:
    """Repair the link of a worktree to its bare clone if the working directory was moved, renamed or copied.

    Nothing else is changed: neither a worktree of a clone elsewhere nor any other folder.
    """
    named = linked_admin(folder)
    if named is None:
        return
    for above in Path(os.path.realpath(folder)).parents[:_DEPTH]:
        root = Workspace(above).repositories
        if named.is_relative_to(root):
            return
        if root.is_dir():
            relink(folder, root)
            return


def read_state(admin: Path) -> str | None:
    """Return the commit that this program checked out last in a worktree, if it is noted."""
    state = _read(admin / _STATE)
    return state if state is not None and is_commit(state) else None


def write_state(admin: Path, sha: str) -> None:
    """Note the commit that was checked out."""
    write_atomically(admin / _STATE, f"{sha}\n".encode())


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").rstrip("\n")
    except OSError:
        return None
