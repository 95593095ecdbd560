"""Working copies of dependencies: detached worktrees of the bare clones.

Changes of a user are never lost: a checkout that would lose them is refused; with `force` they are first saved under
`refs/commodore/discarded`. Untracked files are never removed.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, PolicyError, raise_all
from commodore.base.events import Noted
from commodore.base.files.workspace import guard_disk, remove_tree
from commodore.base.printable import some_of
from commodore.core.sources.git._clean_note import WorktreeSnapshot
from commodore.core.sources.git._locks import writing
from commodore.core.sources.git._moves import Move, OngoingMove, moving
from commodore.core.sources.git._recovery import recover
from commodore.core.sources.git._refs import Revision
from commodore.core.sources.git._worktree_files import (
    WorktreeFiles,
    link_worktree,
    linked_admin,
    read_state,
    read_worktree,
    rejoin,
    relink,
    users_of_branch,
)
from commodore.core.sources.git.changes import LocalChanges, inspect, read_status, save, unpushed_commits
from commodore.core.sources.git.repository import Repository
from commodore.core.sources.git.runner import Git, GitResult, fault
from commodore.core.sources.git.urls import redact


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working copy at a version. `url` is the remote's, without credentials; `sha` is the commit of HEAD."""

    path: Path
    url: str
    version: str
    sha: str


def check_out(repository: Repository, folder: Path, revision: Revision, *, force: bool = False) -> Checkout:
    """Make `folder` a worktree of the whole repository at a revision, regardless of its current content.

    A worktree that is on the requested branch without local changes is fast-forwarded and stays on it; any other is
    detached at the commit. An ordinary clone, or a worktree of another repository, is replaced if nothing in it would
    be lost. An up-to-date worktree needs at most one git process, and none if its files have not changed since git last
    reported no changes in them.

    Args:
        force: discard changes and unpushed commits; they are saved and announced with the command to restore them.

    Raises:
        PolicyError: changes would be lost; nothing was changed.
        EnvironmentFault: git or the disk failed.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise _in_the_way(folder, "a link or file")
    _remove_old(repository, folder)
    files = read_worktree(folder)
    if files is None and linked_admin(folder) is not None:
        files = _find_again(repository, folder)
    if files is not None:
        files = _recovered(repository, files)
        if files.common == repository.path.resolve():
            _move(repository, files, revision, force)
        else:
            _switch(repository, files, revision, force)
    elif (folder / ".git").is_dir():
        _migrate(repository, folder, revision)
    elif folder.is_dir() and not _is_unused(folder):
        raise _in_the_way(folder, "a folder that is not a git working copy")
    else:
        _add(repository, folder, revision)
    return Checkout(folder, repository.display_url, revision.version, revision.sha)


def _add(repository: Repository, folder: Path, revision: Revision) -> None:
    with guard_disk(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    arguments = ["worktree", "add", "--force", "--force", "--detach", "--no-checkout", "--", str(folder), revision.sha]
    # Git reads all worktrees of the repository when it makes one, and fails on a half-made one.
    with repository.lock:
        if not link_worktree(repository.path, folder, revision.sha):
            repository.git.run(arguments)
    files = read_worktree(folder)
    if files is None:
        raise EnvironmentFault("CMD-GIT-002", f"git made no worktree at {folder}", hint="run again")
    with moving(files.admin, Move(None, revision.sha)) as ongoing:
        _git(repository, folder, "reset", "--quiet", "--hard", ongoing=ongoing)
        ongoing.complete(revision.sha)
    _record_written(repository, folder)


def _recovered(repository: Repository, files: WorktreeFiles) -> WorktreeFiles:
    """Complete an interrupted move of a worktree, and return the worktree."""
    recover(files.folder, repository.context)
    return read_worktree(files.folder) or files


def _move(repository: Repository, files: WorktreeFiles, revision: Revision, force: bool) -> None:
    folder, state = files.folder, read_state(files.admin)
    status = _status(repository, files)
    unpushed: tuple[str, ...] = ()
    if status.head not in (revision.sha, state) and status.head not in repository.refs().tips:
        unpushed = unpushed_commits(folder, status.head, state, repository.context)
        if unpushed and repository.catch_up():  # they may have been pushed since
            unpushed = unpushed_commits(folder, status.head, state, repository.context)
    changes = LocalChanges(status.modified, (), unpushed, status.branch, status.head)
    kept: tuple[str, ...] = ()
    if changes.dirty:
        if not force:
            raise_all(_losses(folder, changes))
        with writing(files.admin):
            kept = save(folder, changes, repository.context)
    if changes.modified or changes.head != revision.sha:
        move = Move(changes.head, revision.sha, _followed(repository, folder, changes, revision), kept)
        with moving(files.admin, move) as ongoing:
            _make(repository, folder, changes, ongoing, move)


def _status(repository: Repository, files: WorktreeFiles) -> LocalChanges:
    snapshot = WorktreeSnapshot(files, repository.context.limits)
    if snapshot.known_clean:
        return LocalChanges(head=files.sha)
    status = read_status(files.folder, repository.context, untracked=False)
    if not status.modified and status.head == files.sha:
        snapshot.note_clean()
    return status


def _followed(repository: Repository, folder: Path, changes: LocalChanges, revision: Revision) -> str | None:
    """Return the branch to fast-forward with HEAD: the requested one, if only this worktree is on it, all pushed."""
    follows = revision.kind == "branch" and changes.branch == revision.version and not changes.unpushed
    if follows and users_of_branch(repository.path, revision.version) == 1:
        ahead = _git(repository, folder, "merge-base", "--is-ancestor", "HEAD", revision.sha, check=False)
        if ahead.returncode == 0:
            return revision.version
    return None


def _make(repository: Repository, folder: Path, changes: LocalChanges, ongoing: OngoingMove, move: Move) -> None:
    """Move HEAD and the files of a worktree; modifications were saved before."""
    if changes.modified:
        _git(repository, folder, "reset", "--quiet", "--hard", ongoing=ongoing)
    if changes.head != move.target:
        how = ["checkout", "--quiet", "--detach"] if move.branch is None else ["merge", "--quiet", "--ff-only"]
        answer = _git(repository, folder, *how, move.target, check=False, ongoing=ongoing)
        if answer.failed:
            error = _refused(folder, answer)
            if isinstance(error, PolicyError):  # git has checked before it began
                ongoing.call_off()
            raise error
    ongoing.complete(move.target)
    _record_written(repository, folder)


def _record_written(repository: Repository, folder: Path) -> None:
    files = read_worktree(folder)
    if files is not None:
        repository.has_written(WorktreeSnapshot(files, repository.context.limits))


def _switch(repository: Repository, files: WorktreeFiles, revision: Revision, force: bool) -> None:
    """Replace a worktree of another repository."""
    folder = files.folder
    changes = inspect(folder, repository.context)
    if changes.untracked:
        raise PolicyError(
            "CMD-GIT-044",
            f"{folder} belongs to another repository and has untracked files: {some_of(changes.untracked)}",
            hint="move these files away, then run again",
            locations=[str(folder)],
        )
    if changes.dirty:
        if not force:
            raise_all(_losses(folder, changes))
        save(folder, changes, repository.context, leaving=files.common)
    repository.context.announce(
        Noted(f"{folder} was a worktree of {files.common}; it becomes one of {repository.path}")
    )
    with guard_disk(folder):
        folder.rename(_place_for_old(repository, folder))
    remove_tree(files.admin)
    _add(repository, folder, revision)
    _remove_old(repository, folder)


def _migrate(repository: Repository, folder: Path, revision: Revision) -> None:
    """Replace an ordinary clone if it holds nothing that the bare clone lacks."""
    recover(folder, repository.context)
    reasons = _only_here(repository, folder)
    if reasons:
        raise PolicyError(
            "CMD-GIT-043",
            f"{folder} is an ordinary clone, and making it a worktree would lose {'; '.join(reasons)}",
            hint="push or move away what you need, remove the folder, then run again",
            locations=[str(folder)],
        )
    repository.context.announce(Noted(f"{folder} was an ordinary clone; it becomes a worktree of {repository.path}"))
    with guard_disk(folder):
        old = folder.rename(_place_for_old(repository, folder))
    try:
        _add(repository, folder, revision)
    except BaseException:
        remove_tree(folder)
        old.rename(folder)
        raise
    _remove_old(repository, folder)


def _place_for_old(repository: Repository, folder: Path) -> Path:
    """Return the path to which the former content of a worktree's folder is moved before its removal."""
    name = hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:12]
    return repository.path / f"commodore-old-{name}"


