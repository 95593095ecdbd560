"""Offline, dependencies come from the cache alone, as they were the last time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.core.engine.echo import Echo
from tests.core.engine.world import Kept, World, jsonnet
from tests.world.repos import GitWorld

MAIN = """
local kap = import 'lib/kapitan.libjsonnet';
{ out: { files: kap.dir_files_read('fetched'), web: kap.file_read('web/x.txt') } }
"""


@pytest.fixture
def server() -> Iterator[Echo]:
    with Echo() as echo:
        yield echo


@pytest.fixture
def world(kept: Kept, tmp_path: Path) -> World:
    return kept.world(tmp_path / "work")


def fill(world: World, *dependencies: dict[str, Any]) -> World:
    world.add("app", jsonnet("app/main.jsonnet"), kapitan={"dependencies": list(dependencies)})
    world.write("dependencies/app/main.jsonnet", MAIN)
    return world


@pytest.mark.parametrize("template", [MAIN, MAIN + " + { new: [] }"], ids=["as before", "changed"])
def test_what_was_fetched_is_there_without_network(world: World, server: Echo, tmp_path: Path, template: str) -> None:
    """With a valid result of the instance, and without one."""
    server.content = b"of a web server"
    remote = GitWorld(tmp_path).remote(files={"git.txt": "of a repository"})
    fill(
        world,
        {"type": "http", "source": f"{server.url}/x.txt", "output_path": "dependencies/web/x.txt"},
        {"type": "git", "source": remote.url, "output_path": "dependencies/fetched"},
    )
    world.compile()
    before = world.read("app/out.yaml")
    assert "of a web server" in before
    assert "of a repository" in before
    for folder in ("fetched", "web"):
        shutil.rmtree(world.root / "dependencies" / folder)
    remote.vanish()
    asked = list(server.asked)
    world.write("dependencies/app/main.jsonnet", template)
    (compiled,) = world.compile(offline=True)
    assert compiled.reused == (template == MAIN)
    assert world.read("app/out.yaml") == before
    assert server.asked == asked


def test_what_was_never_fetched_is_an_error(world: World, server: Echo) -> None:
    fill(world, {"type": "http", "source": f"{server.url}/x.txt", "output_path": "dependencies/web/x.txt"})
    error = world.fail_once(offline=True)
    assert (error.code, error.exit_code) == ("CMD-ENG-057", 3)
    assert "--offline" in error.hint
    assert server.asked == []
