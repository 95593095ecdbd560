"""Cluster and tenant objects become checked data."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.base.errors import CommodoreError, Findings
from commodore.base.events import Event, Noted, Warned
from commodore.core.lieutenant import Cluster, Tenant, parse_cluster
from tests.world.context import make_context
from tests.world.lieutenant import cluster, tenant


def parse(cluster_object: object, tenant_object: object, fallback: dict[str, Any] | None = None) -> Cluster:
    return parse_cluster(
        cluster_object, tenant_object, fallback or {}, make_context(), source="https://api.example.com/"
    )


def without(whole: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in whole.items() if name != key}


def findings(cluster_object: object, tenant_object: object) -> dict[str, str]:
    """The messages by code; codes that occur several times are numbered."""
    with pytest.raises(CommodoreError) as caught:
        parse(cluster_object, tenant_object)
    errors = caught.value.errors if isinstance(caught.value, Findings) else (caught.value,)
    assert all(str(error.locations[0]) == "https://api.example.com/" for error in errors)
    assert caught.value.exit_code == 1
    return {f"{error.code} {number}": error.message for number, error in enumerate(errors)}


@pytest.mark.requirement("C2")
def test_a_complete_cluster() -> None:
    """Facts, dynamic facts and the places of all configuration come from the API."""
    parsed = parse(cluster(), tenant())
    assert parsed == Cluster(
        id="c-one",
        display_name="Cluster c-one",
        tenant=Tenant(
            id="t-one",
            display_name="Tenant t-one",
            config_url="ssh://git@git.example.com/tenants/t-one.git",
            global_url="https://git.example.com/global/defaults.git",
            global_revision=None,
            config_revision=None,
        ),
        facts={"cloud": "cloudscale", "distribution": "k3s", "region": "rma1"},
        dynamic_facts={"kubernetesVersion": {"major": "1", "minor": "31"}},
        catalog_url="ssh://git@git.example.com/catalogs/c-one.git",
        global_revision=None,
        tenant_revision=None,
    )


@pytest.mark.parametrize(
    ("on_cluster", "on_tenant", "expected"),
    [
        ({}, {}, None),
        ({}, {"R": "v1"}, "v1"),
        ({"R": "v2"}, {"R": "v1"}, "v2"),
        ({"R": None}, {"R": "v1"}, None),
        ({"R": ""}, {"R": "v1"}, None),
        ({"R": "v2"}, {}, "v2"),
    ],
)
@pytest.mark.parametrize(
    ("key", "attribute"),
    [("globalGitRepoRevision", "global_revision"), ("tenantGitRepoRevision", "tenant_revision")],
)
def test_the_clusters_revision_wins_if_its_key_is_present(
    key: str, attribute: str, on_cluster: dict[str, Any], on_tenant: dict[str, Any], expected: str | None
) -> None:
    parsed = parse(
        cluster(**dict.fromkeys([key] * len(on_cluster), on_cluster.get("R"))),
        tenant(**dict.fromkeys([key] * len(on_tenant), on_tenant.get("R"))),
    )
    assert getattr(parsed, attribute) == expected


def test_everything_missing_is_reported_at_once() -> None:
    assert sorted(findings({}, {}).values()) == [
        "the cluster has no displayName",
        "the cluster has no fact 'cloud'",
        "the cluster has no fact 'distribution'",
        "the cluster has no gitRepo.url, the catalog repository",
        "the cluster has no id",
        "the cluster has no tenant",
        "the tenant has no displayName",
        "the tenant has no gitRepo.url, the tenant's configuration",
        "the tenant has no globalGitRepoURL",
        "the tenant has no id",
    ]


@pytest.mark.parametrize("key", ["id", "displayName", "tenant", "gitRepo"])
def test_each_missing_key_of_a_cluster_is_one_finding(key: str) -> None:
    """A missing displayName used to end in a traceback."""
    (message,) = findings(without(cluster(), key), tenant()).values()
    assert key in message


@pytest.mark.parametrize("key", ["id", "displayName", "globalGitRepoURL", "gitRepo"])
def test_each_missing_key_of_a_tenant_is_one_finding(key: str) -> None:
    (message,) = findings(cluster(), without(tenant(), key)).values()
    assert key in message


def test_wrong_types_are_named_in_the_words_of_json() -> None:
    messages = findings(
        cluster(displayName=5, gitRepo="x", facts=[], dynamicFacts="no", globalGitRepoRevision=1.5),
        tenant(gitRepo={"url": True}, globalGitRepoURL={}, tenantGitRepoRevision=["v1"]),
    )
    assert list(messages.values()) == [
        "cluster 'c-one' has a number as displayName, expected text",
        "cluster 'c-one' has text as gitRepo, expected an object",
        "cluster 'c-one' has a list as facts, expected an object",
        "cluster 'c-one' has text as dynamicFacts, expected an object",
        "tenant 't-one' has true as gitRepo.url, expected text",
        "tenant 't-one' has a map as globalGitRepoURL, expected text",
        "tenant 't-one' has a list as tenantGitRepoRevision, expected text",
        "cluster 'c-one' has a number as globalGitRepoRevision, expected text",
    ]


@pytest.mark.parametrize("value", [None, [], "text", 7])
def test_an_object_that_is_none(value: object) -> None:
    (message,) = findings(value, tenant()).values()
    assert message.startswith("the cluster is ")


def test_tenant_mismatch() -> None:
    messages = findings(cluster(tenant_id="t-other"), tenant())
    assert messages == {
        "CMD-API-022 0": "cluster 'c-one' belongs to tenant 't-other', but the given tenant is 't-one'",
    }


@pytest.mark.parametrize("fact", ["cloud", "distribution"])
@pytest.mark.parametrize("value", [..., "", None])
def test_required_facts_are_named(fact: str, value: object) -> None:
    facts = {"cloud": "cloudscale", "distribution": "k3s"} | {fact: value}
    messages = findings(cluster(facts={k: v for k, v in facts.items() if v is not ...}), tenant())
    assert messages == {"CMD-API-023 0": f"cluster 'c-one' has no fact '{fact}'"}


def test_a_required_fact_must_be_text() -> None:
    messages = findings(cluster(facts={"cloud": ["x"], "distribution": "k3s"}), tenant())
    assert messages == {"CMD-API-021 0": "cluster 'c-one' has a list as fact 'cloud', expected text"}


@pytest.mark.parametrize("name", ["../x", "a/b", "-x", ".git", "UPPER", "x\n", "a b", "x" * 201])
def test_names_that_are_no_paths_are_refused(name: str) -> None:
    """The tenant's id became a folder unchecked. Cluster and tenant say the same, so it is said once."""
    code = "CMD-NAME-006 0" if len(name) > 200 else "CMD-NAME-001 0"
    assert set(findings(cluster(tenant_id=name), tenant(name))) == {code}
    assert set(findings(cluster(name), tenant())) == {code}


