"""Redirects of git's web servers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError, PolicyError
from commodore.core.confinement import TrustPolicy
from commodore.core.sources.git import Git, RepositoryStore
from tests.world.context import make_context
from tests.world.git_server import GitServer
from tests.world.repos import GitCalls, GitWorld, Remote


@pytest.fixture
def remote(world: GitWorld) -> Remote:
    return world.remote("new", files={"a": "1"})


@pytest.fixture
def server(remote: Remote) -> Iterator[GitServer]:
    with GitServer(remote.path.parent, password="secret") as server:
        server.moved["/old.git"] = "/new.git"
        yield server


@pytest.mark.parametrize("way", ["moved", "moved twice", "with credentials", "to another name"])
def test_a_repository_that_has_moved(tmp_path: Path, server: GitServer, remote: Remote, way: str) -> None:
    url = f"{server.site}/old.git"
    if way == "moved twice":
        server.moved["/old.git"] = f"{server.site}/older.git"
        server.moved["/older.git"] = "/new.git"
    elif way == "with credentials":
        url = url.replace("://", "://jo:secret@")
    elif way == "to another name":
        server.moved["/old.git"] = f"http://localhost:{server.port}/new.git"
    with RepositoryStore(tmp_path / "repos", make_context()) as store:
        store.sync([(url, None)])
        assert store.repository(url).resolve("master").sha == remote.sha()
        pushed = store.repository(url).push([], ["refs/remotes/origin/master:refs/heads/other"])
    assert pushed.failed is (way != "with credentials")
    config = (store.repository(url).path / "config").read_text()
    assert "old.git" in config
    assert "new.git" not in config


@pytest.mark.parametrize("before", ["ssh://git@git.example.com/", "https://git.example.com/", ""])
def test_a_moved_repository_whose_url_the_user_replaces(
    tmp_path: Path, server: GitServer, remote: Remote, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    """As in pipelines: `insteadOf` gives every URL of a forge credentials."""
    own, before = server.site.replace("://", "://jo:secret@"), before or f"{server.site}/"
    config = tmp_path / "gitconfig"
    config.write_text(f'[url "{own}/"]\n\tinsteadOf = {before}\n', encoding="utf-8")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    context = make_context()
    with RepositoryStore(tmp_path / "repos", context) as store:
        store.sync([(f"{before}old.git", None)])
        assert store.repository(f"{before}old.git").resolve("master").sha == remote.sha()
        assert not store.repository(f"{before}old.git").push([], ["refs/remotes/origin/master:refs/heads/other"]).failed
    variables = Git(tmp_path, context).variables(f"{before}old.git")
    assert variables["GIT_CONFIG_KEY_1"] == f"url.{server.site}/new.git.insteadOf"
    assert variables["GIT_CONFIG_VALUE_1"] == f"{before}old.git"
    assert variables["COMMODORE_GIT_PASSWORD"] == "secret"


@pytest.mark.parametrize("target", ["/login", "ssh://git@git.example.com/new.git", "https://"])
def test_what_is_no_repository_is_not_followed(tmp_path: Path, server: GitServer, target: str) -> None:
    server.moved["/old.git"] = f"{target}?"
    with RepositoryStore(tmp_path / "repos", make_context()) as store, pytest.raises(CommodoreError) as caught:
        store.sync([(f"{server.site}/old.git", None)])
    assert caught.value.code == "CMD-GIT-005"
    assert [path for _, path in server.asked if "old.git" not in path] == []


def test_a_circle_ends(tmp_path: Path, server: GitServer) -> None:
    server.moved["/old.git"] = "/old.git"
    context = make_context()
    git = Git(tmp_path, replace(context, limits=replace(context.limits, redirects=2)))
    assert git.locate(f"{server.site}/old.git") == f"{server.site}/old.git"
    assert len(server.asked) == 2


def test_variables_for_the_git_of_another_program(tmp_path: Path, server: GitServer) -> None:
    """It goes nowhere else, even if the server changes its mind."""
    context = replace(make_context(), check_host=lambda url: TrustPolicy().require_host(url, "it"))
    url = f"{server.site}/old.git"
    variables = Git(tmp_path, context).variables(url)
    assert variables["GIT_CONFIG_VALUE_0"] == "false"
    assert variables["GIT_CONFIG_KEY_1"] == f"url.{server.site}/new.git.insteadOf"
    server.moved["/old.git"] = f"http://localhost:{server.port}/new.git"
    with pytest.raises(PolicyError):
        Git(tmp_path, context).variables(url)


def test_credentials_are_on_no_command_line(
    tmp_path: Path, server: GitServer, remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other users of the machine see command lines."""
    url = f"{server.site}/old.git".replace("://", "://jo:secret@")
    calls = GitCalls(tmp_path / "shim", monkeypatch)
    with RepositoryStore(tmp_path / "repos", make_context()) as store:
        store.sync([(url, None)])
        assert store.repository(url).resolve("master").sha == remote.sha()
    Git(tmp_path, make_context()).variables(url)
    assert calls.count("ls-remote") > 1
    assert "secret" not in calls.lines
