"""Sessions that follow no redirects and send nothing of `.netrc`, and connections that are cut."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests

from commodore.core.sources.http.connections import WatchedAdapter, netrc_credentials, open_session
from tests.world.certificates import make_certificate
from tests.world.lieutenant import LieutenantServer, redirect, slow


def test_netrc_says_nothing_about_us_and_redirects_are_left_alone(netrc: Path) -> None:
    with LieutenantServer() as api, open_session(WatchedAdapter()) as session:
        api.script(redirect("http://[malformed"))
        assert session.get(api.url, allow_redirects=False).status_code == 302
        assert [set(request.headers) & {"authorization"} for request in api.requests] == [set()]


def test_netrc_is_looked_up_for_who_wants_that(netrc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert netrc_credentials("https://127.0.0.1:8443/x") == {"Authorization": "Basic dGVzczpzZWNyZXQ="}
    assert netrc_credentials("https://elsewhere.example.com/x") == {}
    netrc.write_text("machine")
    assert netrc_credentials("https://127.0.0.1/x") == {}
    monkeypatch.setenv("NETRC", str(netrc.with_name("missing")))
    assert netrc_credentials("https://127.0.0.1/x") == {}


def test_encrypted_connections_are_cut_too(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    with LieutenantServer(certificate=certificate) as api:
        api.script(slow(30))
        adapter = WatchedAdapter()
        with open_session(adapter) as session, pytest.raises(requests.ConnectionError), adapter.watched(0.3):
            session.get(api.url, verify=str(certificate.chain), timeout=20)
