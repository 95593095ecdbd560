"""Files on web servers as dependencies: whose credentials they get, and where redirects may lead."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, PolicyError
from commodore.base.events import Noted, ignore
from commodore.base.limits import Limits
from commodore.core.sources.fetching.web import get_download
from tests.core.engine.world import World, jsonnet
from tests.world.certificates import make_certificate
from tests.world.lieutenant import LieutenantServer, Reply, dropped, failing, plain, redirect

CONTEXT = Context(ignore, Limits(request_backoff=0.001))
TESS = "Basic dGVzczpzZWNyZXQ="


@pytest.fixture
def server() -> Iterator[LieutenantServer]:
    with LieutenantServer() as lieutenant:
        yield lieutenant


def sent(*servers: LieutenantServer) -> dict[str, str | None]:
    """The authorization of requests, by path."""
    return {request.path: request.headers.get("authorization") for server in servers for request in server.requests}


def refusal(url: str, context: Context = CONTEXT) -> CommodoreError:
    with pytest.raises(CommodoreError) as caught:
        get_download(url, context)
    return caught.value


@pytest.mark.usefixtures("netrc")
def test_netrc_counts_for_the_server_of_the_source(server: LieutenantServer) -> None:
    get_download(f"{server.url}/a", CONTEXT)
    get_download(server.url.replace("://", "://me:too@") + "/b", CONTEXT)
    assert sent(server) == {"/a": TESS, "/b": "Basic bWU6dG9v"}


def test_netrc_does_not_count_for_servers_that_redirects_lead_to(server: LieutenantServer, netrc: Path) -> None:
    """Ports tell servers of one host apart; a file that has something for every host makes no difference."""
    netrc.write_text("default login tess password secret\n")
    with LieutenantServer() as other:
        server.script(redirect("/b"), path="/a")
        server.script(redirect(f"{other.url}/c"), path="/b")
        other.script(redirect(other.url.replace("127.0.0.1", "localhost") + "/d"), path="/c")
        get_download(f"{server.url}/a", CONTEXT)
        assert sent(server, other) == {"/a": TESS, "/b": TESS, "/c": None, "/d": None}


def test_redirects_do_not_leave_https(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.chain))
    with LieutenantServer(certificate=certificate) as server, LieutenantServer() as other:
        server.script(redirect(f"{other.url}/b"))
        error = refusal(f"{server.url}/a")
        assert other.requests == []
    assert isinstance(error, PolicyError)
    assert error.code == "CMD-ENG-058"


@pytest.mark.parametrize(
    ("changes", "reply", "code"),
    [
        ({"download_bytes": 10}, plain(200, "x" * 11), "CMD-ENG-029"),
        ({"download_seconds": 0.2}, Reply(200, b"x" * 1000, trickle=0.02), "CMD-ENG-028"),
        ({"download_timeout": 0.05, "request_attempts": 1}, Reply(delay=60), "CMD-ENG-028"),
    ],
    ids=["size", "time", "silence"],
)
def test_limits_hold(changes: dict[str, float], reply: Reply, code: str, server: LieutenantServer) -> None:
    server.script(reply)
    limits = replace(CONTEXT.limits, **changes)  # type: ignore[arg-type]
    assert refusal(f"{server.url}/a", replace(CONTEXT, limits=limits)).code == code


def test_workers_tell_of_attempts_that_are_repeated(world: World, server: LieutenantServer) -> None:
    server.script(dropped(), failing(503), plain(200, "content"), path="/x")
    entry = {"type": "http", "source": f"{server.url}/x", "output_path": "dependencies/x"}
    world.add("a", jsonnet("a/main.jsonnet"), kapitan={"dependencies": [entry]})
    world.write("dependencies/a/main.jsonnet", "{ out: { a: 1 } }")
    world.compile()
    assert (world.root / "dependencies/x").read_text() == "content"
    said = [event.message for event in world.events if isinstance(event, Noted) and "trying again" in event.message]
    assert [f"{server.url}/x" in text for text in said] == [True, True]


def test_a_server_that_keeps_failing(world: World, server: LieutenantServer) -> None:
    server.script(failing(404), times=math.inf)
    entry = {"type": "http", "source": f"{server.url}/x", "output_path": "dependencies/x"}
    world.add("a", jsonnet("a/main.jsonnet"), kapitan={"dependencies": [entry]})
    world.write("dependencies/a/main.jsonnet", "{ out: { a: 1 } }")
    error = world.fail_once()
    assert isinstance(error, EnvironmentFault)
    assert error.message.endswith("the server answered 404 Not Found")
