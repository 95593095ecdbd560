"""The token file: that of the published tool, but private, and never half written."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import keyring
import keyring.backend
import keyring.backends.fail
import keyring.errors
import pytest

from commodore.base.errors import EnvironmentFault
from commodore.base.events import Event, Warned
from commodore.base.limits import Limits
from commodore.core.lieutenant import TokenStore
from tests.world.context import make_context

pytestmark = pytest.mark.tools  # libraries of keyrings look for others when they are first used

API = "https://api.example.com"
ENTRY = {"id_token": "i", "refresh_token": "r", "scope": ["openid"], "expires_at": 5}


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    return TokenStore(tmp_path / "cache" / "token", make_context())


def keep(store: TokenStore, url: str, entry: dict[str, Any], *, keyring: bool = False) -> list[Event]:
    collected: list[Event] = []
    with store.locked():
        replace(store, context=make_context(collected.append)).write(url, entry, keyring=keyring)
    return collected


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_nobody_else_can_read_it(mask: int, store: TokenStore) -> None:
    """File and folder were as open as the umask let them be."""
    before = os.umask(mask)
    try:
        keep(store, API, ENTRY)
    finally:
        os.umask(before)
    assert (mode(store.file), mode(store.file.parent)) == (0o600, 0o700)


def test_what_was_open_is_closed(store: TokenStore) -> None:
    store.file.parent.mkdir(mode=0o755)
    store.file.write_text(json.dumps({"https://other": ENTRY}))
    store.file.chmod(0o644)
    keep(store, API, ENTRY)
    assert (mode(store.file), mode(store.file.parent)) == (0o600, 0o700)


def test_its_form_is_that_of_the_published_tool(store: TokenStore) -> None:
    keep(store, API, ENTRY)
    assert store.file.read_text() == json.dumps({API: ENTRY}, indent=1)


def test_other_entries_stay_as_they_are(store: TokenStore) -> None:
    others = {"https://other": {"id_token": "x"}, "https://old": "a plain text"}
    store.file.parent.mkdir()
    store.file.write_text(json.dumps(others))
    keep(store, API, ENTRY)
    assert json.loads(store.file.read_text()) == {**others, API: ENTRY}


@pytest.mark.parametrize("content", ["", "no json", "[]", "[" * 100_000, "x" * (1 << 10)])
def test_a_damaged_file_is_made_anew(content: str, tmp_path: Path) -> None:
    store = TokenStore(tmp_path / "token", make_context(limits=Limits(token_cache_bytes=1000)))
    store.file.write_text(content)
    assert store.read(API) is None
    (warning,) = keep(store, API, ENTRY)
    assert isinstance(warning, Warned)
    assert warning.code == "CMD-LOGIN-052"
    assert store.read(API) == ENTRY


def test_spellings_of_one_url_are_one_login(store: TokenStore) -> None:
    """With and without a slash they were two."""
    keep(store, API, ENTRY | {"id_token": "old"})
    keep(store, f"{API}/", ENTRY)
    assert store.api_urls() == [f"{API}/"]
    assert store.read(API) == ENTRY


def test_a_link_is_replaced_and_not_followed(store: TokenStore, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("{}")
    store.file.parent.mkdir()
    store.file.symlink_to(elsewhere)
    keep(store, API, ENTRY)
    assert elsewhere.read_text() == "{}"
    assert not store.file.is_symlink()


def test_nothing_is_left_behind(store: TokenStore) -> None:
    keep(store, API, ENTRY)
    assert sorted(path.name for path in store.file.parent.iterdir()) == ["token", "token.lock"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = TokenStore(tmp_path / "file" / "token", make_context())
    assert store.read(API) is None
    with pytest.raises(EnvironmentFault):
        keep(store, API, ENTRY)


def write_many(file: Path, name: str) -> None:
    for number in range(20):
        keep(TokenStore(file, make_context()), f"https://{name}-{number}", ENTRY)


def test_logins_at_the_same_time_are_all_kept(store: TokenStore) -> None:
    """Read-modify-write without a lock."""
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=write_many, args=(store.file, name)) for name in ("a", "b")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(store.api_urls()) == 40


class Ring(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.held: dict[tuple[str, str], str] = {}
        self.locked = False

    def _open(self) -> dict[tuple[str, str], str]:
        if self.locked:
            raise keyring.errors.KeyringLocked("the password is: secret")
        return self.held

    def get_password(self, service: str, username: str) -> str | None:
        return self._open().get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._open()[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self._open().pop((service, username), None) is None:
            raise keyring.errors.PasswordDeleteError


@pytest.fixture
def ring() -> Iterator[Ring]:
    before, ring = keyring.get_keyring(), Ring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


def test_tokens_in_the_keyring(store: TokenStore, ring: Ring) -> None:
    keep(store, API, ENTRY, keyring=True)
    assert "i" not in json.loads(store.file.read_text())[API].values()
    assert json.loads(ring.held["commodore", API]) == ENTRY
    assert store.read(API) == ENTRY
    assert store.read(API + "/") == ENTRY
    assert store.uses_keyring(API)
    assert store.read(API, keyring=False) is None, "completion does not look there"


def test_from_the_keyring_to_the_file(store: TokenStore, ring: Ring) -> None:
    keep(store, API, ENTRY, keyring=True)
    keep(store, API, ENTRY)
    assert ring.held == {}
    assert not store.uses_keyring(API)
    assert store.read(API) == ENTRY


def test_removing_from_the_keyring(store: TokenStore, ring: Ring) -> None:
    keep(store, API, ENTRY, keyring=True)
    with store.locked():
        store.remove(API)
    assert (ring.held, store.api_urls()) == ({}, [])


def test_a_keyring_that_is_locked(store: TokenStore, ring: Ring) -> None:
    keep(store, API, ENTRY, keyring=True)
    ring.locked = True
    with pytest.raises(EnvironmentFault) as caught:
        store.read(API)
    assert caught.value.code == "CMD-LOGIN-050"
    assert "secret" not in str(caught.value) + caught.value.hint


def test_no_keyring(store: TokenStore) -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.fail.Keyring())  # type: ignore[no-untyped-call]
    try:
        with pytest.raises(EnvironmentFault) as caught:
            keep(store, API, ENTRY, keyring=True)
    finally:
        keyring.set_keyring(before)
    assert caught.value.code == "CMD-LOGIN-050"
    assert not store.file.exists(), "tokens do not go into a file instead"


@pytest.mark.parametrize("text", ["", "no json", "[]"])
def test_a_keyring_that_holds_something_else(text: str, store: TokenStore, ring: Ring) -> None:
    keep(store, API, ENTRY, keyring=True)
    ring.held["commodore", API] = text
    assert store.read(API) is None


def test_ignoring_is_possible(store: TokenStore) -> None:
    with store.locked():
        store.write(API, ENTRY, keyring=False)
        store.remove("https://other")
    assert store.has(API)
