"""The next run removes leftovers of a killed git in a clone, but no files that another git may be writing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault
from commodore.core.sources.git import RepositoryStore, recover
from tests.world.context import make_context
from tests.world.folders import write_script
from tests.world.repos import GitWorld, git

NewRun = Callable[..., RepositoryStore]
HALVES = (
    *("objects/pack/tmp_pack_abc123", "objects/pack/tmp_idx_abc123", "objects/4b/tmp_obj_abc123"),
    "objects/maintenance.lock",
)


def test_objects_half_written(
    new_run: NewRun, world: GitWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a fetch that was killed go; an older one is not its."""
    remote = world.remote(files={"a": "1"})
    new_run().sync([(remote.url, "master")])
    clone = new_run().repository(remote.url).path
    foreign = clone / "objects" / "pack" / "tmp_pack_of_others"
    foreign.touch()
    os.utime(foreign, (1, 1))
    shim = tmp_path / "dying" / "git"
    makes = "; ".join(f"mkdir -p objects/4b; touch {half}" for half in HALVES)
    real = shutil.which("git")
    write_script(shim, f'case " $* " in *\' fetch \'*) {makes}; kill -9 $$;; esac\nexec {real} "$@"')
    new = remote.commit({"a": "2"})
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")
        with pytest.raises(EnvironmentFault):
            new_run().sync([(remote.url, "master")])
    assert all((clone / half).exists() for half in HALVES)
    store = new_run()
    store.sync([(remote.url, "master")])
    assert store.repository(remote.url).resolve("master").sha == new
    assert [half for half in HALVES if (clone / half).exists()] == []
    assert foreign.exists()


def test_objects_half_written_where_only_we_write(world: GitWorld, tmp_path: Path) -> None:
    """A git that is asked to end takes its locks along and leaves these."""
    clone = world.remote(files={"a": "1"}).clone(tmp_path / "clone")
    half = clone / ".git" / "objects" / "4b" / "tmp_obj_abc123"
    half.parent.mkdir(exist_ok=True)
    half.touch()
    recover(clone, make_context())
    assert half.exists()  # it may be somebody else's
    recover(clone, make_context(), alone=True)
    assert not half.exists()
    assert (clone / "a").read_text() == "1"


def test_a_worktree_has_no_objects_of_its_own(world: GitWorld, tmp_path: Path) -> None:
    clone = world.remote(files={"a": "1"}).clone(tmp_path / "clone")
    git(clone, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
    admin = clone / ".git" / "worktrees" / "tree"
    (admin / "commodore-writing").touch()
    (admin / "HEAD.lock").touch()
    recover(tmp_path / "tree", make_context())
    assert not (admin / "HEAD.lock").exists()
    assert (admin / "HEAD").exists()