def _remove_old(repository: Repository, folder: Path) -> None:
    """Remove the former content of a worktree's folder, also that of a killed run."""
    remove_tree(_place_for_old(repository, folder))


def _is_unused(folder: Path) -> bool:
    """Check if a folder is empty, or holds only temporary files of a run killed before its first file was complete.

    These files are removed.
    """
    with guard_disk(folder):
        names = os.listdir(folder)
        if not all(_UNFINISHED.fullmatch(name) for name in names):
            return False
        for name in names:
            (folder / name).unlink()
    return True


_UNFINISHED = re.compile(r"\.\.git-[a-z0-9_]{8}")


def _only_here(repository: Repository, folder: Path) -> list[str]:
    """Return descriptions of the contents of an ordinary clone that the bare clone lacks."""
    status = read_status(folder, repository.context, untracked=True)
    reasons = []
    if status.modified:
        reasons.append(f"changes in {some_of(status.modified)}")
    if status.untracked:
        reasons.append(f"the untracked files {some_of(status.untracked)}")
    if any((folder / ".git" / part).is_dir() for part in ("worktrees", "modules")):
        reasons.append("its own worktrees or submodules")
    answer = Git(folder, repository.context).run(["for-each-ref", "--format=%(refname) %(objectname)"])
    tips = dict(line.split(" ") for line in answer.text.splitlines() if not line.startswith("refs/remotes/"))
    if status.head is not None:
        tips["HEAD"] = status.head
    pushed = _pushed(repository, sorted(set(tips.values())))
    lost = sorted(name for name, sha in tips.items() if sha not in pushed)
    if lost:
        reasons.append(f"commits of {some_of(tuple(lost))} that the remote lacks")
    return reasons


