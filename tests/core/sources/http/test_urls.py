"""Servers that may receive credentials, and redaction of URLs."""

from __future__ import annotations

import pytest

from commodore.core.sources.http.urls import is_loopback, same_server, split_credentials, without_credentials


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "api.localhost"])
def test_this_machine(host: str) -> None:
    assert is_loopback(f"http://{host}:80/")


@pytest.mark.parametrize("host", ["example.com", "10.0.0.1", "127.0.0.1.example.com", "localhost.example.com"])
def test_not_this_machine(host: str) -> None:
    assert not is_loopback(f"http://{host}/")


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("https://a/x", "https://a/y", True),
        ("https://a/x", "https://a:443/y", True),
        ("https://a/x", "https://a:444/y", False),
        ("https://a/x", "https://b/x", False),
        ("https://a/x", "http://a/x", False),
        ("http://a/x", "https://a/x", True),
        ("http://a:8080/x", "https://a/x", False),
        ("http://a/x", "https://a:8443/x", False),
        ("https://a/x", "https://u:p@a/x", False),
        ("https://a/x", "ftp://a/x", False),
    ],
)
def test_where_the_token_may_go(old: str, new: str, same: bool) -> None:
    assert same_server(old, new) is same


def test_shown_urls_hold_no_secrets() -> None:
    assert without_credentials("https://u:p@h:1/x?token=t#f") == "https://h:1/x"


def test_credentials_are_taken_out_of_a_url() -> None:
    bare, headers = split_credentials("https://me:s%3Acret@h:1/x?a=b")
    assert bare == "https://h:1/x?a=b"
    assert headers == {"Authorization": "Basic bWU6czpjcmV0"}
    assert split_credentials("https://h/x") == ("https://h/x", {})
