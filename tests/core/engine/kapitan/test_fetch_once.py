"""The wrapper of git for remote bases of kustomize."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import commodore
from tests.core.engine.kapitan.test_kustomize_trace import commit, git
from tests.core.engine.kapitan.test_kustomize_trace import remote as remote

FETCH_ONCE = Path(commodore.__file__).parent / "scripts" / "fetch-once"


@pytest.fixture
def work(tmp_path: Path, remote: Path) -> Path:
    """A folder with the repository `clone` that kustomize has made, and room for the cache and the log."""
    (tmp_path / "clone").mkdir()
    git(tmp_path / "clone", "init", "-q")
    git(tmp_path / "clone", "remote", "add", "origin", str(remote))
    return tmp_path


def run(work: Path, network: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The result of a git command of kustomize in `work/clone`."""
    words = ["sh", str(FETCH_ONCE), "git", str(work / "cache"), str(work / "log"), network, *arguments]
    return subprocess.run(words, cwd=work / "clone", capture_output=True, text=True)


def fetch(work: Path, ref: str, network: str) -> subprocess.CompletedProcess[str]:
    return run(work, network, "fetch", "-q", "--depth=1", "origin", ref)


def test_offline_nobody_is_asked(work: Path, remote: Path) -> None:
    """The remote is there, and is not asked."""
    refused = fetch(work, "v1", "offline")
    assert (refused.returncode, refused.stderr) == (128, "fatal: offline, and v1 was not fetched before\n")
    assert not (work / "log").exists()
    assert fetch(work, "v1", "online").returncode == 0
    git(remote, "tag", "v2")
    assert fetch(work, "v1", "offline").returncode == 0
    assert fetch(work, "v2", "offline").returncode == 128
    shutil.rmtree(next((work / "cache").glob("*.git")))
    assert fetch(work, "v1", "offline").returncode == 128


def test_what_is_damaged_is_replaced(work: Path, remote: Path) -> None:
    """Offline it is left alone: nobody could bring it again."""
    assert fetch(work, "v1", "online").returncode == 0
    (kept,) = (work / "cache").glob("*.git")
    shutil.rmtree(work / "clone/.git/objects")
    git(work / "clone", "init", "-q")
    for file in kept.glob("objects/??/*"):
        file.unlink()
    assert fetch(work, "v1", "offline").returncode == 128
    assert kept.is_dir()
    assert fetch(work, "v1", "online").returncode == 0
    remote.rename(work / "away")
    shutil.rmtree(work / "clone/.git/objects")
    git(work / "clone", "init", "-q")
    assert fetch(work, "v1", "offline").returncode == 0


def checked_out(work: Path) -> None:
    assert fetch(work, "main", "online").returncode == 0
    git(work / "clone", "checkout", "-q", "FETCH_HEAD")


def test_without_submodules_none_are_looked_for(work: Path) -> None:
    checked_out(work)
    answer = run(work, "online", "submodule", "update", "--no-such-option")
    assert (answer.returncode, answer.stderr) == (0, "")


def test_submodules_are_updated(work: Path, remote: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    commit(inner, "inner: 1\n")
    git(remote, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "inner")
    git(remote, "commit", "-q", "-m", "a submodule")
    checked_out(work)
    git(work / "clone", "config", "--global", "protocol.file.allow", "always")
    answer = run(work, "online", "submodule", "update", "--init", "--recursive")
    assert answer.returncode == 0, answer.stderr
    assert (work / "clone/inner/sub/file.yaml").read_text() == "inner: 1\n"


def test_a_submodule_that_nobody_describes_is_gits_error(work: Path, remote: Path) -> None:
    head = git(remote, "rev-parse", "HEAD")
    git(remote, "update-index", "--add", "--cacheinfo", f"160000,{head},lost")
    git(remote, "commit", "-q", "-m", "a submodule without an address")
    checked_out(work)
    assert "lost" in run(work, "online", "submodule", "update", "--init", "--recursive").stderr
