"""Commits of a local repository, laid out in a folder: the checkout, its index and its configuration stay untouched."""

from __future__ import annotations

from pathlib import Path

from commodore.argocd.trees.repository import DEFAULT_BRANCHES, ask
from commodore.argocd.trees.tree import Tree
from commodore.base.context import Context
from commodore.base.errors import InputError, did_you_mean
from commodore.base.printable import printable
from commodore.core.results.caches import tree_cache, usable
from commodore.core.sources.git import CommitTrees, check_out_tree


def repository_of(folder: Path, context: Context) -> tuple[Path, str]:
    """The repository that a folder is in, and the folder's path within it, empty for the root.

    Raises:
        InputError: CMD-ARGO-001, there is no such folder; CMD-ARGO-004, it is in no repository.
    """
    if not folder.is_dir():
        raise InputError("CMD-ARGO-001", f"there is no folder {folder}", hint="check the path")
    real = folder.resolve()
    top = ask(real, context, "rev-parse", "--show-toplevel")
    if top:
        inside = real.relative_to(Path(top).resolve()).as_posix()
        return Path(top).resolve(), "" if inside == "." else inside
    if ask(real, context, "rev-parse", "--is-bare-repository") == "true":
        return real, ""
    raise InputError(
        "CMD-ARGO-004",
        f"{folder} is in no git repository, so it has no revisions",
        hint="name a folder to compare with by --base-path",
    )


def resolve(repository: Path, revision: str, context: Context) -> str:
    """The commit of a revision: a branch, a tag, a commit or an expression such as `HEAD~1`.

    Raises:
        InputError: CMD-ARGO-003, there is none.
    """
    if not revision.startswith("-") and revision.isprintable():
        arguments = ("rev-parse", "--quiet", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        if found := ask(repository, context, *arguments):
            return found
    names = ask(repository, context, "for-each-ref", "--format=%(refname:short)", "--count=1000").split()
    raise InputError(
        "CMD-ARGO-003",
        f"{repository} has no revision {printable(revision[:80])!r}",
        hint=did_you_mean(revision, names) or "name a branch, a tag or a commit; `git fetch` brings those of a remote",
    )


def merge_base(repository: Path, revision: str, context: Context) -> tuple[str, str]:
    """Where a revision left the default branch of `origin`: that commit, and the name of the branch.

    Raises:
        InputError: CMD-ARGO-005, that cannot be told.
    """
    for name in DEFAULT_BRANCHES:
        if not ask(repository, context, "rev-parse", "--quiet", "--verify", name):
            continue
        if found := ask(repository, context, "merge-base", name, revision or "HEAD"):
            return found, name.removeprefix("refs/remotes/")
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
    """The files of a commit: in the cache, or laid out in a folder that is not there yet if nothing is to be kept.

    Args:
        name: what messages call the tree.

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
