"""`catalog list`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Shown
from tests.world.lieutenant import LieutenantServer, cluster, failing, plain, tenant

Call = Callable[..., Shown]

TOKEN = "opaque-token"


@pytest.fixture
def api() -> Iterator[LieutenantServer]:
    with LieutenantServer([cluster("c-b"), cluster("c-a", "t-two", displayName=...)], [tenant()], token=TOKEN) as api:
        yield api


def test_lists(call: Call, api: LieutenantServer) -> None:
    """The table, and the formats for programs; filters and order are the API's."""
    words = ["catalog", "list", "--api-url", api.url, "--api-token", TOKEN]
    assert call(*words) == (
        0,
        "ID   DISPLAY NAME TENANT  \nc-b  Cluster c-b  t-one   \nc-a               t-two   \n",
        "",
    )
    assert call(*words, "-o", "id") == (0, "c-b\nc-a\n", "")
    assert call(*words, "-o", "ID", "--sort-by", "id") == (0, "c-a\nc-b\n", "")
    assert call(*words, "-o", "id", "-t", "t-two") == (0, "c-a\n", "")
    assert json.loads(call(*words, "--out", "json")[1])[0] == cluster("c-b")
    assert yaml.safe_load(call(*words, "-o", "yml")[1])[0] == cluster("c-b")
    assert {request.target for request in api.requests} >= {"/clusters/?sort_by=id", "/clusters/?tenant=t-two"}


def test_an_empty_text_is_no_value(call: Call, api: LieutenantServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an option, and of a variable: scripts pass on variables that are not set."""
    monkeypatch.setenv("COMMODORE_API_URL", api.url)
    monkeypatch.setenv("COMMODORE_CATALOG_LIST_TENANT", "")
    words = ["catalog", "list", "--api-token", TOKEN]
    assert call(*words, "--api-url", "", "-t", "", "--sort-by", "", "-o", "id") == (0, "c-b\nc-a\n", "")
    assert call(*words, "-o", "")[1].startswith("ID ")
    assert {request.target for request in api.requests} == {"/clusters/"}


def test_a_list_that_is_null(call: Call, api: LieutenantServer) -> None:
    """So an API that is written in Go says that it has none."""
    api.script(plain(200, "null", content_type="application/json"))
    assert call("catalog", "list", "--api-url", api.url, "--api-token", TOKEN, "-o", "id") == (0, "", "")


def test_lists_of_a_file(call: Call, tmp_path: Path) -> None:
    """Filter and order are ours then."""
    path = tmp_path / "clusters.json"
    path.write_text(json.dumps({"clusters": [cluster("c-b"), cluster("c-a", "t-two")], "tenants": []}))
    words = ["catalog", "list", "--cluster-file", str(path), "-o", "id"]
    assert call(*words)[1] == "c-b\nc-a\n"
    assert call(*words, "--sort-by", "id")[1] == "c-a\nc-b\n"
    assert call(*words, "-t", "t-two")[1] == "c-a\n"


def test_an_empty_list(call: Call) -> None:
    with LieutenantServer() as api:
        words = ["catalog", "list", "--api-url", api.url, "--api-token", TOKEN]
        assert call(*words) == (0, "ID  DISPLAY NAME TENANT  \n", "")
        assert call(*words, "-o", "id") == (0, "", "")


def test_errors_of_the_api(call: Call, api: LieutenantServer) -> None:
    """Each names the API and what to do: a wrong token, a server in trouble, text instead of JSON, nobody there."""
    words = ["catalog", "list", "--api-url", api.url, "--api-token"]
    code, out, err = call(*words, "wrong")
    assert (code, out) == (1, "")
    assert "401" in err
    assert "hint:" in err
    api.script(failing(503, "down for a moment"), times=9)
    code, _, err = call(*words, TOKEN)
    assert code == 3
    assert "down for a moment" in err
    with LieutenantServer() as other:
        other.script(plain(401, "<html>log in</html>"))
        code, _, err = call("catalog", "list", "--api-url", other.url, "--api-token", TOKEN)
        assert code == 1
        assert "401" in err
        port = other.port
    code, _, err = call("catalog", "list", "--api-url", f"http://127.0.0.1:{port}", "--api-token", TOKEN)
    assert code == 3
    assert f"127.0.0.1:{port}" in err
    assert "hint:" in err


def test_without_an_api(call: Call) -> None:
    code, _, err = call("catalog", "list")
    assert code == 2
    assert "--api-url" in err
    code, _, err = call("catalog", "list", "--api-url", "https://api.example.com")
    assert code == 2
    assert "--api-token" in err


def test_a_token_in_a_file(call: Call, api: LieutenantServer, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f" {TOKEN} \n")
    assert call("catalog", "list", "--api-url", api.url, "--api-token", "token", "-o", "id")[0] == 0
