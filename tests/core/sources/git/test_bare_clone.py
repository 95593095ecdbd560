"""New clones: laid out from one empty repository, with the settings that git itself would have written."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.core.sources.git import Repository, RepositoryStore
from commodore.core.sources.git._empty_repository import Blueprint
from commodore.core.sources.git.ls_remote import RemoteQueries
from tests.world.cluster import ROOT
from tests.world.context import make_context
from tests.world.repos import GitCalls, GitWorld, git

KEYS = ("url", "pushurl", "fetch")


@pytest.mark.requirement("C25")
def repository_at(url: str, path: Path) -> Repository:
    context = make_context()
    return Repository(
        url, path, context, RemoteQueries(path.parent, context), blueprint=Blueprint(context), mirrors=None
    )


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.com/group/name.git",
        "https://me:p%23;s@git.example.com/name.git?a=b#c",
        'https://git.example.com/a"b/name.git',
        "ssh://git@git.example.com/na me.git",
        "/srv/a b/#name;.git",
        "git.example.com:x'y.git",
    ],
)
def test_settings_are_read_by_git_as_they_were_meant(tmp_path: Path, url: str, calls: GitCalls) -> None:
    """Values that the format of the file gives a meaning, too. What is written is not written again."""
    made = repository_at(url, tmp_path / "made.git")
    made.ensure()
    assert calls.verbs == ["init"]
    values = [git(made.path, "config", "--get-all", f"remote.origin.{key}", check=False) for key in KEYS]
    config = (made.path / "config").read_bytes()
    git(tmp_path, "init", "--quiet", "--bare", "--template=", "other.git")
    other = repository_at(url, tmp_path / "other.git")
    other.ensure()
    assert values == [git(other.path, "config", "--get-all", f"remote.origin.{key}", check=False) for key in KEYS]
    assert values[0] == made.display_url
    repository_at(url, made.path).ensure()
    assert (made.path / "config").read_bytes() == config


def test_all_clones_of_a_run_are_what_git_makes(
    store: RepositoryStore, world: GitWorld, tmp_path: Path, calls: GitCalls
) -> None:
    """One process makes the first; the others are the same."""
    remotes = [world.remote(f"r{number}", files={"a": "1"}) for number in range(3)]
    git(tmp_path, "config", "--global", "core.sharedRepository", "group")
    calls.forget()
    store.sync([(remote.url, "master") for remote in remotes])
    assert (calls.count("init"), calls.count("config"), calls.count("for-each-ref")) == (1, 0, 3)
    git(tmp_path, "init", "--quiet", "--bare", "--template=", "--initial-branch=master", "pattern.git")
    modes = {path: path.stat().st_mode for path in (tmp_path / "pattern.git").rglob("*")}
    pattern = {path.relative_to(tmp_path / "pattern.git") for path in (tmp_path / "pattern.git").rglob("*")}
    for remote in remotes:
        clone = store.repository(remote.url).path
        assert {path for path in pattern if not (clone / path).exists()} == set()
        for path, mode in modes.items():
            assert (clone / path.relative_to(tmp_path / "pattern.git")).stat().st_mode == mode
        assert (clone / "HEAD").read_text() == "ref: refs/heads/master\n"
        assert (clone / "config").read_bytes().startswith((tmp_path / "pattern.git" / "config").read_bytes())
        assert git(clone, "fsck", "--full") == ""


def test_a_fetch_makes_one_pack(store: RepositoryStore, world: GitWorld) -> None:
    """Also a small one: a pack can be linked, and costs less than files for single objects."""
    remote = world.remote(files={f"f{number}": str(number) for number in range(20)})
    store.sync([(remote.url, "master")])
    objects = store.repository(remote.url).path / "objects"
    assert sorted(path.suffix for path in objects.rglob("*") if path.is_file() and path.suffix != ".rev") == [
        ".idx",
        ".pack",
    ]


def test_what_a_killed_run_has_left_of_a_clone_goes(
    new_run: Callable[..., RepositoryStore], world: GitWorld, tmp_path: Path
) -> None:
    """The next run makes it in the same place."""
    remote = world.remote(files={"a": "1"})
    place = new_run().repository(remote.url).path
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom commodore.core.sources.git import RepositoryStore\n"
        "from tests.world.context import make_context\n"
        "os.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "RepositoryStore(Path(sys.argv[1]), make_context()).sync([(sys.argv[2], 'master')])"
    )
    folder = tmp_path / "work" / "dependencies" / ".repos"
    killed = subprocess.run([sys.executable, "-c", program, str(folder), remote.url], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [path.name for path in place.parent.iterdir()] != []
    store = new_run()
    store.sync([(remote.url, "master")])
    assert store.repository(remote.url).resolve("master").sha == remote.sha()
    assert list(place.parent.iterdir()) == [place]
