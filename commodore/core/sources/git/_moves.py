"""Journal of moves of a working copy to another commit: noted before they begin, so that the next run completes them.

Git writes the files of a commit one by one: removed, recreated, filled. If it is killed, or the disk is full, half of
them are new, which looks like changes by a user. The note of a move names the commits whose files may be there. Git
inherits the lock on the note, so that it is held until the last process of the move has ended.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from commodore.base.errors import EnvironmentFault
from commodore.base.files.file_lock import HeldElsewhere, hold
from commodore.base.files.workspace import guard_disk, remove_unfinished, write_atomically
from commodore.base.limits import Limits
from commodore.base.values.commits import is_commit
from commodore.core.sources.git._worktree_files import read_worktree, write_state

_NOTE = "commodore-move"


@dataclass(frozen=True, slots=True)
class Move:
    """A working copy on its way to a commit. All commits are full object ids.

    Attributes:
        head: the commit HEAD is at before; None for a working copy that has no files yet.
        target: the commit it is at afterwards.
        branch: the branch it is on afterwards; None for a detached HEAD.
        known: other commits (or trees) whose files may be there before, and need not be kept.
    """

    head: str | None
    target: str
    branch: str | None = None
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OngoingMove:
    """A move in progress. `handle` is the open note, which git must inherit."""

    git_dir: Path
    handle: int

    def complete(self, target: str) -> None:
        """Note that the working copy is at the commit."""
        write_state(self.git_dir, target)
        self.call_off()

    def call_off(self) -> None:
        """Remove the note: nothing was changed, or the user has taken over."""
        with guard_disk(self.git_dir):
            (self.git_dir / _NOTE).unlink(missing_ok=True)


def git_dir_of(folder: Path) -> Path | None:
    """Return the administrative folder of a working copy; None if it is not a working copy, or a copied folder."""
    own = folder / ".git"
    if own.is_dir():
        return own
    files = read_worktree(folder)
    return None if files is None else files.admin


@contextlib.contextmanager
def moving(git_dir: Path, move: Move) -> Iterator[OngoingMove]:
    """Note a move for the duration of the block, which reports the result.

    Without `complete` or `call_off` the note stays, and the next run completes the move.
    """
    content = json.dumps(asdict(move), sort_keys=True).encode("ascii")
    # A new working copy is also recognized by its missing index.
    write_atomically(git_dir / _NOTE, content, durable=move.head is not None)
    with _held(git_dir, 0) as ongoing:
        yield ongoing


@contextlib.contextmanager
def interrupted(git_dir: Path, limits: Limits) -> Iterator[tuple[Move, OngoingMove] | None]:
    """Yield the move that an earlier run did not complete, once all its processes have ended; None without a move.

    Raises:
        EnvironmentFault: git still runs after the time limit of a command.
    """
    move = read_move(git_dir)
    if move is None:
        remove_unfinished(git_dir / _NOTE)
        yield None
        return
    with _held(git_dir, limits.git_timeout) as ongoing:
        yield move, ongoing


def read_move(git_dir: Path) -> Move | None:
    """Return the noted move, if any."""
    try:
        content = json.loads((git_dir / _NOTE).read_bytes())
        move = Move(content["head"], content["target"], content["branch"], tuple(content["known"]))
        names = [move.target, *move.known, *([] if move.head is None else [move.head])]
        return move if all(map(is_commit, names)) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def begun_at(git_dir: Path) -> int:
    """Return the time at which the move was noted, in nanoseconds since 1970."""
    with guard_disk(git_dir):
        return (git_dir / _NOTE).stat().st_mtime_ns


@contextlib.contextmanager
def _held(git_dir: Path, wait: float) -> Iterator[OngoingMove]:
    with guard_disk(git_dir):
        try:
            lock = hold(git_dir / _NOTE, wait=wait)
        except HeldElsewhere:
            raise still_at_work(git_dir / _NOTE) from None
    with lock:
        yield OngoingMove(git_dir, lock.handle)


def still_at_work(lock: Path) -> EnvironmentFault:
    """Return the error for a lock file that another git holds."""
    return EnvironmentFault(
        "CMD-GIT-048",
        f"another git process is running: it holds {lock}",
        hint="wait for it to end, and run again; if no such process exists, remove this file",
        locations=[str(lock)],
    )
