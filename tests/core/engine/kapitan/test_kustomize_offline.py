"""Offline, kustomize gets remote bases from the cache alone: whatever their refs were the last time."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.core.engine.kapitan.test_kustomize_trace import commit, fill
from tests.core.engine.kapitan.test_kustomize_trace import remote as remote
from tests.core.engine.world import Kept, is_reused
from tests.world.repos import git


@pytest.mark.parametrize("ref", ["", "?ref=v1", "?ref=main", "?ref=COMMIT"])
def test_a_base_that_was_fetched(kept: Kept, tmp_path: Path, remote: Path, ref: str) -> None:
    """With an unchanged instance, and with one that has to be built again; the remote has moved on, and is gone."""
    ref = ref.replace("COMMIT", git(remote, "rev-parse", "HEAD"))
    world = fill(kept.world(tmp_path / "one"), f"file://{remote}{ref}")
    world.compile()
    first = world.read("app/out/all.yaml")
    commit(remote, "text: 2\n")
    git(remote, "tag", "-f", "v1")
    shutil.rmtree(remote)
    assert is_reused(world, offline=True)
    world.write("dependencies/app/over/new.yaml", "new: 1\n")
    (compiled,) = world.compile(offline=True)
    assert not compiled.reused
    assert world.read("app/out/all.yaml").replace("  new: 1\n", "") == first
