"""The Lieutenant of the tests keeps its promises."""

from __future__ import annotations

import threading

import pytest
import requests

from tests.world.lieutenant import LieutenantServer, cluster, failing, slow, tenant


def test_regular_answers() -> None:
    with LieutenantServer([cluster("c-b"), cluster("c-a", "t-two")], [tenant()], oidc={"clientId": "x"}) as api:
        get = requests.get
        assert get(api.url, timeout=5).json() == {"oidc": {"clientId": "x"}}
        assert get(f"{api.url}/clusters/c-b", timeout=5).json() == cluster("c-b")
        assert get(f"{api.url}/tenants/t-one", timeout=5).json() == tenant()
        assert [each["id"] for each in get(f"{api.url}/clusters/?sort_by=id", timeout=5).json()] == ["c-a", "c-b"]
        assert [each["id"] for each in get(f"{api.url}/clusters/?tenant=t-two", timeout=5).json()] == ["c-a"]
        assert get(f"{api.url}/clusters/c-x", timeout=5).status_code == 404
        assert requests.post(f"{api.url}/clusters/c-b/compileMeta", json={"a": 1}, timeout=5).status_code == 204
        assert api.reports == [("c-b", {"a": 1})]


def test_a_token_is_asked_for_if_there_is_one() -> None:
    with LieutenantServer([cluster()], token="t") as api:
        assert requests.get(f"{api.url}/clusters/", timeout=5).status_code == 401
        bearer = {"Authorization": "Bearer t"}
        assert requests.get(f"{api.url}/clusters/", headers=bearer, timeout=5).status_code == 200


def test_a_script_is_used_up_by_the_requests_it_fits() -> None:
    with LieutenantServer([cluster()]) as api:
        api.script(failing(500), failing(502), times=2, path="/clusters/")
        assert requests.get(f"{api.url}/clusters/c-one", timeout=5).status_code == 200
        statuses = [requests.get(f"{api.url}/clusters/", timeout=5).status_code for _ in range(5)]
        assert statuses == [500, 500, 502, 502, 200]


def test_nothing_is_left_behind() -> None:
    before = threading.active_count()
    with LieutenantServer([cluster()]) as api, requests.Session() as session:
        session.get(f"{api.url}/clusters/", timeout=5)
        api.script(slow(600))
        with pytest.raises(requests.ReadTimeout):
            session.get(f"{api.url}/clusters/", timeout=0.05)
    assert threading.active_count() == before
