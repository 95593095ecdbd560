"""Stage 1: two requests make a cluster."""

from __future__ import annotations

import pytest

from commodore.base.errors import CommodoreError, Findings
from commodore.base.events import Event, Noted, ignore
from commodore.core.lieutenant import Cluster, LieutenantApi, LieutenantClient, load_cluster, parse_cluster
from tests.world.context import make_context
from tests.world.lieutenant import LieutenantServer, answering, cluster, tenant


def load(api: LieutenantServer, cluster_id: str = "c-one", facts: dict[str, str] | None = None) -> Cluster:
    with LieutenantClient(api.url, lambda: "token", make_context(announce=ignore)) as client:
        return load_cluster(client, cluster_id, facts or {}, make_context(announce=ignore))


@pytest.mark.requirement("C2", "C4")
def test_a_cluster_is_loaded_with_two_requests() -> None:
    """Facts, dynamic facts and the places of the configuration come from the API, and take two requests."""
    with LieutenantServer([cluster()], [tenant()]) as api:
        assert load(api) == parse_cluster(cluster(), tenant(), {}, make_context(), source="x")
        assert [request.target for request in api.requests] == ["/clusters/c-one", "/tenants/t-one"]


def test_dynamic_facts_of_the_command_line() -> None:
    collected: list[Event] = []
    with (
        LieutenantServer([cluster(), cluster("c-new", dynamicFacts=...)], [tenant()]) as api,
        LieutenantClient(api.url, lambda: "token", make_context(announce=ignore)) as client,
    ):
        assert load_cluster(client, "c-new", {"a": "b"}, make_context(announce=collected.append)).dynamic_facts == {
            "a": "b"
        }
        assert collected == []
        load_cluster(client, "c-one", {"a": "b"}, make_context(announce=collected.append))
        assert len(collected) == 1
        assert isinstance(collected[0], Noted)


def test_findings_of_both_objects_come_together() -> None:
    with LieutenantServer([cluster(displayName=...)], [tenant(displayName=...)]) as api:
        with pytest.raises(Findings) as caught:
            load(api)
        assert len(caught.value.errors) == 2
        assert str(caught.value.errors[0].locations[0]) == f"{api.url}/"


def test_a_cluster_that_is_not_known_is_suggested() -> None:
    with LieutenantServer([cluster("c-prod"), cluster("c-other")], [tenant()]) as api:
        context = make_context(announce=ignore)
        with pytest.raises(CommodoreError) as caught:
            LieutenantApi.at(api.url, "token", context).load("c-prd", context)
        assert (caught.value.code, caught.value.exit_code) == ("CMD-API-018", 1)
        assert caught.value.hint.startswith("did you mean 'c-prod'?; `commodore catalog list` lists")
        api.script(answering({}, status=500), times=9, path="/clusters")
        with pytest.raises(CommodoreError) as caught:
            LieutenantApi.at(api.url, "token", context).load("c-prd", context)
        assert caught.value.code == "CMD-API-018"


@pytest.mark.parametrize("reference", [..., "", "../clusters/c-one", 5, "global"])
def test_a_broken_reference_to_the_tenant_is_not_followed(reference: object) -> None:
    with LieutenantServer([cluster(tenant=reference, facts={})], [tenant()]) as api:
        with pytest.raises(Findings) as caught:
            load(api)
        assert len(caught.value.errors) == 3  # the reference and two facts, nothing about the tenant itself
        assert len(api.requests) == 1


def test_another_tenant_than_asked_for() -> None:
    with LieutenantServer([cluster()]) as api:
        api.script(answering(tenant("t-other")), path="/tenants/t-one")
        with pytest.raises(CommodoreError) as caught:
            load(api)
        assert caught.value.code == "CMD-API-022"


def test_another_cluster_than_asked_for() -> None:
    with LieutenantServer([cluster()], [tenant()]) as api:
        api.script(answering(cluster()), path="/clusters/c-two")
        with pytest.raises(CommodoreError) as caught:
            load(api, "c-two")
        assert caught.value.code == "CMD-API-025"


def test_an_unknown_tenant_is_named() -> None:
    with LieutenantServer([cluster()]) as api, pytest.raises(CommodoreError, match="no tenant 't-one'"):
        load(api)
