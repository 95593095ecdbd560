"""Offline, kustomize gets remote bases from the cache alone: whatever their refs were the last time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import commodore
from tests.engine.reuse.test_kustomize import commit, fill, git, is_reused
from tests.engine.reuse.test_kustomize import remote as remote
from tests.engine.world import Kept

FETCH_ONCE = Path(commodore.__file__).parent / "scripts" / "fetch-once"


@pytest.mark.parametrize("ref", ["", "?ref=v1", "?ref=main", "?ref=COMMIT"])
def test_a_base_that_was_fetched(kept: Kept, tmp_path: Path, remote: Path, ref: str) -> None:
    """Whether its instance is as it was, or has to be built again; the remote has moved on, and is gone."""
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


def fetch(work: Path, ref: str, network: str) -> subprocess.CompletedProcess[str]:
    """What `fetch-once` answers to kustomize in the folder `work/clone`."""
    words = ["sh", str(FETCH_ONCE), "git", str(work / "cache"), str(work / "log"), network]
    return subprocess.run(
        [*words, "fetch", "-q", "--depth=1", "origin", ref], cwd=work / "clone", capture_output=True, text=True
    )


def test_a_base_that_was_never_fetched(tmp_path: Path, remote: Path) -> None:
    """The remote is there, and is not asked."""
    (tmp_path / "clone").mkdir()
    git(tmp_path / "clone", "init", "-q")
    git(tmp_path / "clone", "remote", "add", "origin", str(remote))
    refused = fetch(tmp_path, "v1", "offline")
    assert (refused.returncode, refused.stderr) == (128, "fatal: offline, and v1 was not fetched before\n")
    assert not (tmp_path / "log").exists()
    assert fetch(tmp_path, "v1", "online").returncode == 0
    git(remote, "tag", "v2")
    assert fetch(tmp_path, "v1", "offline").returncode == 0
    assert fetch(tmp_path, "v2", "offline").returncode == 128
    shutil.rmtree(next((tmp_path / "cache").glob("*.git")))
    assert fetch(tmp_path, "v1", "offline").returncode == 128


def test_what_is_damaged_is_replaced(tmp_path: Path, remote: Path) -> None:
    """Offline it is left alone: nobody could bring it again."""
    (tmp_path / "clone").mkdir()
    git(tmp_path / "clone", "init", "-q")
    git(tmp_path / "clone", "remote", "add", "origin", str(remote))
    assert fetch(tmp_path, "v1", "online").returncode == 0
    (kept,) = (tmp_path / "cache").glob("*.git")
    shutil.rmtree(tmp_path / "clone/.git/objects")
    git(tmp_path / "clone", "init", "-q")
    for file in kept.glob("objects/??/*"):
        file.unlink()
    assert fetch(tmp_path, "v1", "offline").returncode == 128
    assert kept.is_dir()
    assert fetch(tmp_path, "v1", "online").returncode == 0
    remote.rename(tmp_path / "away")
    shutil.rmtree(tmp_path / "clone/.git/objects")
    git(tmp_path / "clone", "init", "-q")
    assert fetch(tmp_path, "v1", "offline").returncode == 0
