"""The GitHub on loopback is what tests take it for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.world.github import GitHubServer, failing
from tests.world.repos import git

NAME = "acme/one"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitHubServer]:
    with GitHubServer(tmp_path / "github") as server:
        server.repository(NAME, {"README.md": "one\n"})
        yield server


def ask(server: GitHubServer, path: str, method: str = "GET", body: object = None, token: str | None = None) -> object:
    headers = {"Authorization": f"token {token or server.token}"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(server.url + path, data, headers, method=method)) as answer:
        return json.load(answer)


def status(server: GitHubServer, path: str, method: str = "GET", body: object = None, token: str | None = None) -> int:
    with pytest.raises(HTTPError) as caught:
        ask(server, path, method, body, token)
    with caught.value as error:
        return error.code


def test_the_api_wants_the_token(server: GitHubServer) -> None:
    assert status(server, f"/repos/{NAME}", token="another") == 401
    result = ask(server, f"/repos/{NAME}")
    assert isinstance(result, dict)
    assert result["clone_url"] == f"{server.site}/{NAME}.git"


def test_what_is_not_there(server: GitHubServer) -> None:
    assert status(server, "/repos/acme/none") == 404
    assert status(server, "/user") == 404
    assert status(server, f"/repos/{NAME}/pulls/1") == 404


def test_git_wants_the_token_and_serves_pushes(server: GitHubServer, tmp_path: Path) -> None:
    url = f"{server.site}/{NAME}.git"
    assert git(tmp_path, "ls-remote", url, check=False) == ""
    mine = url.replace("http://", f"http://x-access-token:{server.token}@")
    git(tmp_path, "clone", "--quiet", mine, "clone")
    git(tmp_path / "clone", "push", "--quiet", "origin", "HEAD:refs/heads/topic")
    assert server.hosted[NAME].remote.sha("topic") == server.hosted[NAME].remote.sha()


def test_pull_requests_need_a_branch_and_are_there_once(server: GitHubServer) -> None:
    expected = {"title": "t", "body": "b", "base": "master", "head": "topic"}
    assert status(server, f"/repos/{NAME}/pulls", "POST", expected) == 422
    server.hosted[NAME].remote.start_branch("topic", "master")
    ask(server, f"/repos/{NAME}/pulls", "POST", expected)
    assert status(server, f"/repos/{NAME}/pulls", "POST", expected) == 422
    result = ask(server, f"/repos/{NAME}/pulls?head=acme:topic")
    assert isinstance(result, list)
    assert [pull["title"] for pull in result] == ["t"]
    assert ask(server, f"/repos/{NAME}/pulls?head=acme:else") == []


def test_scripts_come_before_regular_answers(server: GitHubServer) -> None:
    server.script(failing(503, retry_after="1"), method="GET", path=f"/repos/{NAME}")
    assert status(server, f"/repos/{NAME}") == 503
    assert isinstance(ask(server, f"/repos/{NAME}"), dict)
    assert server.writes() == []
