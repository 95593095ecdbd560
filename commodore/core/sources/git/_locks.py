"""Remove lock files and half-written objects that a killed git has left in a repository of this program.

Git removes its locks when it ends, and leaves them when it is killed; from then on it refuses to write the locked
files. A lock does not name its owner, and a user's git may hold one right now. So a mark is made before a git of this
program writes. The next run removes newer locks, unless a running git may hold them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from commodore.base.files.tree import lies_in
from commodore.base.files.workspace import guard_disk

_MARK = "commodore-writing"
_EVERYWHERE = (
    *("*.lock", "refs/**/*.lock", "objects/*.lock", "objects/info/**/*.lock", "objects/pack/*.lock"),
    "objects/pack/tmp_*",
)


@contextlib.contextmanager
def writing(git_dir: Path) -> Iterator[None]:
    """Mark that git writes in the repository with this administrative folder while the block runs.

    The mark stays if the block raises an error: git may have been killed, too. The next user of the repository in
    this working directory holds the workspace, and calls `clear_stale_locks` first.
    """
    with guard_disk(git_dir):
        (git_dir / _MARK).open("ab").close()  # an older mark keeps its time
    yield
    with guard_disk(git_dir):
        (git_dir / _MARK).unlink(missing_ok=True)


def clear_stale_locks(git_dir: Path, *, alone: bool = False) -> None:
    """Remove the locks and half-written objects of a git of an earlier run, if it did not end properly, and no git
    is running there.

    Args:
        alone: only this program writes in the repository, so that no mark is needed.
    """
    try:
        since = 0 if alone else (git_dir / _MARK).stat().st_mtime_ns
    except OSError:
        return
    with guard_disk(git_dir):
        locks = [path for pattern in _EVERYWHERE for path in git_dir.glob(pattern)]
        locks += _half_written(git_dir / "objects")
        if remove_locks(locks, since, [git_dir, *_working_copies(git_dir)]):
            (git_dir / _MARK).unlink(missing_ok=True)


def _half_written(objects: Path) -> Iterator[Path]:
    """Yield loose objects that are incomplete. Git leaves them even if it ends by SIGTERM, without any lock."""
    for group in os.listdir(objects) if objects.is_dir() else ():  # a worktree has none of its own
        if len(group) == 2 and (objects / group).is_dir():
            names = os.listdir(objects / group)
            yield from (objects / group / name for name in names if name.startswith("tmp_obj_"))


def _working_copies(git_dir: Path) -> Iterator[Path]:
    if git_dir.name == ".git":
        yield git_dir.parent
    for pointer in git_dir.glob("worktrees/*/gitdir"):
        with contextlib.suppress(OSError):
            yield (pointer.parent / os.fsdecode(pointer.read_bytes().rstrip(b"\n"))).parent


def remove_locks(locks: Iterable[Path], since: int, places: Iterable[Path]) -> bool:
    """Remove the locks made at or after a point in time, unless a running git may hold them.

    Args:
        since: nanoseconds since 1970, by the clock of the file system.
        places: the folders of the repository and its working copies.

    Returns:
        True if none of these locks is left.
    """
    stale = [path for path in locks if _time_of(path) >= since]
    if stale and _is_git_at_work([os.path.realpath(place) for place in places]):
        return False
    for path in stale:
        path.unlink(missing_ok=True)
    return True


def _time_of(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return -1


def _is_git_at_work(places: list[str]) -> bool:
    """Check if a process named git that this program did not start works in one of the folders. Returns False on
    systems other than Linux.

    Git processes of this program only read while locks are searched: they query remotes in the background.
    """
    try:
        processes = [entry for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return False
    for process in processes:
        with contextlib.suppress(OSError):
            if Path(f"/proc/{process}/comm").read_text().startswith("git"):
                folder = os.readlink(f"/proc/{process}/cwd")
                inside = lies_in(folder, *places)
                if inside and not _is_ours(int(process)):
                    return True
    return False


def _is_ours(process: int) -> bool:
    """Check if a process is this one or a descendant of it."""
    while process > 1:
        if process == os.getpid():
            return True
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return False
