"""One pass over a cluster: how many Promotions it makes, and what it does next to a controller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.observe import Decision
from commodore.observe.cluster.client import ClusterAccess
from commodore.observe.cluster.creator import CreationOutcome
from commodore.observe.cluster.running import Clusters, LeaseOptions, observe_once
from tests.observe.cluster.conftest import OPTIONS, TIMES, Start
from tests.world.kargo import REPOSITORY, Object, application, drifted, promotion, stage
from tests.world.kubernetes import Running, wait_until

Done = Sequence[tuple[Decision, CreationOutcome | None]]


def once(cluster: Running, on_wait: Callable[[int], None] = lambda _due: None, **options: Any) -> Done:
    clusters = Clusters(ClusterAccess(cluster.kubeconfig))
    lease = LeaseOptions(namespace="observer", times=TIMES)
    return asyncio.run(observe_once(clusters, replace(OPTIONS, **options), None, lease, on_wait=on_wait))


def outcomes(done: Done) -> list[str]:
    return [outcome.kind if outcome else "" for _, outcome in done]


def stages(count: int) -> list[Object]:
    """Stages that all run what is not recorded."""
    names = [f"s{number}" for number in range(count)]
    return [*drifted(without="Application"), *(application(name, stage=f"shop:{name}") for name in names)] + [
        stage(name) for name in names
    ]


def test_a_pass_keeps_to_the_limit_with_the_passes_before_it(cluster: Running) -> None:
    cluster.api.put(*stages(5))
    assert outcomes(once(cluster, max_promotions=2)) == ["created", "created", "left", "left", "left"]
    assert outcomes(once(cluster, max_promotions=3)) == ["", "", "created", "left", "left"]
    assert outcomes(once(cluster, max_promotions=3)) == ["", "", "", "left", "left"]
    assert len(cluster.api.all("promotions")) == 3


def test_promotions_of_others_and_old_ones_do_not_count(cluster: Running) -> None:
    cluster.api.put(*stages(1), promotion("1", ago=0, stage="spare"), promotion("1", ago=2, stage="other", ours=True))
    assert outcomes(once(cluster, max_promotions=1)) == ["created"]


def test_a_pass_beside_a_controller(cluster: Running, start: Start) -> None:
    """The controller holds the lease and renews it, so the pass ends; once it is left, the pass takes it."""
    cluster.api.put(*drifted(application(images=[f"{REPOSITORY}:1"])))
    replica = start(times=TIMES)
    wait_until(lambda: replica.value("leader") == 1)
    with pytest.raises(PolicyError, match="holds the lease observer/commodore-observe") as caught:
        once(cluster)
    assert caught.value.code == "CMD-OBS-020"
    replica.stop()
    assert outcomes(once(cluster)) == [""]
    (lease,) = cluster.api.all("leases")
    assert lease["spec"]["holderIdentity"] == ""


@pytest.mark.requirement("O37")
def test_a_pass_holds_the_lease_that_was_never_there(cluster: Running) -> None:
    """Two passes that no controller runs next to must not promote both."""
    cluster.api.put(*drifted())
    holders = []

    def look(_due: int) -> None:
        holders.extend(lease["spec"]["holderIdentity"] for lease in cluster.api.all("leases"))

    assert outcomes(once(cluster, look)) == ["created"]
    assert [bool(holder) for holder in holders] == [True]
    (lease,) = cluster.api.all("leases")
    assert lease["spec"]["holderIdentity"] == ""


def test_a_lease_that_the_server_refuses_is_an_error_of_its_own(cluster: Running) -> None:
    cluster.api.put(*drifted())
    cluster.api.fail("create", "leases", code=403, message="leases is forbidden")
    with pytest.raises(EnvironmentFault, match="does not allow to write leases"):
        once(cluster)
    assert cluster.api.all("promotions") == []


@pytest.mark.requirement("O19")
def test_a_pass_records_events_once_an_hour(cluster: Running) -> None:
    """Passes know nothing of each other: the names of their events keep equal ones apart from new ones."""
    switch = application(annotations={"observe.commodore.dev/ignore": "True"})
    cluster.api.put(
        *drifted(switch), stage("spare"), application("spare", images=[f"{REPOSITORY}:7"], stage="shop:spare")
    )
    for _ in range(2):
        once(cluster)
    recorded = sorted((event["involvedObject"]["name"], event["reason"]) for event in cluster.api.all("events"))
    assert set(recorded) == {("web", "AnnotationInvalid"), ("prod", "PromotionCreated"), ("spare", "FreightMissing")}
    assert len(recorded) <= 6  # twice as many only if the hour ended between the passes
