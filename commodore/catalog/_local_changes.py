"""Find local changes in the catalog's working copy, and save them before they are replaced.

A run without a push leaves its output in the working copy, where it cannot be distinguished from manual edits. So every
run records its output (`refs/commodore/output`); files that differ from that and from HEAD are local changes.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path, PurePosixPath
from typing import Final

from commodore.base import events
from commodore.base.context import Context
from commodore.base.errors import PolicyError
from commodore.base.files.staging import temporary_folder
from commodore.core.sources.git import Git, disregard_attributes, identity_environment, inspect, normalize, recover
from commodore.core.sources.git.backups import OUTPUT, keep_commits

OWNED_FOLDERS: Final = ("manifests", "refs")
_INSTALLING: Final = ".git/commodore-installing"
_SHOWN: Final = 3


def is_owned(path: str) -> bool:
    """Check if a path of the catalog belongs to the compiler: all below `manifests/` and `refs/` but hidden entries."""
    first, *below = PurePosixPath(path).parts
    return first in OWNED_FOLDERS and not (below and below[0].startswith("."))


def differing_paths(folder: Path, old: str, new: str, context: Context) -> set[str]:
    """Return the paths of files that differ between two trees or commits."""
    arguments = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--end-of-options", old, new]
    answer = Git(folder, context).run(arguments)
    return set(filter(None, answer.text.split("\0")))


def commit_of(folder: Path, name: str, context: Context) -> str:
    """Return the commit of a ref, or an empty string."""
    arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    return Git(folder, context).run(arguments, check=False).text


def announce_output(folder: Path) -> None:
    """Mark that output is about to be written to the working copy, in case the run is killed before it is recorded."""
    if (folder / ".git").is_dir():
        (folder / _INSTALLING).touch()


def record_output(folder: Path, context: Context) -> None:
    """Record the files of the working copy as the output of this run."""
    Git(folder, context).run(["update-ref", OUTPUT, _snapshot(folder, context)])
    (folder / _INSTALLING).unlink(missing_ok=True)


def record_commit(folder: Path, sha: str, context: Context) -> None:
    """Record that the working copy has the files of this commit."""
    noted = folder / ".git" / OUTPUT
    if not noted.is_file() or noted.read_bytes() != f"{sha}\n".encode():
        Git(folder, context).run(["update-ref", OUTPUT, sha])


def keep_foreign(folder: Path, context: Context, *, url: str | None) -> None:
    """Save local changes of the working copy under `refs/commodore/discarded`, before they are overwritten.

    Args:
        folder: the clone; nothing is saved if it does not exist yet.
        url: the remote whose newest commit is about to replace everything; None in local mode, where only the
            compiler's own files are replaced.
        context: announces CMD-CAT-012 if changes were saved; for files of a killed run, only a note.

    Raises:
        PolicyError: CMD-CAT-015, the clone is of another repository and would be replaced with its saved changes;
            CMD-CAT-017, it contains another repository, which a commit cannot save.
    """
    if folder.is_symlink() or not (folder / ".git").is_dir():
        return
    disregard_attributes(folder)
    recover(folder, context, alone=True)
    snapshot, foreign = _foreign(folder, context)
    if url is None:
        foreign = {path for path in foreign if is_owned(path)}
    if not foreign:
        return
    if url is not None and _origin(folder, context) != normalize(url):
        raise PolicyError(
            "CMD-CAT-015",
            f"{folder} is a clone of another repository and has changes that exist nowhere else: {_list(foreign)}",
            hint="commit and push them, or remove the folder, then run again",
            locations=(str(folder),),
        )
    repositories = {path for path in foreign if (folder / path / ".git").exists()}
    if repositories:
        raise PolicyError(
            "CMD-CAT-017",
            f"{folder} contains another git repository: {_list(repositories)}",
            hint="move it elsewhere, then run again; the update would remove it",
            locations=(str(folder),),
        )
    head = commit_of(folder, "HEAD", context)
    environment = identity_environment(folder, None, context)
    arguments = ["commit-tree", "--no-gpg-sign", *(["-p", head] if head else []), "-m", "local changes", snapshot]
    commit = Git(folder, context).run(arguments, environment=environment).text
    [ref] = keep_commits(folder, [commit], context)
    if (folder / _INSTALLING).exists():
        context.announce(
            events.Noted(f"saved the files of an interrupted run in {folder} under {ref} before replacing them")
        )
        return
    context.announce(
        events.Warned(
            "CMD-CAT-012",
            f"{folder} had local changes; they were saved under refs/commodore/discarded and replaced: "
            f"{_list(foreign)}",
            f"get a file back: git -C {shlex.quote(str(folder))} restore --source={ref} -- FILE",
        )
    )


def find_work(folder: Path, context: Context) -> str:
    """Describe the changes that would be lost with the catalog's clone: local changes, and commits that the remote
    lacks.

    The initial commit without files of an empty remote is not a local change.

    Args:
        folder: the clone; it need not exist.

    Returns:
        a few paths and commits, to be shown; an empty string without changes.
    """
    if folder.is_symlink() or not (folder / ".git").is_dir():
        return ""
    disregard_attributes(folder)
    recover(folder, context, alone=True)
    _, foreign = _foreign(folder, context)
    empty = _empty_tree(folder, context)
    commits = {sha[:10] for sha in inspect(folder, context).unpushed if differing_paths(folder, empty, sha, context)}
    return _list(foreign | commits)


def _foreign(folder: Path, context: Context) -> tuple[str, set[str]]:
    """Return the tree of a clone's files, and the paths that differ from both HEAD and the last run's output."""
    arguments = ["status", "--porcelain", "-z", "--ignored", "--untracked-files=all", "--no-renames"]
    if not Git(folder, context).run(arguments).stdout:
        return "", set()
    snapshot, empty = _snapshot(folder, context), _empty_tree(folder, context)
    known = [commit_of(folder, "HEAD", context) or empty, _recorded(folder, context) or empty]
    return snapshot, set.intersection(*(differing_paths(folder, tree, snapshot, context) for tree in known))


def _snapshot(folder: Path, context: Context) -> str:
    """Write the tree of all files of the working copy, including ignored ones. The index is not changed."""
    with temporary_folder() as place:
        index = Path(place, "index")
        if (folder / ".git" / "index").is_file():
            shutil.copy2(folder / ".git" / "index", index)  # with its time, by which git trusts its entries
        environment = {"GIT_INDEX_FILE": str(index)}
        arguments = ["add", "--all", "--force", "--", "."]
        Git(folder, context).run(arguments, environment=environment)
        return Git(folder, context).run(["write-tree"], environment=environment).text


def _recorded(folder: Path, context: Context) -> str:
    arguments = ["rev-parse", "--verify", "--quiet", f"{OUTPUT}^{{tree}}"]
    return Git(folder, context).run(arguments, check=False).text


def _empty_tree(folder: Path, context: Context) -> str:
    return Git(folder, context).run(["hash-object", "-w", "-t", "tree", "--stdin"], input=b"").text


def _origin(folder: Path, context: Context) -> str:
    arguments = ["config", "--local", "--get", "remote.origin.url"]
    return Git(folder, context).run(arguments, check=False).text


def _list(paths: set[str]) -> str:
    names = [repr(path) for path in sorted(paths)[:_SHOWN]]
    return ", ".join(names) + (f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else "")
