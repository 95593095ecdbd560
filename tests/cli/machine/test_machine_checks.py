"""`commodore.cli.machine.machine_checks`: every thing that can be wrong is found, and has a cure."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.limits import Limits
from commodore.cli.machine.machine_checks import Check, Installation, examine
from commodore.core.results.caches import cache_folder, token_cache
from tests.world.context import make_context
from tests.world.folders import write_script
from tests.world.lieutenant import LieutenantServer, cluster, failing

FOREVER = 4102444800


def jwt(expiry: int) -> str:
    """A token that says when it expires."""
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in ({}, {"exp": expiry})]
    return b".".join([*parts, b"sig"]).decode()


GOOD, EXPIRED = jwt(FOREVER), jwt(1)


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    """An installation without an API."""
    return Installation(tmp_path / "commodore", None, None, token_cache(), 5)


@pytest.fixture
def api() -> Iterator[LieutenantServer]:
    with LieutenantServer([cluster("c-one")], token=GOOD) as server:
        yield server


def checks(installation: Installation, limits: Limits | None = None) -> dict[str, Check]:
    return {
        item.name: item for item in examine(installation, make_context(limits=limits) if limits else make_context())
    }


def test_a_machine_on_which_all_is_well(here: Installation) -> None:
    result = checks(here)
    assert list(result) == ["git", "helm", "kustomize", "name", "API", "token", "cache"]
    assert [item.name for item in result.values() if item.state not in ("ok", "skipped")] == []
    assert {result["API"].state, result["token"].state} == {"skipped"}
    assert "--api-url (COMMODORE_API_URL)" in result["API"].cure
    assert not cache_folder().exists(), "looking makes nothing"


def test_missing_tools_and_old_ones(here: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_script(tmp_path / "bin/helm", "echo v3.7.2")
    write_script(tmp_path / "bin/git", "echo git version 2.30.1")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    result = checks(here)
    assert (result["git"].state, result["helm"].state, result["kustomize"].state) == ("failed",) * 3
    assert "2.30.1" in result["git"].message
    assert result["git"].cure == "install git 2.31.0 or newer and put it on PATH"
    assert "too old: at least 3.8.0 is needed" in result["helm"].message
    assert result["helm"].cure.startswith("commodore tool install helm, and remove the old one")
    assert (result["kustomize"].message, result["kustomize"].cure) == ("not found", "commodore tool install kustomize")
    assert {result[name].exit_code for name in ("git", "helm", "kustomize")} == {3}


def test_another_package_of_the_same_name(here: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site" / "other-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[console_scripts]\ncommodore = other:main\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    check = checks(here)["name"]
    assert (check.state, check.exit_code) == ("failed", 3)
    assert check.message.startswith("other in the same Python environment")
    assert "pipx install commodore-catalog" in check.cure


def test_another_program_of_the_same_name(here: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = write_script(tmp_path / "bin/commodore", "")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    check = checks(here)["name"]
    assert (check.state, check.message) == ("warning", f"`commodore` in PATH is {other}, not {here.program}")
    here.program.symlink_to(other)
    assert checks(here)["name"].state == "ok"


@pytest.mark.parametrize(
    ("token", "state", "words"),
    [
        (GOOD, "ok", "the token given, valid until 2100-01-01 00:00 UTC, and the API accepts it"),
        (jwt(FOREVER + 1), "failed", "did not accept the token"),
        (EXPIRED, "failed", "the token given has expired"),
        (None, "failed", "there is no token"),
        ("/no/such/file", "failed", "there is no such file"),
    ],
    ids=["good", "refused", "expired", "missing", "file"],
)
def test_tokens(here: Installation, api: LieutenantServer, token: str | None, state: str, words: str) -> None:
    result = checks(replace(here, api_url=api.url, api_token=token))
    assert (result["API"].state, result["token"].state) == ("ok", state)
    assert words in result["token"].message
    assert bool(result["token"].cure) == (state == "failed") == bool(result["token"].exit_code)


def test_a_login_that_can_be_renewed_is_not_renewed(here: Installation, api: LieutenantServer) -> None:
    token_cache().parent.mkdir(parents=True)
    token_cache().write_text(json.dumps({api.url: {"id_token": EXPIRED, "refresh_token": "more"}}))
    before = token_cache().read_bytes()
    check = checks(replace(here, api_url=api.url))["token"]
    assert (check.state, check.message) == (
        "ok",
        "the token of the last login has expired; the next command renews it",
    )
    assert token_cache().read_bytes() == before
    assert [request.path for request in api.requests] == ["/"]


def test_an_api_that_fails(here: Installation, api: LieutenantServer) -> None:
    api.script(failing(404), times=9)
    result = checks(replace(here, api_url=api.url, api_token=GOOD))
    assert (result["API"].state, result["API"].code, result["API"].exit_code) == ("failed", "CMD-API-009", 3)
    assert (result["token"].state, result["token"].exit_code) == ("skipped", 0)


def test_an_api_that_is_no_url(here: Installation) -> None:
    check = checks(replace(here, api_url="not a url", api_token=GOOD))["API"]
    assert (check.state, bool(check.cure), check.exit_code) == ("failed", True, 1)


def test_a_cache_that_is_a_link(here: Installation, tmp_path: Path) -> None:
    cache_folder().parent.mkdir(parents=True, exist_ok=True)
    cache_folder().symlink_to(tmp_path)
    check = checks(here)["cache"]
    assert (check.state, check.code, check.exit_code) == ("failed", "CMD-CACHE-005", 4)
    assert "XDG_CACHE_HOME" in check.cure


def test_a_cache_with_little_room(here: Installation) -> None:
    check = checks(here, Limits(little_space_bytes=1 << 60))["cache"]
    assert (check.state, check.exit_code) == ("warning", 0)
    assert "commodore cache prune" in check.cure
