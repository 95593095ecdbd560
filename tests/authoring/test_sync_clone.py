"""Temporary clones: what is fetched, what is pushed, and where the token goes."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from commodore.authoring.sync.clone import Clone, GitAccess, make_clone
from commodore.authoring.sync.github import GitHub
from commodore.base.errors import CommodoreError, PolicyError
from commodore.base.events import ignore
from tests.authoring.sync_world import QUICK
from tests.world.context import make_context
from tests.world.github import GitHubServer
from tests.world.repos import Remote, git

NAME = "acme/component-one"
BRANCH = "topic"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitHubServer]:
    with GitHubServer(tmp_path / "github") as server:
        server.repository(NAME, {"a.txt": "a\n"}).remote.commit({"b.txt": "b\n"})
        yield server


@pytest.fixture
def remote(server: GitHubServer) -> Remote:
    return server.hosted[NAME].remote


def clone(server: GitHubServer, folder: Path, branch: str = BRANCH) -> Clone:
    repository = GitHub(server.url, server.token, make_context(announce=ignore, limits=QUICK)).repository(NAME)
    assert repository is not None
    made = make_clone(repository, folder, branch, GitAccess(server.url, server.token, make_context(limits=QUICK)))
    assert made is not None
    return made


def change(made: Clone, message: str = "Change") -> str:
    (made.folder / "c.txt").write_text("c\n", encoding="utf-8")
    git(made.folder, "add", "c.txt")
    git(made.folder, "commit", "--quiet", "--message", message)
    return git(made.folder, "rev-parse", "HEAD")


def test_only_what_is_needed_is_fetched(server: GitHubServer, remote: Remote, tmp_path: Path) -> None:
    remote.commit({"else.txt": "else\n"}, branch="else")
    remote.tag("v1")
    made = clone(server, tmp_path / "clone")
    assert (made.base, made.remote_tip) == (remote.sha(), None)
    assert git(made.folder, "rev-list", "--all", "--count") == "1"
    assert git(made.folder, "for-each-ref", "--format=%(refname)").splitlines() == [
        "refs/heads/clone",
        "refs/remotes/origin/master",
    ]
    assert (made.folder / "b.txt").is_file()


def test_the_token_is_not_in_the_clone(server: GitHubServer, tmp_path: Path) -> None:
    made = clone(server, tmp_path / "clone")
    change(made)
    made.push()
    secret = base64.b64encode(f"x-access-token:{server.token}".encode())
    for path in made.folder.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert server.token.encode() not in content
        assert secret not in content


def test_a_new_branch_is_pushed(server: GitHubServer, remote: Remote, tmp_path: Path) -> None:
    made = clone(server, tmp_path / "clone")
    assert not made.is_pushed()
    assert not made.is_foreign()
    sha = change(made)
    made.push()
    assert remote.sha(BRANCH) == sha
    again = clone(server, tmp_path / "again")
    assert again.remote_tip == sha
    assert not again.is_pushed()
    change(again)
    assert again.is_pushed()
    assert not again.is_foreign()


def test_a_branch_on_an_older_base_is_not_pushed_yet(server: GitHubServer, remote: Remote, tmp_path: Path) -> None:
    made = clone(server, tmp_path / "clone")
    change(made)
    made.push()
    remote.commit({"d.txt": "d\n"})
    again = clone(server, tmp_path / "again")
    sha = change(again)
    assert not again.is_pushed()
    again.push()
    assert remote.sha(BRANCH) == sha


def test_commits_of_others_are_seen(server: GitHubServer, remote: Remote, tmp_path: Path) -> None:
    remote.commit({"mine.txt": "mine\n"}, branch=BRANCH, message="Mine")
    made = clone(server, tmp_path / "clone")
    change(made)
    assert made.is_foreign()


@pytest.mark.parametrize("existed", [True, False])
def test_a_branch_that_moves_meanwhile_is_not_overwritten(
    server: GitHubServer, remote: Remote, tmp_path: Path, existed: bool
) -> None:
    if existed:
        remote.commit({"mine.txt": "mine\n"}, branch=BRANCH)
    made = clone(server, tmp_path / "clone")
    change(made)
    theirs = remote.commit({"mine.txt": "quicker\n"}, branch=BRANCH)
    with pytest.raises(CommodoreError) as caught:
        made.push()
    assert caught.value.code == "CMD-SYNC-012"
    assert "stale info" in caught.value.message
    assert remote.sha(BRANCH) == theirs


def test_a_missing_scope_for_workflows_is_explained(server: GitHubServer, remote: Remote, tmp_path: Path) -> None:
    made = clone(server, tmp_path / "clone")
    change(made)
    remote.refuse_pushes("refusing to allow a token to create or update workflow x without `workflow` scope")
    with pytest.raises(CommodoreError) as caught:
        made.push()
    assert "needs the scope" in caught.value.hint


def test_a_wrong_token_is_refused(server: GitHubServer, tmp_path: Path) -> None:
    repository = GitHub(server.url, server.token, make_context(announce=ignore, limits=QUICK)).repository(NAME)
    assert repository is not None
    with pytest.raises(CommodoreError) as caught:
        make_clone(repository, tmp_path / "clone", BRANCH, GitAccess(server.url, "wrong", make_context(limits=QUICK)))
    assert caught.value.code == "CMD-GIT-004"


@pytest.mark.parametrize(
    ("api", "url"),
    [
        ("https://api.github.com", "https://github.com/acme/one.git"),
        ("https://api.acme.ghe.com", "https://acme.ghe.com/acme/one.git"),
        ("https://github.example.com/api/v3", "https://github.example.com/acme/one.git"),
        ("https://github.example.com:8443/api/v3", "https://github.example.com:8443/acme/one.git"),
    ],
)
def test_repositories_of_the_same_site(api: str, url: str) -> None:
    access = GitAccess(api, "token", make_context())
    assert access.check(url) == url
    site = url.removesuffix("acme/one.git")
    assert access.environment()["GIT_CONFIG_KEY_0"] == f"http.{site}.extraHeader"


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com.example.com/acme/one.git",
        "https://example.com/acme/one.git",
        "http://github.com/acme/one.git",
        "https://github.com:8443/acme/one.git",
        "https://me@github.com/acme/one.git",
        "ssh://git@github.com/acme/one.git",
        "/acme/one.git",
    ],
)
def test_repositories_elsewhere(url: str) -> None:
    with pytest.raises(PolicyError) as caught:
        GitAccess("https://api.github.com", "token", make_context()).check(url)
    assert caught.value.code == "CMD-SYNC-010"
