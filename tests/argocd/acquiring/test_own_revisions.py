"""The revisions of its repository that a tree replaces, and the origin of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.argocd import Diagnostics, Options, Search
from commodore.argocd.acquiring import RepoMap, Repositories
from commodore.argocd.discovery import SearchRoot
from commodore.argocd.operations.options import Tree as Looked
from commodore.argocd.operations.session import find_sides, open_session
from commodore.argocd.trees import SelfRevisions, Tree
from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from tests.world.repos import git

URL = "https://git.example.com/shop"
CONTEXT = Context(ignore, DEFAULT_LIMITS, offline=True)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of `feature`, with a changed file; `main` is the default branch, and `other` is on the remote."""
    folder = tmp_path_factory.mktemp("own") / "checkout"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", URL)
    for name in ("v1.0.0", "v1.1.0", "v2.0.0"):
        (folder / "file").write_text(name, encoding="utf-8")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", name)
        git(folder, "tag", name)
    git(folder, "update-ref", "refs/remotes/origin/main", "v2.0.0")
    git(folder, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    git(folder, "update-ref", "refs/remotes/origin/other", "v1.0.0")
    git(folder, "checkout", "-qb", "feature")
    (folder / "file").write_text("changed", encoding="utf-8")
    return folder


def content(root: SearchRoot, revision: str, scratch: Path, diagnostics: Diagnostics | None = None) -> str:
    """Return the content of the file at a revision."""
    _, own = root.own(CONTEXT)
    scratch.mkdir(exist_ok=True)
    repositories = Repositories(CONTEXT, RepoMap(), scratch, own, diagnostics or Diagnostics())
    return read(repositories.tree(URL, revision))


def read(tree: Tree) -> str:
    return (tree.root / "file").read_text(encoding="utf-8")


@pytest.mark.requirement("D36")
@pytest.mark.parametrize(
    ("revision", "branches", "declared"),
    [
        ("", "changed", "changed"),
        ("HEAD", "changed", "changed"),
        ("main", "changed", "changed"),
        ("refs/heads/feature", "changed", "changed"),
        ("other", "v1.0.0", "v1.0.0"),
        ("v1.0.0", "v1.0.0", "v1.0.0"),
        ("refs/tags/v1.1.0", "v1.1.0", "v1.1.0"),
        ("1.*", "v1.1.0", "v1.1.0"),
        ("v2.0.0", "v2.0.0", "changed"),
        ("commit", "v1.1.0", "v1.1.0"),
        ("short", "v1.1.0", "v1.1.0"),
    ],
)
def test_the_tree_or_the_local_repository(
    checkout: Path, tmp_path: Path, revision: str, branches: str, declared: str
) -> None:
    """The tree replaces branches by name; with `declared`, only its exact commit."""
    commit = git(checkout, "rev-parse", "v1.1.0")
    revision = {"commit": commit, "short": commit[:8]}.get(revision, revision)
    contents: dict[SelfRevisions, str] = {"branches": branches, "declared": declared, "all": "changed"}
    for mode, expected in contents.items():
        assert content(SearchRoot(checkout, Search(self_revisions=mode)), revision, tmp_path / mode) == expected
    assert content(SearchRoot(checkout, tree_urls=(URL,)), revision, tmp_path / "mapped") == "changed"


@pytest.mark.requirement("D36")
def test_which_revisions_are_the_tree_is_told(checkout: Path, tmp_path: Path) -> None:
    diagnostics = Diagnostics()
    for revision in ("", "HEAD", "main", "v1.0.0"):
        content(SearchRoot(checkout), revision, tmp_path, diagnostics)
    commit = git(checkout, "rev-parse", "HEAD")[:10]
    assert [(diagnostic.code, diagnostic.message) for diagnostic in diagnostics.collected()] == [
        (
            "CMD-ARGO-307",
            f"the revision 'main' of {URL} is read from the tree under analysis, which is at {commit}",
        )
    ]


def test_a_revision_that_is_not_in_the_local_repository(checkout: Path, tmp_path: Path) -> None:
    """It is fetched from the remote."""
    with pytest.raises(CommodoreError) as caught:
        content(SearchRoot(checkout), "v3.0.0", tmp_path)
    assert caught.value.code == "CMD-ARGO-310"
    assert "self-revisions: all" in caught.value.hint


@pytest.mark.parametrize("revisions", ["branches", "declared"])
def test_a_folder_in_no_repository_stands_for_all(tmp_path: Path, revisions: SelfRevisions) -> None:
    (tmp_path / "file").write_text("here", encoding="utf-8")
    root = SearchRoot(tmp_path, Search(self_url=(URL,), self_revisions=revisions))
    assert content(root, "v1.0.0", tmp_path / "scratch") == "here"


def test_without_a_default_branch_the_usual_ones_count(checkout: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--no-local", "--depth=1", "--branch=v1.0.0", str(checkout), str(clone))
    git(clone, "remote", "set-url", "origin", URL)
    named = [content(SearchRoot(clone), revision, tmp_path / "scratch") for revision in ("HEAD", "main", "master")]
    assert named == ["v1.0.0"] * 3


@pytest.mark.requirement("D36", "D60")
def test_the_branches_of_both_sides_are_either_tree(checkout: Path, tmp_path: Path) -> None:
    with open_session(Options(context=CONTEXT)) as session:
        sides = find_sides(session, *(Looked(checkout, revision) for revision in ("origin/other", "feature")))
        for number, side in enumerate(sides):
            scratch = tmp_path / f"scratch{number}"
            there = [content(side.at, revision, scratch) for revision in ("other", "feature", "main", "v1.1.0")]
            assert there == [*[(side.root / "file").read_text(encoding="utf-8")] * 3, "v1.1.0"]
