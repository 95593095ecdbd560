"""Commits of a local repository, written to a folder. The checkout, its index and its configuration stay unchanged."""

from __future__ import annotations

from pathlib import Path

from commodore.argocd.trees.repository import DEFAULT_BRANCHES, git_output
from commodore.argocd.trees.tree import Tree
from commodore.base.context import Context
from commodore.base.errors import InputError, did_you_mean
from commodore.base.printable import printable
from commodore.core.results.caches import tree_cache, usable
from commodore.core.sources.git import CommitTrees, check_out_tree


def repository_of(folder: Path, context: Context) -> tuple[Path, str]:
    """Return the repository of a folder, and the folder's path within it, empty for the root.

    Raises:
        InputError: CMD-ARGO-001, the folder does not exist; CMD-ARGO-004, it is not in a repository.
    """
    if not folder.is_dir():
        raise InputError("CMD-ARGO-001", f"there is no folder {folder}", hint="check the path")
    real = folder.resolve()
    top = git_output(real, context, "rev-parse", "--show-toplevel")
    if top:
        inside = real.relative_to(Path(top).resolve()).as_posix()
        return Path(top).resolve(), "" if inside == "." else inside
    if git_output(real, context, "rev-parse", "--is-bare-repository") == "true":
        return real, ""
    raise InputError(
        "CMD-ARGO-004",
        f"{folder} is in no git repository, so it has no revisions",
        hint="name a folder to compare with by --base-path",
    )


def resolve(repository: Path, revision: str, context: Context) -> str:
    """Return the commit of a revision: a branch, a tag, a commit or an expression such as `HEAD~1`.

    Raises:
        InputError: CMD-ARGO-003, the revision does not exist.
    """
    if not revision.startswith("-") and revision.isprintable():
        arguments = ("rev-parse", "--quiet", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        if commit := git_output(repository, context, *arguments):
            return commit
    names = git_output(repository, context, "for-each-ref", "--format=%(refname:short)", "--count=1000").split()
    raise InputError(
        "CMD-ARGO-003",
        f"{repository} has no revision {printable(revision[:80])!r}",
        hint=did_you_mean(revision, names) or "name a branch, a tag or a commit; `git fetch` brings those of a remote",
    )


def merge_base(repository: Path, revision: str, context: Context) -> tuple[str, str]:
    """Return the merge base of a revision and the default branch of `origin`, and the name of the branch.

    Raises:
        InputError: CMD-ARGO-005, no default branch, or no common commit.
    """
    for name in DEFAULT_BRANCHES:
        if not git_output(repository, context, "rev-parse", "--quiet", "--verify", name):
            continue
        if commit := git_output(repository, context, "merge-base", name, revision or "HEAD"):
            return commit, name.removeprefix("refs/remotes/")
        raise InputError(
            "CMD-ARGO-005",
            f"{revision or 'HEAD'} and {name.removeprefix('refs/remotes/')} have no commit in common",
            hint="in a shallow clone run `git fetch --unshallow`; or name a revision by --base",
        )
    raise InputError(
        "CMD-ARGO-005",
        f"{repository} has no default branch of a remote origin to compare with",
        hint="name a revision by --base, or a folder by --base-path",
    )


def commit_tree(repository: Path, commit: str, folder: Path, name: str, context: Context) -> Tree:
    """Check out the files of a commit: in the cache, or in a new folder if nothing is to be cached.

    Args:
        name: name of the tree in messages.

    Raises:
        PolicyError: CMD-CACHE-005, the cache belongs to another user.
        EnvironmentFault: git fails.
    """
    if context.limits.result_bytes:
        held = CommitTrees(usable(tree_cache()), context).find(repository, commit)
        if held is not None:
            return Tree(held.folder.resolve(), commit, name, held)
    check_out_tree(repository, commit, folder, context)
    return Tree(folder.resolve(), commit, name)
