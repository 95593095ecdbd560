"""A working directory that was moved, renamed or copied: its checkouts find their clones again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.world.cluster import ClusterWorld
from tests.world.repos import git


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    made = ClusterWorld(tmp_path)
    made.component("app", data={"a": "1"})
    made.package("extra", {"common.yml": "parameters: {}\n"})
    result = made.compile()
    assert result.code == 0, result.stderr
    return made


def checkouts(work: Path) -> list[Path]:
    return sorted(pointer.parent for pointer in work.rglob(".git") if pointer.is_file())


def assert_joined(work: Path) -> None:
    """Git finds each checkout's clone in the same working directory, and the clone knows the checkout there."""
    result = checkouts(work)
    assert [item.name for item in result] == ["app", "pkg.extra", "global", "t-one"]
    for folder in result:
        assert git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir").startswith(f"{work}/")
        assert f"worktree {folder}\n" in git(folder, "worktree", "list", "--porcelain")


def move(world: ClusterWorld, name: str) -> Path:
    place = world.root / name
    place.parent.mkdir(exist_ok=True)
    world.work = world.work.rename(place)
    return place


def test_a_renamed_working_directory(world: ClusterWorld) -> None:
    work = move(world, "renamed")
    result = world.compile()
    assert result.code == 0, result.stderr
    assert_joined(work)
    work = move(world, "far/away")
    result = world.compile("--local")
    assert result.code == 0, result.stderr
    assert_joined(work)
    work = move(world, "third")
    world.remotes["app"].commit({"component/new.libsonnet": "{}"})
    assert world.compile().code == 0
    assert (work / "dependencies/app/component/new.libsonnet").is_file()
    assert_joined(work)


def test_changes_in_a_renamed_working_directory_are_seen(world: ClusterWorld) -> None:
    work = move(world, "renamed")
    edited = [work / "dependencies/app/class/defaults.yml", work / "inventory/classes/global/common.yml"]
    for file in edited:
        file.write_text(file.read_text() + "# mine\n")
    assert world.compile().code == 4
    assert world.run("-d", str(work), "catalog", "clean").code == 4
    assert all(file.read_text().endswith("# mine\n") for file in edited)


def test_a_component_of_a_renamed_working_directory_can_be_deleted(world: ClusterWorld) -> None:
    work = move(world, "renamed")
    result = world.run("-d", str(work), "component", "delete", "app", "--force")
    assert result.code == 0, result.stderr
    assert not (work / "dependencies/app").exists()
    assert world.compile().code == 0


def test_a_copied_working_directory_leaves_the_first_one_alone(world: ClusterWorld) -> None:
    first = world.work
    world.work = Path(shutil.copytree(first, world.root / "copy", symlinks=True))
    assert world.compile().code == 0
    assert_joined(world.work)
    assert_joined(first)