@pytest.mark.parametrize("name", ["global", "components", "defaults", "params"])
def test_a_tenant_cannot_take_the_place_of_a_class_folder(name: str) -> None:
    assert set(findings(cluster(tenant_id=name), tenant(name))) == {"CMD-NAME-002 0"}
    assert parse(cluster(name), tenant()).id == name  # a cluster may


def test_dynamic_facts_of_the_command_line_are_a_fallback() -> None:
    given = {"a": 1}
    assert parse(cluster(dynamicFacts=...), tenant(), given).dynamic_facts == {"a": 1}
    assert parse(cluster(dynamicFacts={}), tenant(), given).dynamic_facts == {}
    assert parse(cluster(dynamicFacts=None), tenant(), given).dynamic_facts == {}


def test_ignored_dynamic_facts_are_announced() -> None:
    collected: list[Event] = []
    parse_cluster(cluster(dynamicFacts={}), tenant(), {"a": 1}, make_context(announce=collected.append), source="x")
    assert collected == [
        Noted("cluster c-one has dynamic facts of its own; those of the command line are ignored"),
    ]
    collected.clear()
    parse_cluster(cluster(), tenant(), {}, make_context(announce=collected.append), source="x")
    parse_cluster(cluster(dynamicFacts=...), tenant(), {"a": 1}, make_context(announce=collected.append), source="x")
    assert collected == []


def test_facts_that_are_not_text_are_kept_and_announced() -> None:
    collected: list[Event] = []
    facts = {"cloud": "c", "distribution": "d", "version": 4.1, "flag": True}
    parsed = parse_cluster(cluster(facts=facts), tenant(), {}, make_context(announce=collected.append), source="x")
    assert parsed.facts == facts
    assert [(e.code, e.message) for e in collected if isinstance(e, Warned)] == [
        ("CMD-API-024", "fact 'flag' of cluster c-one is true, not text"),
        ("CMD-API-024", "fact 'version' of cluster c-one is a number, not text"),
    ]
