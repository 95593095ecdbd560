"""The causes of failures: real failures of requests on loopback."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import pytest
import requests

from commodore.core.sources.http.causes import Causes
from commodore.core.sources.http.connections import WatchedAdapter, open_session


def failure_of(url: str) -> Causes:
    with pytest.raises((OSError, requests.RequestException)) as error, open_session(WatchedAdapter()) as session:
        session.get(url, timeout=5)
    return Causes(error.value)


def kinds(causes: Causes) -> tuple[bool, bool, bool]:
    return causes.are_in_proxy, causes.are_in_trust, causes.are_in_time


@pytest.fixture
def closed_port() -> int:
    """A port of loopback on which nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_nobody_listens(closed_port: int) -> None:
    causes = failure_of(f"http://127.0.0.1:{closed_port}/")
    assert kinds(causes) == (False, False, False)
    assert causes.include(ConnectionRefusedError)
    assert causes.reason == "Connection refused"


def test_a_proxy_where_nobody_listens(closed_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{closed_port}")
    causes = failure_of("https://api.example.com/")
    assert causes.are_in_proxy
    assert causes.reason == "Connection refused"


def test_a_missing_bundle_of_authorities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    assert kinds(failure_of("https://127.0.0.1:1/")) == (False, True, False)


def test_a_reason_tells_what_is_wrong_with_a_certificate() -> None:
    error = ssl.SSLCertVerificationError()
    error.verify_message = "certificate has expired"
    assert Causes(requests.ConnectionError(error)).reason == "certificate has expired"


def test_a_reason_is_short_and_printable() -> None:
    """Messages of libraries contain data of servers."""
    assert Causes(ValueError("\x1b[2Jred\u202e" + "x" * 1000)).reason == "[2Jred" + "x" * 194
    assert Causes(ValueError()).reason == "ValueError"


def test_causes_that_go_in_circles_end() -> None:
    first, second = ValueError("first"), OSError(5, "second")
    first.__cause__, second.__context__ = second, first
    assert Causes(first).reason == "second"
