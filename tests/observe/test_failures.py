"""Failures and races that a decision meets; tests/observe/cluster has the ones that need a server."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.observe.conftest import decide, plan
from tests.world.kargo import (
    NOW,
    REPOSITORY,
    application,
    drifted,
    freight,
    freight_name,
    images_of,
    promotion,
    recorded,
    stage,
    warehouse,
)


def test_kargo_has_pushed_and_argo_cd_has_not_synced() -> None:
    """The cluster runs the old image and Kargo records the new one: never a Promotion back."""
    pushed = stage(history=[recorded("2")], last=(5, "2"))
    old = application(images=[f"{REPOSITORY}:1"], synced=60)
    assert decide(drifted(pushed, old)).reason == "AwaitingSync"
    assert decide(drifted(pushed, old), NOW + timedelta(days=3)).verdict.severity == "warning"


def test_a_hand_edit_that_was_synced_while_a_promotion_ran() -> None:
    """It waits, and the next sync frees it."""
    pushed = stage(history=[recorded("2")], last=(5, "2"))
    edited = application(images=[f"{REPOSITORY}:1"], synced=6)
    assert decide(drifted(pushed, edited)).reason == "AwaitingSync"
    assert decide(drifted(pushed, application(images=[f"{REPOSITORY}:1"], synced=4))).reason == "Promote"


def test_a_rolling_update() -> None:
    assert decide(drifted(application(images=[f"{REPOSITORY}:1", f"{REPOSITORY}:2"]))).reason == "Settling"


def test_an_old_pod_of_a_finished_job() -> None:
    """Whatever Kargo records meanwhile, there is no Promotion back and forth."""
    both = application(images=[f"{REPOSITORY}:1", f"{REPOSITORY}:2"])
    for word in ("1", "2"):
        assert decide(drifted(both, stage(history=[recorded(word)]))).reason == "Settling"


def test_a_promotion_that_sorts_before_what_a_user_promoted_is_planned_again() -> None:
    """Ours was not recorded, theirs was: the next decision sees what runs now."""
    ours = promotion("2", ago=31, ours=True)
    theirs = stage(history=[recorded("1")], last=(30, "1"))
    assert decide(drifted(ours, theirs)).reason == "Promote"
    assert decide(drifted(ours, theirs, application(images=[f"{REPOSITORY}:1"]))).reason == "Converged"


def test_auto_promotion_at_the_same_time() -> None:
    assert decide(drifted(promotion("3", "Pending", ago=0))).reason == "PromotionInFlight"


def test_a_leader_that_was_killed_after_the_create() -> None:
    assert decide(drifted(promotion("2", "", ago=0, ours=True))).reason == "PromotionInFlight"


def test_a_promotion_that_was_deleted_while_it_ran() -> None:
    assert decide(drifted()).reason == "Promote"


def test_a_freight_that_was_deleted() -> None:
    objects = [item for item in drifted() if item["metadata"]["name"] != freight_name("2")]
    assert decide(objects).reason == "FreightMissing"


def test_a_stage_that_was_renamed() -> None:
    assert decide(drifted(application(stage="shop:old"))).reason == "StageNotFound"


def test_an_application_that_moved_to_another_stage() -> None:
    assert [str(item.stage) for item in plan(drifted(application(stage="shop:test"), stage("test")))] == ["shop/test"]


def test_two_applications_on_different_versions() -> None:
    decision = decide(drifted(application("other", images=[f"{REPOSITORY}:1"])))
    assert decision.reason == "Settling"
    assert "argocd/other" in decision.message
    assert "argocd/web" in decision.message


def test_an_application_that_authorizes_stages_of_two_projects() -> None:
    """Each is judged by its own subscriptions."""
    other = stage()
    other["metadata"]["namespace"] = "spare"
    decisions = plan(drifted(application(stage="shop:prod,spare:prod"), other))
    assert [decision.reason for decision in decisions] == ["Promote", "NothingSubscribed"]


def test_a_stage_without_history_takes_over_what_runs() -> None:
    first = stage(history=[], last=None)
    decision = decide(drifted(first))
    assert (decision.reason, decision.verdict.freight) == ("Promote", freight_name("2"))
    assert [item.recorded for item in decision.drift] == [()]


def test_a_tag_that_was_never_discovered() -> None:
    assert (
        "outside of the subscription's constraint or limit"
        in decide(drifted(application(images=[f"{REPOSITORY}:9"]))).message
    )


def test_a_clock_that_is_wrong_by_hours() -> None:
    """Names come from no clock; the same Promotion is planned."""
    names = {
        decide(drifted(), NOW + timedelta(hours=hours)).verdict.promotion["metadata"]["name"]  # type: ignore[index]
        for hours in (-5, 0, 5)
    }
    assert len(names) == 1


def test_fields_that_this_kargo_does_not_have() -> None:
    bare = stage()
    bare["status"] = {"freightHistory": bare["status"]["freightHistory"]}
    assert decide(drifted(bare)).reason == "Promote"


@pytest.mark.requirement("O26")
def test_two_warehouses_that_drift_together_converge() -> None:
    """One Promotion after the other; a Freight with both drifts is never asked for."""
    database = "registry.example.com/shop/db"
    both = application(images=[f"{REPOSITORY}:2", f"{database}:5"], synced=1)
    fresh = [
        both,
        warehouse("db", repositories=("db",)),
        freight("5", warehouse="db", images=images_of(db="5")),
    ]
    requests = [{"origin": {"kind": "Warehouse", "name": name}, "sources": {"direct": True}} for name in ("db", "web")]
    first = decide(drifted(*fresh, stage(requests=requests)))
    assert first.verdict.freight == freight_name("5")
    taken = [recorded("1"), recorded("5", warehouse="db", images=images_of(db="5"))]
    second = decide(
        drifted(*fresh, stage(requests=requests, history=taken, last=(2, "5")), promotion("5", ago=2, ours=True))
    )
    assert second.verdict.freight == freight_name("2")
    done = [recorded("2"), recorded("5", warehouse="db", images=images_of(db="5"))]
    assert decide(drifted(*fresh, stage(requests=requests, history=done, last=(1, "2")))).reason == "Converged"