def _pushed(repository: Repository, shas: list[str]) -> set[str]:
    """Return the objects that a branch or tag of the remote contains."""
    known = repository.refs()
    pushed = set(shas) & (known.tips | set(known.tags.values()))
    for sha in shas:
        if sha not in pushed and repository.has_commits([sha]):
            arguments = ["rev-list", "--max-count=1", sha, "--not", "--remotes=origin", "--tags"]
            if not repository.git.run(arguments).text:
                pushed.add(sha)
    return pushed


def _find_again(repository: Repository, folder: Path) -> WorktreeFiles:
    """Repair a moved or copied worktree whose bare clone is not at the path of its `.git` file, or links elsewhere."""
    root = repository.path.parents[len(repository.key.split("/")) - 1]
    files = read_worktree(folder) if relink(folder, root) else None
    if files is None:
        raise PolicyError(
            "CMD-GIT-047",
            f"{folder} is a git worktree whose clone is gone, so its changes cannot be determined",
            hint="move away what you need from the folder, remove it, and run again",
            locations=[str(folder)],
        )
    return files


def _losses(folder: Path, changes: LocalChanges) -> list[CommodoreError]:
    errors: list[CommodoreError] = []
    if changes.modified:
        errors.append(
            PolicyError(
                "CMD-GIT-040",
                f"{folder} has uncommitted changes: {some_of(changes.modified)}",
                hint="commit and push them; or use --force, which saves them in the clone and discards them",
                locations=[str(folder)],
            )
        )
    if changes.unpushed:
        place = f"on the branch {changes.branch}" if changes.branch else "on a detached HEAD"
        errors.append(
            PolicyError(
                "CMD-GIT-041",
                f"{folder} has commits {place} that the remote lacks: "
                + some_of(tuple(sha[:10] for sha in changes.unpushed)),
                hint="push them; or use --force, which saves them in the clone and discards them",
                locations=[str(folder)],
            )
        )
    return errors


def _refused(folder: Path, answer: GitResult) -> CommodoreError:
    lines = answer.stderr.splitlines()
    start = next((number for number, line in enumerate(lines) if "untracked working tree files" in line), None)
    if start is None:
        return fault(["checkout"], answer, folder)
    names = [line.strip() for line in lines[start + 1 :]]
    stop = next((number for number, line in enumerate(names) if line.startswith("Please ")), len(names))
    return PolicyError(
        "CMD-GIT-046",
        f"checking out the requested version in {folder} would overwrite untracked files: "
        f"{some_of(tuple(names[:stop]))}",
        hint="move these files away, then run again",
        locations=[str(folder)],
    )


def _in_the_way(folder: Path, what: str) -> PolicyError:
    return PolicyError(
        "CMD-GIT-042",
        f"{what} is in the way of the working copy {folder}",
        hint="move it away, then run again",
        locations=[str(folder)],
    )


def _git(
    repository: Repository, folder: Path, *arguments: str, check: bool = True, ongoing: OngoingMove | None = None
) -> GitResult:
    inherit = () if ongoing is None else (ongoing.handle,)
    return Git(folder, repository.context).run(arguments, check=check, inherit=inherit)


def open_checkout(folder: Path, context: Context, *, url: str, version: str) -> Checkout:
    """Describe the checkout in `folder`, which need not be a working copy (then `sha` is empty).

    An interrupted move is completed. The caller holds the workspace.

    Args:
        url: the URL of its remote.
        version: the requested version.
    """
    recover(folder, context)
    answer = Git(folder, context).run(["rev-parse", "--verify", "--quiet", "HEAD"], check=False)
    return Checkout(folder, redact(url), version, answer.text if answer.returncode == 0 else "")


def find_root(folder: Path, context: Context) -> Path | None:
    """Return the root of the working copy that contains `folder`; None outside of any (a bare repository has none).

    Raises:
        PolicyError: CMD-GIT-058, the repository's own configuration makes another folder its working copy.
    """
    rejoin(folder)
    answer = Git(folder, context).run(["rev-parse", "--show-toplevel"], check=False)
    if answer.returncode != 0 or not answer.text:
        return None
    root, place = Path(answer.text).resolve(), folder.resolve()
    if root != next((above for above in (place, *place.parents) if _holds_repository(above / ".git")), None):
        raise PolicyError(
            "CMD-GIT-058",
            f"the configuration of the repository at {folder} makes {root} its working copy",
            hint="remove the setting 'core.worktree'; or work in the folder that it names",
            locations=[str(folder)],
        )
    return root


def _holds_repository(place: Path) -> bool:
    return place.is_file() or (os.path.lexists(place / "HEAD") and (place / "objects").is_dir())
