"""Selection of the API token."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.errors import InputError
from commodore.base.events import Event, Warned, ignore
from commodore.base.limits import Limits
from commodore.core.lieutenant import resolve_token
from commodore.core.lieutenant.jwt import token_expiry
from tests.world.context import make_context

NOW = 1_000_000.0
URL = "https://api.example.com"


def jwt(**claims: Any) -> str:
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJub25lIn0.{body}.c2ln"


def resolve(
    given: str | None, cache: Path | None = None, url: str | None = URL, collected: list[Event] | None = None
) -> Any:
    return resolve_token(
        given, url, cache, make_context(announce=ignore if collected is None else collected.append), now=lambda: NOW
    )


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    path = tmp_path / "cache"
    path.write_text(json.dumps({URL: {"id_token": jwt(exp=NOW + 11, sub="cached")}}))
    return path


CACHED = jwt(exp=NOW + 11, sub="cached")


def test_a_given_token_is_used() -> None:
    assert resolve(" opaque\n") == "opaque"


@pytest.mark.parametrize("given", ["token", "./token", "folder/token"])
def test_a_file_gives_its_content(given: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / given).write_text("\n from-file \n")
    assert resolve(given) == "from-file"


@pytest.mark.parametrize("given", ["./token", "/no/such/file", "folder/token"])
def test_a_path_without_a_file_is_an_error(given: str) -> None:
    """A token file that was missing turned into a token."""
    with pytest.raises(InputError, match="no such file") as caught:
        resolve(given)
    assert caught.value.code == "CMD-API-005"
    assert given not in str(caught.value) + caught.value.hint  # it might be a token after all


def test_a_file_that_cannot_be_a_token(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "huge").write_bytes(b"x" * (Limits().token_bytes + 1))
    for name in ("folder", "binary", "huge"):
        with pytest.raises(InputError, match=name) as caught:
            resolve(name)
        assert caught.value.code == "CMD-API-005"


def test_a_long_token_is_no_file_name() -> None:
    assert resolve("x" * 5000) == "x" * 5000


@pytest.mark.parametrize("given", [None, "", " \n"])
def test_without_a_token_the_cache_is_asked(given: str | None, cache: Path) -> None:
    assert resolve(given, cache) == CACHED
    assert resolve(given, cache, "https://other.example.com") is None
    assert resolve(given, cache, None) is None
    assert resolve(given, None) is None


@pytest.mark.parametrize(("stored", "asked"), [("/x", "/x/"), ("/x/", "/x"), ("", "/"), ("/", "")])
def test_a_slash_at_the_end_makes_no_other_login(stored: str, asked: str, tmp_path: Path) -> None:
    """The URL with and without slash were different logins."""
    cache = tmp_path / "cache"
    cache.write_text(json.dumps({URL + stored: {"id_token": "t"}}))
    assert resolve(None, cache, URL + asked) == "t"


def test_the_exact_url_comes_first(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.write_text(json.dumps({URL: {"id_token": "bare"}, URL + "/": {"id_token": "slash"}}))
    assert resolve(None, cache, URL) == "bare"
    assert resolve(None, cache, URL + "/") == "slash"


@pytest.mark.parametrize(
    "content",
    ["", "no json", "[]", "[" * 100_000, '{"https://api.example.com": "old format"}', '{"https://api.example.com": {}}',
     '{"https://api.example.com": {"id_token": 5}}', '{"https://api.example.com": {"id_token": " "}}'],
)  # fmt: skip
def test_a_damaged_cache_is_an_empty_one(content: str, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text(content)
    assert resolve(None, tmp_path / "cache") is None
    assert resolve(None, tmp_path / "missing") is None
    assert resolve(None, tmp_path) is None


def test_an_expired_token_is_replaced_by_the_cached_one(cache: Path) -> None:
    collected: list[Event] = []
    assert resolve(jwt(exp=NOW + 9), cache, collected=collected) == CACHED
    assert not any(isinstance(event, Warned) for event in collected)


def test_an_expired_token_alone_is_none_and_announced(tmp_path: Path) -> None:
    collected: list[Event] = []
    expired = jwt(exp=NOW - 1)
    assert resolve(expired, tmp_path / "cache", collected=collected) is None
    (event,) = collected
    assert isinstance(event, Warned)
    assert event.code == "CMD-API-051"
    assert "commodore login" in event.hint
    assert expired not in event.message + event.hint


def test_an_expired_cached_token_is_none(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text(json.dumps({URL: {"id_token": jwt(exp=NOW + 9)}}))
    collected: list[Event] = []
    assert resolve(None, tmp_path / "cache", collected=collected) is None
    assert [event.message for event in collected if isinstance(event, Warned)] == [
        "the API token of the last login has expired"
    ]


@pytest.mark.parametrize("spare", [10, 11, 1e300])
def test_a_token_that_lives_long_enough(spare: float) -> None:
    assert resolve(jwt(exp=NOW + spare)) == jwt(exp=NOW + spare)


@pytest.mark.parametrize("claims", [{}, {"exp": None}, {"exp": "soon"}, {"exp": True}])
def test_a_token_without_expiry_does_not_expire(claims: dict[str, Any]) -> None:
    assert resolve(jwt(**claims)) == jwt(**claims)


def test_a_huge_expiry_is_no_overflow() -> None:
    assert token_expiry(jwt(exp=10**400)) == float(1 << 62)


@given(st.text())
def test_no_token_is_too_odd_to_be_asked_for_its_expiry(token: str) -> None:
    expiry = token_expiry(token)
    assert expiry is None or isinstance(expiry, float)
