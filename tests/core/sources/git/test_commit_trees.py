"""Commits that are kept laid out."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.files.tree import files
from commodore.core.sources.git import CommitTrees
from tests.world.context import make_context
from tests.world.repos import GitWorld, git


@pytest.fixture
def repository(world: GitWorld) -> Path:
    return world.remote("shop", {"a/b.txt": "one\n", "run.sh": "#!/bin/sh\n"}).path


def store(root: Path, **limits: int) -> CommitTrees:
    context = make_context()
    return CommitTrees(root / "trees", replace(context, limits=replace(context.limits, **limits)))


def commit_of(repository: Path) -> str:
    return git(repository, "rev-parse", "master").strip()


def names(folder: Path) -> list[str]:
    return [name for name, _ in files(folder)]


def test_a_commit_is_laid_out_once(repository: Path, tmp_path: Path) -> None:
    commit = commit_of(repository)
    first = store(tmp_path).find(repository, commit)
    assert first is not None
    assert names(first.folder) == ["a/b.txt", "run.sh"]
    times = os.stat(first.folder / "run.sh")
    again = store(tmp_path).find(repository, commit)
    assert again is not None
    assert os.stat(again.folder / "run.sh") == times


@pytest.mark.parametrize("harm", ["changed", "added", "removed", "description"])
def test_one_that_is_damaged_is_laid_out_again(harm: str, repository: Path, tmp_path: Path) -> None:
    held = store(tmp_path).find(repository, commit_of(repository))
    assert held is not None
    folder, content = held.folder, held.folder / "a" / "b.txt"
    del held
    match harm:
        case "changed":
            content.write_text("two\n")
        case "added":
            content.with_name("c.txt").write_text("")
        case "removed":
            content.unlink()
        case _:
            (folder.parent / "about.json").write_text("{}")
    held = store(tmp_path).find(repository, commit_of(repository))
    assert held is not None
    assert (names(held.folder), content.read_text()) == (["a/b.txt", "run.sh"], "one\n")


def test_one_that_is_read_is_not_removed(repository: Path, tmp_path: Path) -> None:
    trees = store(tmp_path)
    held = trees.find(repository, commit_of(repository))
    assert held is not None
    (entry,) = trees.entries()
    assert not store(tmp_path).remove(entry.path)
    assert names(held.folder) == ["a/b.txt", "run.sh"]
    del held
    assert store(tmp_path).remove(entry.path)
    assert list(trees.entries()) == []


def test_the_newest_ones_are_kept(world: GitWorld, tmp_path: Path) -> None:
    trees = store(tmp_path, kept_trees=2)
    for number in range(4):
        repository = world.remote(f"r{number}", {"name": str(number)}).path
        held = trees.find(repository, commit_of(repository))
        assert held is not None
        for entry in trees.entries():
            os.utime(entry.path / "about.json", (entry.used - 10, entry.used - 10))
    assert sorted((entry.path / "content" / "name").read_text() for entry in trees.entries()) == ["2", "3"]


@pytest.mark.parametrize("limits", [{"cached_files": 2}, {"cached_bytes": 5}])
def test_one_that_is_too_large_is_not_kept(limits: dict[str, int], repository: Path, tmp_path: Path) -> None:
    assert store(tmp_path, **limits).find(repository, commit_of(repository)) is None
    assert names(tmp_path / "trees") == []


def test_a_disk_that_refuses(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "trees").write_text("")
    assert store(tmp_path).find(repository, commit_of(repository)) is None
