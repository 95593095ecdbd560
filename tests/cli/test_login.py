"""`login`, `fetch-token` and `logout` as they are typed: the real program, a provider and an API on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from commodore.core.results.caches import token_cache
from tests.world.completion import complete, offered
from tests.world.lieutenant import LieutenantServer, cluster, tenant
from tests.world.oidc import OidcProvider

Call = Callable[..., tuple[int, str, str]]

BROWSER = """\
import sys, urllib.request
print("noise of a browser")
urllib.request.urlopen(sys.argv[1], timeout=20).read()
"""


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with OidcProvider() as server:
        server.oidc = {"clientId": server.client_id, "discoveryUrl": server.discovery_url}
        yield server


@pytest.fixture(autouse=True)
def browser(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that follows the link, and comes back, by itself."""
    script = tmp_path_factory.mktemp("browser") / "browse.py"
    script.write_text(BROWSER)
    monkeypatch.setenv("BROWSER", f"{sys.executable} {script} %s")
    monkeypatch.setenv("COMMODORE_CALLBACK_PORT", "0")


@pytest.fixture
def api(provider: OidcProvider, monkeypatch: pytest.MonkeyPatch) -> OidcProvider:
    """The provider is the API too, and the environment names it."""
    provider.clusters, provider.tenants = [cluster("c-one")], [tenant()]
    monkeypatch.setenv("COMMODORE_API_URL", provider.url)
    return provider


def stored(url: str) -> dict[str, Any]:
    entry: dict[str, Any] = json.loads(token_cache().read_text())[url]
    return entry


def test_login_with_a_browser(call: Call, api: OidcProvider) -> None:
    code, out, err = call("login")
    assert (code, out) == (0, "")
    assert "Log in with the browser that opens, or visit\n  http://127.0.0.1" in err
    assert re.search(r"Logged in to \S+ as Tess Ter <tess@example.com> until \d{4}-\d\d-\d\d \d\d:\d\d UTC\.", err)
    assert stat.S_IMODE(token_cache().stat().st_mode) == 0o600
    assert stored(api.url)["id_token"] not in err

    code, out, err = call("login")
    assert code == 0
    assert err.startswith("You are logged in to ")


def test_the_token_alone_is_printed(call: Call, api: OidcProvider) -> None:
    code, out, _ = call("fetch-token")
    assert code == 0
    assert out == stored(api.url)["id_token"] + "\n"
    asked = len(api.requests)
    assert call("fetch-token") == (0, out, "")
    assert len(api.requests) == asked, "a token that is valid needs no network"


