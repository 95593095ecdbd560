"""`component sync`: a server, or what it names, that wants the token."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.documents import plain
from tests.authoring.sync_world import BRANCH, SyncWorld, sync_world
from tests.world.github import TOKEN, Reply, failing
from tests.world.loopback import LoopbackHandler, LoopbackServer

SENT = base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


@pytest.fixture
def syncing(tmp_path: Path) -> Iterator[SyncWorld]:
    with sync_world(tmp_path) as made:
        yield made


@pytest.fixture
def thief() -> Iterator[LoopbackServer]:
    """A server that notes all requests."""

    class Handler(LoopbackHandler):
        def answer(self) -> None:
            seen.append(f"{self.path} {dict(self.headers)}")
            self.send(404)

    seen: list[str] = []
    with LoopbackServer(Handler) as server:
        server.seen = seen  # type: ignore[attr-defined]
        yield server


def seen(server: LoopbackServer) -> list[str]:
    result: list[str] = server.seen  # type: ignore[attr-defined]
    return result


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_of_the_api(syncing: SyncWorld, thief: LoopbackServer, status: int) -> None:
    name = syncing.component("one")
    reply = Reply(status, {}, headers={"Location": f"{thief.site}/api/v3/repos/{name}"})
    syncing.server.script(reply, times=9, path=f"/repos/{name}")
    result = syncing.sync()
    assert not result.passed
    assert "CMD-SYNC-025" in repr(plain(result.items))
    assert not [request for request in seen(thief) if TOKEN in request]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_of_git(syncing: SyncWorld, thief: LoopbackServer, status: int) -> None:
    """Git would send the header with the token along."""
    name = syncing.component("one")
    syncing.server.redirect_git(f"/{name}.git", f"{thief.site}/{name}.git", status)
    result = syncing.sync()
    [item] = result.items
    assert item.error is not None
    assert item.error.code == "CMD-GIT-005"
    assert seen(thief) == []


@pytest.mark.parametrize("place", ["clone_url", "clone_url with a user"])
def test_a_repository_elsewhere(syncing: SyncWorld, thief: LoopbackServer, place: str) -> None:
    name = syncing.component("one")
    host = thief.site.removeprefix("http://")
    own = syncing.server.site.removeprefix("http://")
    syncing.server.hosted[name].clone_url = f"http://{own}@{host}/x.git" if "user" in place else f"http://{host}/x.git"
    [item] = syncing.sync().items
    assert item.error is not None
    assert item.error.code == "CMD-SYNC-010"
    assert seen(thief) == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 500])
def test_a_server_that_repeats_the_token(syncing: SyncWorld, status: int) -> None:
    """In each of the forms that it was sent in."""
    echo = f"{TOKEN}, Basic {SENT}, https://x-access-token:{TOKEN}@github.com/"
    name = syncing.component("one")
    syncing.advance()
    syncing.server.script(failing(status, f"no entry for {echo}"), times=9, method="POST", path=f"/repos/{name}/pulls")
    result = syncing.sync()
    told = repr(plain(result.items)) + repr(syncing.collected)
    told += repr(plain(result.halted)) if result.halted else ""
    assert re.search("CMD-SYNC-020|CMD-SYNC-021|CMD-SYNC-022|CMD-SYNC-023", told)
    assert TOKEN not in told
    assert SENT not in told
    kept = [path for path in (syncing.root / "work").rglob("*") if path.is_file() and TOKEN in path.read_text()]
    assert kept == []


def test_a_hook_that_repeats_the_token(syncing: SyncWorld) -> None:
    """Everything that a server's hook says about a push is shown, too."""
    name = syncing.component("one")
    syncing.advance()
    syncing.server.hosted[name].remote.hook("pre-receive", f"echo 'the token {TOKEN} is {SENT}' >&2; exit 1")
    [item] = syncing.sync().items
    assert item.error is not None
    assert item.error.code == "CMD-SYNC-012"
    assert TOKEN not in repr(item)
    assert TOKEN not in item.error.message
    assert SENT not in item.error.message


@pytest.mark.parametrize(
    "text", ["\x1b[31mred", "\x1b]8;;https://evil.example.com\x07here\x1b]8;;\x07", "a\u202eb", "a\rb"]
)
def test_a_message_that_steers_the_terminal(syncing: SyncWorld, text: str) -> None:
    name = syncing.component("one")
    syncing.server.script(failing(400, text), times=9, path=f"/repos/{name}")
    [item] = syncing.sync().items
    assert item.error is not None
    assert item.error.code == "CMD-SYNC-023"
    assert not set("\x1b\x07\u202e\r") & set(item.error.message)


@pytest.mark.parametrize("place", ["html_url", "clone_url", "default_branch"])
def test_an_answer_that_forges_a_line_of_the_result(syncing: SyncWorld, place: str) -> None:
    """The result is a table with the addresses of pull requests, and lines of it are read by scripts."""
    text = "x\nupdated  acme/other"
    name = syncing.component("one")
    syncing.advance()
    if place == "html_url":
        syncing.server.open_pull(name, BRANCH, html_url=f"{syncing.server.site}/{text}")
    else:
        site = syncing.server.site
        known = {"full_name": name, "clone_url": f"{site}/{name}.git", "default_branch": "master", "archived": False}
        known |= {place: f"{site}/{text}" if place == "clone_url" else text}
        syncing.server.script(Reply(200, known), times=9, method="GET", path=f"/repos/{name}")
    [item] = syncing.sync().items
    assert item.error is not None
    assert item.error.code == "CMD-SYNC-025"
    assert "\n" not in item.name + item.url + item.reason + item.error.message


@pytest.mark.parametrize(
    "entry", ["../../x", "owner/../x", "owner/x/../../y", "-owner/x", "owner/x\\n", "a b/c", "owner"]
)
def test_names_in_the_list(syncing: SyncWorld, tmp_path: Path, entry: str) -> None:
    syncing.names.append(f'"{entry}"')
    [item] = syncing.sync().items
    assert item.error is not None
    assert item.error.code == "CMD-SYNC-004"
    assert syncing.server.requests == []
    assert replace(item, error=None).status == "failed"
