"""The two trees of a comparison: folders as they lie, and commits laid out for the time of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from commodore.argocd.discovery import remotes_of
from commodore.argocd.running import Named
from commodore.argocd.trees import commit_tree, merge_base, own_revisions, repository_of, resolve
from commodore.context import Context
from commodore.errors import UsageError


@dataclass(frozen=True, slots=True)
class Sought:
    """Which trees are compared.

    Attributes:
        named: the folder of the target, with the settings that count on both sides.
        revision: the target is this commit of the repository around the folder; empty for the folder as it lies.
        base: the revision to compare with, or `BASE..TARGET`; empty for where the target left the default branch.
        base_folder: a folder to compare with instead.
        base_repository: the repository that `base` is of; None for that of the target.
        base_version: the version of Argo CD that is followed on the side of the base, as `Named.version`.
    """

    named: Named
    revision: str = ""
    base: str = ""
    base_folder: Path | None = None
    base_repository: Path | None = None
    base_version: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """One tree.

    Attributes:
        shown: what people call it.
        commit: what is laid out; empty for a folder as it lies.
    """

    named: Named
    shown: str
    commit: str = ""

    @property
    def root(self) -> Path:
        """The root of the tree."""
        return self.named.tree.root if self.named.tree is not None else self.named.folder

    def as_dict(self) -> dict[str, str]:
        """JSON-ready data."""
        return {"kind": "commit" if self.commit else "folder", "name": self.shown, "commit": self.commit}


def find_sides(sought: Sought, scratch: Path, context: Context) -> tuple[Side, Side]:
    """The base and the target. Both stand for the same repositories: the remotes of either side.

    Args:
        scratch: a folder of this run, in which commits are laid out.

    Raises:
        UsageError: CMD-ARGO-023, the options name more than two trees.
        InputError: CMD-ARGO-001, 003, 004, 005, a tree is not there.
    """
    sought = _with_range(sought)
    target = find_side(sought.named, sought.revision, scratch / "target", context)
    named = replace(sought.named, version=sought.base_version)
    if sought.base_folder is not None:
        base = find_side(replace(named, folder=sought.base_folder), "", scratch / "base", context)
    elif sought.base:
        repository = sought.base_repository or named.folder
        base = find_side(replace(named, folder=repository), sought.base, scratch / "base", context)
    else:
        repository, _ = repository_of(sought.named.folder, context)
        commit, branch = merge_base(repository, sought.revision, context)
        base = find_side(named, commit, scratch / "base", context)
        base = replace(base, shown=f"{commit[:10]}, where it left {branch}")
    return pair_of(base, target)


def pair_of(base: Side, target: Side) -> tuple[Side, Side]:
    """Two sides that stand for the same repositories, at the same revisions: those of either."""
    urls = tuple(dict.fromkeys((*target.named.self_urls, *base.named.self_urls)))
    first, second = (_joined(one.named, other.named) for one, other in ((base, target), (target, base)))
    return replace(base, named=replace(first, self_urls=urls)), replace(target, named=replace(second, self_urls=urls))


def _joined(named: Named, other: Named) -> Named:
    tree = named.tree
    if tree is None or tree.stands is None or other.tree is None:
        return named
    return replace(named, tree=replace(tree, stands=tree.stands.joined(other.tree.stands)))


def _with_range(sought: Sought) -> Sought:
    first, dots, second = sought.base.partition("..")
    if sought.base and sought.base_folder is not None:
        raise _several("--base and --base-path both say what to compare with")
    if not dots:
        return sought
    if sought.revision:
        raise _several(f"--base {sought.base} and --ref both say what is compared")
    if second.startswith("."):
        raise _several(f"--base {sought.base} is no range of two dots")
    return replace(sought, base=first or "HEAD", revision=second or "HEAD")


def _several(message: str) -> UsageError:
    return UsageError("CMD-ARGO-023", message, hint="write --base main --ref feature, or --base main..feature")


_NAME = "the repository"
"""What messages call either tree: what both sides say is equal then."""


def find_side(named: Named, revision: str, place: Path, context: Context) -> Side:
    """One tree: the folder as it lies, or a commit of the repository around it.

    Args:
        revision: of that commit; empty for the folder.
        place: a folder that is not there yet, in which the commit is laid out.

    Raises:
        InputError: CMD-ARGO-001, 003, 004, the folder, the revision or the repository is not there.
    """
    if not revision:
        tree, _ = named.own(context)
        tree = replace(tree, name=_NAME)
        urls = (*named.self_urls, *remotes_of(tree.root, context))
        return Side(replace(named, tree=tree, self_urls=urls), str(named.folder))
    repository, inside = repository_of(named.folder, context)
    commit = resolve(repository, revision, context)
    shown = f"{revision} ({commit[:10]})" if not commit.startswith(revision) else commit[:10]
    tree = commit_tree(repository, commit, place, _NAME, context)
    tree = replace(tree, stands=own_revisions(repository, revision, named.self_revisions, context))
    urls = (*named.self_urls, *remotes_of(repository, context))
    return Side(replace(named, folder=tree.root / inside, tree=tree, self_urls=urls), shown, commit)
