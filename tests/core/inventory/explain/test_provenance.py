"""The repositories of class files: worktrees of bare clones, ordinary clones, folders of nobody."""

from __future__ import annotations

from pathlib import Path

from commodore.base.events import Event
from commodore.core.inventory import Preview
from commodore.core.inventory.explain import Explaining, FileOrigin
from commodore.core.inventory.explain.provenance import OriginFinder
from tests.core.inventory.explain.hierarchies import write
from tests.world.context import make_context
from tests.world.repos import git


def repository(folder: Path) -> str:
    git(folder, "init", "--quiet")
    git(folder, "remote", "add", "origin", "https://user:secret@git.example.com/g/one.git?token=x")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "One")
    return git(folder, "rev-parse", "HEAD").strip()


def test_a_file_of_a_worktree(tmp_path: Path) -> None:
    """A checkout as dependencies have it, and a class that is a link into it. No credentials are shown."""
    clone = tmp_path / "clone"
    (clone / "class").mkdir(parents=True)
    (clone / "class" / "defaults.yml").write_text("parameters:\n  a: 1\n")
    commit = repository(clone)
    bare, checkout = tmp_path / "one.git", tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", "--bare", str(clone), str(bare))
    git(bare, "remote", "set-url", "origin", "https://user:secret@git.example.com/g/one.git")
    git(bare, "worktree", "add", "--quiet", "--detach", str(checkout))
    preview = write(tmp_path / "inventory", ["b: 1"])
    (tmp_path / "inventory" / "classes" / "c0.yml").unlink()
    (tmp_path / "inventory" / "classes" / "c0.yml").symlink_to(checkout / "class" / "defaults.yml")
    (source,) = [contribution.source for contribution in Explaining.of(preview, make_context()).explain(("a",)).chain]
    assert source.file == checkout / "class" / "defaults.yml"
    assert source.origin == FileOrigin("https://git.example.com/g/one.git", commit, "class/defaults.yml", False)


def test_changed_and_unknown_files(tmp_path: Path) -> None:
    for name in ("same", "changed"):
        (tmp_path / name).write_text("1")
    commit = repository(tmp_path)
    (tmp_path / "changed").write_text("2")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "file").write_text("3")
    provenance = OriginFinder(make_context())
    for name, changed in (("same", False), ("changed", True), ("new/file", True)):
        assert provenance.of(tmp_path / name) == FileOrigin("https://git.example.com/g/one.git", commit, name, changed)


def test_outside_of_any_repository(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1")
    assert OriginFinder(make_context()).of(tmp_path / "file") is None


def test_a_broken_repository_is_no_error(tmp_path: Path) -> None:
    collected: list[Event] = []
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    assert OriginFinder(make_context(announce=collected.append)).of(tmp_path / "file") is None
    assert "is unknown: " in str(collected)


def test_a_repository_without_commits_or_remote(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("1")
    assert OriginFinder(make_context()).of(tmp_path / "file") == FileOrigin("", "", "file", True)


def test_files_of_a_preview_are_the_users_own(tmp_path: Path) -> None:
    own = tmp_path / "own.yml"
    own.write_text("parameters:\n  a: 1\n")
    preview = write(tmp_path / "inventory", ["a: 1", "a: 2"])
    classes = tmp_path / "inventory" / "classes"
    shown = Preview(preview.inventory, "t", {classes / "c0.yml": own}, {classes / "c1.yml": "the fake facts"})
    first, second = [contribution.source for contribution in Explaining.of(shown, make_context()).explain(("a",)).chain]
    assert (first.file, first.line, first.generated) == (own, 2, "")
    assert second.generated == "the fake facts"
