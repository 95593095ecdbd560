"""The two trees of a comparison."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from commodore.argocd.comparing import Side
from commodore.argocd.operations.options import Options, Tree, compared
from commodore.argocd.operations.session import find_sides, open_session
from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from tests.world.repos import git

CONTEXT = Context(ignore, DEFAULT_LIMITS, offline=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the commits `one` (tag), `two` on `main`, and a changed file; `origin/main` is `one`."""
    folder = tmp_path / "checkout"
    (folder / "sub").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", "https://git.example.com/shop")
    for name in ("one", "two"):
        (folder / "sub" / "file").write_text(name, encoding="utf-8")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", name)
        git(folder, "tag", name)
    git(folder, "update-ref", "refs/remotes/origin/main", "one")
    (folder / "sub" / "file").write_text("three", encoding="utf-8")
    return folder


Sides = Callable[..., tuple[Side, Side]]


@pytest.fixture
def sides() -> Iterator[Sides]:
    """The sides of a comparison, which exist until the test ends."""
    with ExitStack() as open_:

        def sides_of(checkout: Path, /, revision: str = "", **base: Any) -> tuple[Side, Side]:
            session = open_.enter_context(open_session(Options(context=CONTEXT)))
            return find_sides(session, *compared(Tree(checkout, revision), **base))

        yield sides_of


def content(side: Side) -> str:
    return (side.root / "sub" / "file").read_text(encoding="utf-8")


@pytest.mark.requirement("D10", "D60")
@pytest.mark.parametrize(
    ("sought", "base", "target"),
    [
        ({}, "one", "three"),
        ({"base": "two"}, "two", "three"),
        ({"base": "one", "revision": "two"}, "one", "two"),
        ({"base": "one..two"}, "one", "two"),
        ({"base": "HEAD~1.."}, "one", "two"),
        ({"revision": "main"}, "one", "two"),
    ],
)
def test_revisions_and_the_folder(sides: Sides, checkout: Path, sought: dict[str, str], base: str, target: str) -> None:
    old, new = sides(checkout, **sought)
    assert (content(old), content(new)) == (base, target)
    assert old.commit == git(checkout, "rev-parse", base)
    assert new.at.search.self_url == ("https://git.example.com/shop",)
    assert (new.commit == "") == (target == "three")


@pytest.mark.requirement("D60")
def test_the_checkout_stays_as_it_is(sides: Sides, checkout: Path) -> None:
    (checkout / ".git" / "index.lock").touch()  # another git is at work
    before = {path: path.stat().st_mtime_ns for path in checkout.rglob("*")}
    sides(checkout, base="one..two")
    assert {path: path.stat().st_mtime_ns for path in checkout.rglob("*")} == before
    os.remove(checkout / ".git" / "index.lock")
    assert git(checkout, "status", "--short") == " M sub/file"


def test_a_folder_of_a_checkout_stays_selected(sides: Sides, checkout: Path) -> None:
    old, new = sides(checkout / "sub", base="one")
    assert (old.at.folder.name, new.at.folder.name, content(old), content(new)) == ("sub", "sub", "one", "three")
    assert new.root == checkout.resolve()


def test_two_folders(sides: Sides, tmp_path: Path, checkout: Path) -> None:
    (tmp_path / "other" / "sub").mkdir(parents=True)
    (tmp_path / "other" / "sub" / "file").write_text("other", encoding="utf-8")
    old, new = sides(checkout, folder=tmp_path / "other")
    assert (content(old), content(new)) == ("other", "three")
    assert old.at.search.self_url == new.at.search.self_url == ("https://git.example.com/shop",)


def test_a_bare_repository_has_revisions(sides: Sides, tmp_path: Path, checkout: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(checkout), "bare.git")
    old, new = sides(tmp_path / "bare.git", base="one", revision="two")
    assert (content(old), content(new)) == ("one", "two")


@pytest.mark.parametrize(
    ("sought", "code", "words"),
    [
        ({"base": "onee"}, "CMD-ARGO-003", "did you mean 'one'"),
        ({"base": "--upload-pack=x"}, "CMD-ARGO-003", "name a branch"),
        ({"base": "one..two", "revision": "two"}, "CMD-ARGO-023", "--base main"),
        ({"base": "one...two"}, "CMD-ARGO-023", "--base main"),
        ({"base": "one", "folder": Path()}, "CMD-ARGO-023", "--base main"),
    ],
)
def test_what_cannot_be_compared(sides: Sides, checkout: Path, sought: dict[str, str], code: str, words: str) -> None:
    with pytest.raises(CommodoreError) as caught:
        sides(checkout, **sought)
    assert caught.value.code == code
    assert words in (caught.value.hint or "")


def test_without_a_base(sides: Sides, tmp_path: Path, checkout: Path) -> None:
    (tmp_path / "plain").mkdir()
    for folder, code in ((tmp_path / "plain", "CMD-ARGO-004"), (tmp_path / "none", "CMD-ARGO-001")):
        with pytest.raises(CommodoreError) as caught:
            sides(folder)
        assert caught.value.code == code
    git(checkout, "update-ref", "-d", "refs/remotes/origin/main")
    with pytest.raises(CommodoreError) as caught:
        sides(checkout)
    assert caught.value.code == "CMD-ARGO-005"
    alone = git(checkout, "commit-tree", "-m", "alone", "HEAD^{tree}")
    git(checkout, "update-ref", "refs/remotes/origin/master", alone)
    with pytest.raises(CommodoreError, match="have no commit in common"):
        sides(checkout)


def test_a_commit_is_laid_out_as_it_is_checked_out(sides: Sides, checkout: Path) -> None:
    """Files that archives exclude are present, no placeholders are expanded, and links stay as they are."""
    (checkout / ".gitattributes").write_text("left export-ignore\nstamp export-subst\n", encoding="utf-8")
    (checkout / "left").write_text("left", encoding="utf-8")
    (checkout / "stamp").write_text("$Format:%H$", encoding="utf-8")
    (checkout / "out").symlink_to("/etc/passwd")
    git(checkout, "config", "core.splitIndex", "true")
    git(checkout, "config", "core.sparseCheckout", "true")
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "attributes")
    (checkout / ".git" / "info" / "sparse-checkout").write_text("sub/\n", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in checkout.rglob("*")}
    old, new = sides(checkout, base="two..HEAD")
    assert {path: path.stat().st_mtime_ns for path in checkout.rglob("*")} == before
    assert sorted(path.name for path in new.root.iterdir()) == [".gitattributes", "left", "out", "stamp", "sub"]
    assert ((new.root / "stamp").read_text(encoding="utf-8"), os.readlink(new.root / "out")) == (
        "$Format:%H$",
        "/etc/passwd",
    )
    assert [path.name for path in old.root.parent.iterdir() if path.name.startswith(".")] == []
