"""Client of GitHub: refusals, pauses, attempts."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commodore.authoring.sync.github import GitHub, PullRequestContent
from commodore.authoring.sync.model import Halt
from commodore.base.documents import plain
from commodore.base.errors import CommodoreError
from commodore.base.events import Event
from commodore.base.limits import Limits
from tests.authoring.sync_world import QUICK
from tests.world.context import make_context
from tests.world.github import GitHubServer, Reply, failing

NAME = "acme/component-one"
WANTED = PullRequestContent("title", "body", "master", "topic", ("label",), "a comment")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitHubServer]:
    with GitHubServer(tmp_path / "github") as server:
        hosted = server.repository(NAME, {"README.md": "one\n"})
        hosted.remote.start_branch("topic", "master")
        yield server


@pytest.fixture
def collected() -> list[Event]:
    return []


@pytest.fixture
def client(server: GitHubServer, collected: list[Event]) -> Iterator[GitHub]:
    client = connect(server, collected)
    yield client
    client.close()


def connect(server: GitHubServer, collected: list[Event], **limits: Any) -> GitHub:
    return GitHub(server.url, server.token, make_context(announce=collected.append, limits=replace(QUICK, **limits)))


def publish(client: GitHub) -> tuple[str, bool]:
    repository = client.repository(NAME)
    assert repository is not None
    pull, created = client.publish(repository, WANTED)
    return pull.url, created


def test_a_repository_is_looked_up(server: GitHubServer, client: GitHub) -> None:
    repository = client.repository(NAME)
    assert repository is not None
    assert (repository.name, repository.default_branch, repository.archived) == (NAME, "master", False)
    assert repository.clone_url == f"{server.site}/{NAME}.git"
    assert client.repository("acme/none") is None


@pytest.mark.parametrize(
    "reply",
    [
        failing(500),
        failing(502),
        failing(503),
        failing(504),
        failing(429, "slow down"),
        failing(429, "slow down", retry_after="0"),
        failing(403, "You have exceeded a secondary rate limit. Please wait a few minutes."),
        failing(403, "no words about it", retry_after="0"),
        failing(403, "API rate limit exceeded", x_ratelimit_remaining="0", x_ratelimit_reset="1"),
        Reply(drop=True),
    ],
)
def test_what_may_pass_is_tried_again(
    server: GitHubServer, client: GitHub, collected: list[Event], reply: Reply
) -> None:
    server.script(reply, times=2, path=f"/repos/{NAME}")
    assert client.repository(NAME) is not None
    assert len(server.requests) == 3
    assert len(collected) == 2
    assert all("trying again" in str(event) for event in collected)


@pytest.mark.parametrize(
    ("reply", "code", "attempts"),
    [
        (failing(400), "CMD-SYNC-023", 1),
        (failing(403, "Resource not accessible"), "CMD-SYNC-023", 1),
        (failing(502), "CMD-SYNC-023", 3),
        (Reply(200, ["no", "repository"]), "CMD-SYNC-025", 1),
        (Reply(200, {"full_name": 3, "clone_url": [], "default_branch": None}), "CMD-SYNC-025", 1),
        (Reply(200, {}), "CMD-SYNC-025", 1),
        (Reply(200, text="<html>a login</html>"), "CMD-SYNC-025", 1),
        (Reply(502, text="<html>a proxy</html>"), "CMD-SYNC-023", 3),
        (Reply(301, headers={"Location": "http://elsewhere.example.com/"}), "CMD-SYNC-025", 1),
    ],
)
def test_failures_of_one_repository(
    server: GitHubServer, client: GitHub, reply: Reply, code: str, attempts: int
) -> None:
    server.script(reply, times=math.inf)
    with pytest.raises(CommodoreError) as caught:
        client.repository(NAME)
    assert caught.value.code == code
    assert NAME in caught.value.message
    assert len(server.requests) == attempts


@pytest.mark.parametrize(
    ("reply", "code", "attempts"),
    [
        (failing(401, "Bad credentials"), "CMD-SYNC-020", 1),
        (failing(429), "CMD-SYNC-026", 3),
        (failing(403, "secondary rate limit", retry_after="3600"), "CMD-SYNC-026", 1),
        (
            failing(403, "API rate limit exceeded", x_ratelimit_remaining="0", x_ratelimit_reset="9e9"),
            "CMD-SYNC-026",
            1,
        ),
        (Reply(drop=True), "CMD-SYNC-024", 3),
    ],
)
def test_failures_that_end_the_run(
    server: GitHubServer, client: GitHub, reply: Reply, code: str, attempts: int
) -> None:
    server.script(reply, times=math.inf)
    with pytest.raises(Halt) as caught:
        client.repository(NAME)
    assert caught.value.error.code == code
    assert len(server.requests) == attempts


def test_a_server_that_does_not_answer_ends_the_run(server: GitHubServer, collected: list[Event]) -> None:
    server.script(Reply(delay=600), times=math.inf)
    with pytest.raises(Halt) as caught:
        connect(server, collected, github_timeout=1, github_attempts=1).repository(NAME)
    assert caught.value.error.code == "CMD-SYNC-024"
    assert "in time" in caught.value.error.message


def test_the_pause_that_is_asked_for_is_made(server: GitHubServer, client: GitHub, collected: list[Event]) -> None:
    reset = str(int(time.time()) + 2)
    server.script(failing(403, "no words", x_ratelimit_remaining="0", x_ratelimit_reset=reset))
    assert client.repository(NAME) is not None
    assert "trying again in" in str(collected[0])


def test_a_stopped_client_does_not_wait(server: GitHubServer, collected: list[Event]) -> None:
    client = connect(server, collected, github_backoff=600)
    client.stop()
    with pytest.raises(Halt) as caught:
        client.repository(NAME)
    assert caught.value.error.code == "CMD-SYNC-027"


def test_a_pull_request_is_made_with_labels_and_comment(server: GitHubServer, client: GitHub) -> None:
    assert publish(client) == (f"{server.site}/{NAME}/pull/1", True)
    [pull] = server.pulls(NAME)
    assert (pull["title"], pull["body"], pull["labels"]) == ("title", "body", [{"name": "label"}])
    assert server.hosted[NAME].comments[1] == ["a comment"]
    assert publish(client) == (f"{server.site}/{NAME}/pull/1", False)
    assert len(server.writes()) == 3


def test_labels_that_are_there_in_other_letters_are_not_added(server: GitHubServer, client: GitHub) -> None:
    pull = server.open_pull(NAME, "topic", body="body", labels=[{"name": "LABEL"}, {"name": "mine"}])
    publish(client)
    assert pull["labels"] == [{"name": "LABEL"}, {"name": "mine"}]


@pytest.mark.parametrize("part", ["pulls", "issues/1/labels", "issues/1/comments"])
@pytest.mark.parametrize("reply", [failing(502), Reply(drop=True), failing(429, retry_after="0")])
def test_a_write_whose_answer_is_lost_is_not_done_twice(
    server: GitHubServer, client: GitHub, part: str, reply: Reply
) -> None:
    done = reply.status != 429
    server.script(replace(reply, after=done), method="POST", path=f"/repos/{NAME}/{part}")
    url, _ = publish(client)
    [pull] = server.pulls(NAME)
    assert url == pull["html_url"]
    assert pull["labels"] == [{"name": "label"}]
    assert server.hosted[NAME].comments[1] == ["a comment"]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (failing(404, "Not Found"), "CMD-SYNC-021"),
        (failing(403, "Resource not accessible by personal access token"), "CMD-SYNC-021"),
        (Reply(422, {"message": "Validation Failed", "errors": [{"message": "No commits\x1b[2J"}]}), "CMD-SYNC-022"),
        (Reply(422, {"message": "Validation Failed", "errors": "odd"}), "CMD-SYNC-022"),
        (Reply(422, text="odd"), "CMD-SYNC-022"),
        (Reply(201, {}), "CMD-SYNC-025"),
    ],
)
def test_refused_writes(server: GitHubServer, client: GitHub, reply: Reply, code: str) -> None:
    server.script(reply, method="POST")
    with pytest.raises(CommodoreError) as caught:
        publish(client)
    assert caught.value.code == code
    assert caught.value.message.isprintable()
    if code == "CMD-SYNC-021":
        assert "public_repo" in caught.value.hint


def test_the_answer_of_others_about_the_token_is_shown_without_it(server: GitHubServer, collected: list[Event]) -> None:
    with pytest.raises(Halt) as caught:
        GitHub(server.url, "another-token", make_context(announce=collected.append, limits=QUICK)).repository(NAME)
    assert "another-token" not in str(plain(caught.value.error))


def test_nothing_listens(collected: list[Event]) -> None:
    with pytest.raises(Halt) as caught:
        GitHub("http://127.0.0.1:9", "token", make_context(announce=collected.append, limits=QUICK)).repository(NAME)
    assert caught.value.error.code == "CMD-SYNC-024"


def endless(server: GitHubServer, path: str, value: Any) -> None:
    """Answer what is below a path by pages, each with a link to a next one."""
    link = f'<{server.url}{path}?page=2>; rel="next"'
    server.script(Reply(200, value, headers={"Link": link}), times=math.inf, method="GET", path=path)


def test_endless_pages_of_pull_requests(server: GitHubServer, collected: list[Event]) -> None:
    endless(server, f"/repos/{NAME}/pulls", [server.open_pull(NAME, f"of-others-{number}") for number in range(3)])
    with pytest.raises(CommodoreError) as caught:
        publish(connect(server, collected, github_pages=4))
    assert (caught.value.code, caught.value.exit_code) == ("CMD-SYNC-029", 3)
    assert "more than 4 pages" in caught.value.message
    assert "raise github_pages with COMMODORE_LIMITS" in caught.value.hint
    assert len(server.requests) == 5
    assert not server.writes()


def test_endless_pages_of_comments(server: GitHubServer, collected: list[Event]) -> None:
    server.open_pull(NAME, "topic", body="body", labels=[{"name": "label"}])
    endless(server, f"/repos/{NAME}/issues/1/comments", [{"body": "another"}])
    with pytest.raises(CommodoreError) as caught:
        publish(connect(server, collected, github_pages=4))
    assert caught.value.code == "CMD-SYNC-029"
    assert not server.writes()


def test_a_comment_on_the_last_page(server: GitHubServer, collected: list[Event]) -> None:
    server.open_pull(NAME, "topic", body="body", labels=[{"name": "label"}])
    path = f"/repos/{NAME}/issues/1/comments"
    link = {"Link": f'<{server.url}{path}?page=2>; rel="next"'}
    replies = (Reply(200, [{"body": "another"}], headers=link), Reply(200, [{"body": WANTED.comment}]))
    server.script(*replies, method="GET", path=path)
    publish(connect(server, collected, github_pages=2))
    assert not server.writes()


def test_limits_are_those_of_the_program() -> None:
    """GitHub's terms: at least a second between writes."""
    assert Limits().github_writes >= 1