def test_nobody_is_there_to_log_in(call: Call, api: OidcProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty line was printed, with exit code 0."""
    monkeypatch.delenv("BROWSER")
    code, out, err = call("fetch-token")
    assert (code, out) == (1, "")
    assert "[CMD-LOGIN-060]" in err
    assert "`commodore login`" in err


@pytest.mark.parametrize("command", ["login", "fetch-token"])
def test_a_denial_is_no_success(command: str, call: Call, api: OidcProvider) -> None:
    """Errors of the identity provider ended with 0."""
    api.denies = True
    code, out, err = call(command)
    assert (code, out) == (1, "")
    assert "[CMD-LOGIN-020]" in err


def test_an_expired_token_is_renewed_without_a_browser(call: Call, api: OidcProvider) -> None:
    api.claims = {"exp": int(time.time()) + 5}
    assert call("login")[0] == 0
    api.claims = {}
    before = stored(api.url)["id_token"]
    code, out, err = call("fetch-token")
    assert (code, err) == (0, "")
    assert out.strip() not in ("", before)


def test_quiet(call: Call, api: OidcProvider) -> None:
    """The page must be shown all the same, or nobody could go on."""
    code, out, err = call("--quiet", "login")
    assert (code, out) == (0, "")
    assert "visit" in err
    assert "Logged in" not in err
    assert call("--quiet", "login") == (0, "", "")


def test_json(call: Call, api: OidcProvider) -> None:
    code, out, err = call("--log-format", "json", "login")
    assert (code, out) == (0, "")
    page, status = (json.loads(line) for line in err.splitlines())
    assert page["event"] == "PageToVisit"
    assert (page["opened"], page["code"]) == (True, "")
    assert status["message"].startswith("Logged in to ")


def test_without_an_api_the_token_is_printed(call: Call, provider: OidcProvider) -> None:
    code, out, _ = call("login", "--oidc-client", provider.client_id, "--oidc-discovery-url", provider.discovery_url)
    assert code == 0
    assert out.count(".") == 2
    assert not token_cache().exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["login"], 2, "CMD-LOGIN-004"),
        (["login", "--oidc-discovery-url", "https://x"], 2, "the OIDC client is not known"),
        (["login", "--oidc-client", "x"], 2, "the discovery URL of the identity provider is not known"),
        (["login", "--api-url", "ftp://x"], 1, "CMD-API-002"),
        (["login", "--oidc-client", "x", "--oidc-discovery-url", "http://idp.example.com"], 4, "CMD-LOGIN-002"),
        (["login", "--callback-port", "70000"], 2, "CMD-LOGIN-031"),
        (["login", "--callback-port", "x"], 2, "is not a valid integer"),
        (["login", "--callback-address", "nowhere"], 2, "CMD-LOGIN-031"),
        (["login", "--devise"], 2, "--device"),
        (["fetch-token"], 2, "CMD-API-001"),
        (["logout"], 2, "CMD-LOGIN-061"),
        (["logon"], 2, "login"),
    ],
)
def test_what_is_typed_wrongly(arguments: list[str], code: int, said: str, call: Call) -> None:
    got, out, err = call(*arguments)
    assert (got, out) == (code, "")
    assert said in err


def test_no_network(call: Call, api: OidcProvider) -> None:
    with LieutenantServer() as gone:
        url = gone.url
    code, _, err = call("--request-timeout", "1", "login", "--api-url", url)
    assert code == 3
    assert "cannot reach" in err


def test_a_port_in_use(call: Call, api: OidcProvider) -> None:
    """A traceback."""
    code, _, err = call("login", "--callback-port", str(api.port))
    assert code == 3
    assert f"port {api.port} of 127.0.0.1 is in use" in err
    assert "--device" in err


def test_logout(call: Call, api: OidcProvider) -> None:
    call("login")
    code, out, err = call("logout")
    assert (code, out) == (0, "")
    assert err == f"Logged out of {api.url}.\n"
    assert len(api.memory.revoked) == 1
    assert call("logout") == (0, "", f"There was no login to {api.url}.\n")
    call("login")
    assert call("logout", "--all") == (0, "", f"Logged out of {api.url}.\n")
    assert not token_cache().exists()
    assert call("logout", "--all") == (0, "", "There was no login.\n")


def test_commands_use_the_login(call: Call, api: OidcProvider) -> None:
    call("login")
    api.token = stored(api.url)["id_token"]
    code, out, err = call("catalog", "list", "-o", "id")
    assert (code, out, err) == (0, "c-one\n", "")


def test_commands_renew_the_login(call: Call, api: OidcProvider) -> None:
    api.claims = {"exp": int(time.time()) + 5}
    call("login")
    api.claims = {}
    code, out, err = call("catalog", "list", "-o", "id")
    assert (code, out, err) == (0, "c-one\n", "")
    sent = api.requests[-1].headers["authorization"]
    assert sent == f"Bearer {stored(api.url)['id_token']}"


def test_commands_without_a_person_name_the_login(call: Call, api: OidcProvider) -> None:
    code, out, err = call("catalog", "list")
    assert (code, out) == (2, "")
    assert "[CMD-API-003]" in err
    assert "log in with `commodore login`" in err
    assert api.requests == [], "nothing was begun"


def test_commands_at_a_terminal_begin_a_login(api: OidcProvider) -> None:
    """Users rely on it."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "commodore", "catalog", "list", "-o", "id"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
    ) as process:
        os.close(theirs)
        out, _ = process.communicate(timeout=60)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert (process.returncode, out) == (0, "c-one\n")
    assert "Log in with the browser that opens" in shown
    assert stored(api.url)["id_token"]


def test_completion_neither_logs_in_nor_renews(api: OidcProvider) -> None:
    """Completing could open a browser and wait."""
    entry = {"id_token": api.id_token(api.memory.clients[api.client_id], None), "refresh_token": "r"}
    for changed in ({"exp": 5}, {}):
        api.claims = changed
        entry["id_token"] = api.id_token(api.memory.clients[api.client_id], None)
        token_cache().parent.mkdir(exist_ok=True)
        token_cache().write_text(json.dumps({api.url: entry}))
        assert offered(complete("commodore catalog compile c")) == ([] if changed else ["c-one"])
        assert [request.path for request in api.requests] == ([] if changed else ["/clusters/"])


def program(arguments: list[str], **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "commodore", *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextlib.contextmanager
def waiting(provider: OidcProvider) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A login that waits for its browser, and the page it shows."""
    with program(["login", "--device"], BROWSER="") as process:
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(3)]
        try:
            yield process, "".join(lines)
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_a_login(number: int, api: OidcProvider) -> None:
    with waiting(api) as (process, shown):
        assert "and enter the code" in shown
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err == "Aborted!\n"
    assert not token_cache().exists()


def test_a_login_without_a_browser_shows_a_link(api: OidcProvider) -> None:
    """In a container: nothing can be opened, and the callback listens on all addresses."""
    api.document = {"device_authorization_endpoint": ...}
    with program(["login", "--callback-address", "0.0.0.0"], BROWSER="") as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "To log in, visit\n"
        link = process.stderr.readline().strip()
        assert requests.get(link, timeout=20).status_code == 200
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert err.startswith("Logged in to ")


def test_keyring_that_is_not_there(call: Call, api: OidcProvider) -> None:
    variables = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    with program(["login", "--keyring"], **variables) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "[CMD-LOGIN-050]" in err
    assert api.requests == [], "it is found out before anybody logs in"


def test_a_file_of_the_published_tool_is_read(call: Call, api: OidcProvider) -> None:
    """An access token without anything else, indented by one, as that tool writes it."""
    token = api.id_token(api.memory.clients[api.client_id], None)
    entry = {"access_token": "a", "id_token": token, "token_type": "Bearer", "expires_in": 300, "scope": ["openid"]}
    Path(token_cache().parent).mkdir(exist_ok=True)
    token_cache().write_text(json.dumps({api.url: entry}, indent=1))
    assert call("fetch-token") == (0, f"{token}\n", "")
