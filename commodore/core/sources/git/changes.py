"""Local changes of a working copy that the remote lacks, and their backup before they are discarded."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from commodore.base.context import Context
from commodore.base.events import Warned
from commodore.base.files.staging import temporary_folder
from commodore.core.sources.git._worktree_files import linked_admin, read_state, rejoin
from commodore.core.sources.git.backups import keep_commits
from commodore.core.sources.git.identity import identity_environment
from commodore.core.sources.git.runner import Git

_SHOWN_COMMITS = 20


@dataclass(frozen=True, slots=True)
class LocalChanges:
    """Changes that only this working copy has.

    Attributes:
        modified: paths of tracked files that differ from HEAD, staged or not, sorted.
        untracked: paths that git does not know and does not ignore, sorted; folders end in `/`.
        unpushed: the newest commits of HEAD (full ids, at most 20) that no branch or tag of the remote contains.
        branch: the branch that is checked out; None for a detached HEAD.
        head: the commit HEAD is at; None in a repository without commits.
    """

    modified: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()
    unpushed: tuple[str, ...] = ()
    branch: str | None = None
    head: str | None = None

    @property
    def dirty(self) -> bool:
        """Check if moving to another commit would lose changes."""
        return bool(self.modified or self.unpushed)


def inspect(folder: Path, context: Context) -> LocalChanges:
    """Return the changes of a working copy (worktree or ordinary clone) that its remote lacks; none without a folder.

    Raises:
        EnvironmentFault: the folder is not a working copy, or it is damaged.
    """
    if not folder.exists():
        return LocalChanges()
    rejoin(folder)
    status = read_status(folder, context, untracked=True)
    admin = linked_admin(folder)
    known = read_state(admin) if admin is not None else None
    unpushed = unpushed_commits(folder, status.head, known, context)
    return LocalChanges(status.modified, status.untracked, unpushed, status.branch, status.head)


def read_status(folder: Path, context: Context, *, untracked: bool) -> LocalChanges:
    """Return `git status` as data, without unpushed commits. One git process; not even the index is written."""
    files = "normal" if untracked else "no"
    arguments = [
        "--no-optional-locks",
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--no-renames",
        f"--untracked-files={files}",
    ]
    answer = Git(folder, context).run([*arguments, "--ignore-submodules=all"])
    modified: list[str] = []
    unknown: list[str] = []
    branch = head = None
    for entry in answer.text.split("\0"):
        if entry.startswith("# branch.oid ") and not entry.endswith("(initial)"):
            head = entry.removeprefix("# branch.oid ")
        elif entry.startswith("# branch.head ") and not entry.endswith("(detached)"):
            branch = entry.removeprefix("# branch.head ")
        elif entry.startswith("1 "):
            modified.append(entry.split(" ", 8)[8])
        elif entry.startswith("u "):
            modified.append(entry.split(" ", 10)[10])
        elif entry.startswith("? "):
            unknown.append(entry[2:])
    return LocalChanges(tuple(sorted(modified)), tuple(sorted(unknown)), (), branch, head)


def unpushed_commits(folder: Path, head: str | None, known: str | None, context: Context) -> tuple[str, ...]:
    """Return the newest commits of `head` that neither the remote nor `known` (the last checked-out one) contains."""
    if head is None or head == known:
        return ()
    without = [] if known is None else [known]
    arguments = ["rev-list", f"--max-count={_SHOWN_COMMITS}", "--ignore-missing", head, "--not", *without]
    answer = Git(folder, context).run([*arguments, "--remotes", "--tags"])
    return tuple(answer.text.split())


def save(folder: Path, changes: LocalChanges, context: Context, *, leaving: Path | None = None) -> tuple[str, ...]:
    """Save modifications and unpushed commits under `refs/commodore/discarded`, and announce how to restore them.

    Args:
        leaving: the repository that has them, if the folder is about to belong to another one.

    Returns:
        The commits that hold the modified files, as they are on disk and as they are staged; empty without them.
    """
    kept: list[tuple[str, str]] = []
    snapshots: tuple[str, ...] = ()
    place = shlex.quote(str(leaving or folder))
    if changes.modified:
        files = _snapshot(folder, context)
        staged = Git(folder, context).run(["rev-parse", "--verify", f"{files}^2"]).text
        snapshots = files, staged
        [ref] = keep_commits(folder, [files], context)
        command = f"stash apply {ref}" if leaving is None else f"worktree add ../rescued {ref}"
        kept.append(("uncommitted changes", f"git -C {place} {command}"))
    if changes.unpushed and changes.head is not None:
        [ref] = keep_commits(folder, [changes.head], context)
        command = f"switch --create rescued {ref}" if leaving is None else f"worktree add ../rescued {ref}"
        kept.append(("unpushed commits", f"git -C {place} {command}"))
    for what, command in kept:
        context.announce(
            Warned(
                "CMD-GIT-045",
                f"saved the {what} of {folder} under refs/commodore/discarded before replacing them",
                hint=f"get them back: {command}",
            )
        )
    return snapshots


def _snapshot(folder: Path, context: Context) -> str:
    """Make a commit of the modified tracked files, in the form that `git stash apply` understands."""
    environment = identity_environment(folder, None, context)
    git = Git(folder, context)
    stash = git.run(["stash", "create"], environment=environment, check=False)
    if stash.returncode == 0 and stash.text:
        return stash.text
    # An unfinished merge cannot be stashed: make the two commits of a stash from the files on disk.
    with temporary_folder() as place:
        index = {**environment, "GIT_INDEX_FILE": f"{place}/index"}
        git.run(["read-tree", "HEAD"], environment=index)
        git.run(["add", "--update", "--", "."], environment=index)
        tree = git.run(["write-tree"], environment=index).text
        head = git.run(["rev-parse", "--verify", "HEAD"]).text
        make = ["commit-tree", "--no-gpg-sign", "-p", head]
        staged = git.run([*make, "-m", "index", f"{head}^{{tree}}"], environment=environment)
        files = [*make, "-p", staged.text, "-m", "local changes", tree]
        return git.run(files, environment=environment).text
