"""The decision table: each row and each guard, each way into it, and that the row before it wins."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from commodore.observe import PlanOptions, SeenApplication, StageWorld, WatchScope, build_worlds, plan_stage
from tests.observe.conftest import decide, plan, read
from tests.world.kargo import (
    NOW,
    REPOSITORY,
    Object,
    application,
    at,
    digest,
    drifted,
    freight,
    freight_name,
    images_of,
    promotion,
    promotion_name,
    recorded,
    request,
    stage,
    warehouse,
)

IGNORED = {"kargo-observer.kutlak.cc/ignore": "true"}


def seen(objects: list[Object], **age: Any) -> StageWorld:
    """The one world, its Applications with the age of their images."""
    (world,) = build_worlds(read(objects), WatchScope(), holds=None)
    applications = tuple(SeenApplication(item.application, timedelta(**age)) for item in world.applications)
    return replace(world, applications=applications)


@pytest.mark.requirement("O12")
def test_row_25_promote() -> None:
    decision = decide(drifted())
    assert (decision.kind, decision.reason) == ("promote", "Promote")
    assert decision.verdict.freight == freight_name("2")
    assert decision.verdict.origin == "Warehouse/web"
    assert decision.verdict.retry_after == timedelta(seconds=60)
    assert decision.verdict.promotion is not None
    assert decision.verdict.promotion["spec"]["freight"] == freight_name("2")


# Rows 1 to 9: which Stages, and what runs there


@pytest.mark.requirement("O3")
@pytest.mark.parametrize(
    "prefix", ["kargo-observer.mkutlak.github.io", "kargo-observer.kutlak.cc", "observe.commodore.dev"]
)
def test_row_1_ignored(prefix: str) -> None:
    both = {f"{prefix}/ignore": "true", "observe.commodore.dev/observe": "true"}
    assert decide(drifted(application(annotations=both))).reason == "Ignored"
    assert decide(drifted(application(annotations={f"{prefix}/ignore": "yes"}))).reason == "Promote"


def test_row_1_one_of_two_is_ignored() -> None:
    other = application("other", images=[f"{REPOSITORY}:9"], annotations=IGNORED)
    assert decide(drifted(other)).reason == "Promote"


def test_row_1_not_opted_in() -> None:
    decision = decide(drifted(), observe_mode="opt-in")
    assert (decision.kind, decision.reason) == ("none", "NotOptedIn")
    asked = application(annotations={"observe.commodore.dev/observe": "true"})
    assert decide(drifted(asked), observe_mode="opt-in").reason == "Promote"


def test_row_2_stage_not_found() -> None:
    decision = decide(drifted(application(stage="shop:pord")))
    assert (decision.kind, decision.reason, str(decision.stage)) == ("blocked", "StageNotFound", "shop/pord")


def test_row_2_no_stages_given() -> None:
    decision = decide(drifted(without="Stage"))
    assert decision.reason == "StageNotFound"
    assert "no Stages given" in decision.message


def test_row_3_deleting() -> None:
    gone = stage()
    gone["metadata"]["deletionTimestamp"] = at(1)
    leaving = application("leaving")
    leaving["metadata"]["deletionTimestamp"] = at(1)
    assert decide(drifted(gone, leaving)).reason == "StageDeleting"
    assert decide(drifted(leaving)).reason == "ApplicationDeleting"
    leaving["metadata"]["annotations"].update(IGNORED)
    assert decide(drifted(leaving)).reason == "Promote"


def test_row_4_stage_has_targets() -> None:
    decision = decide(drifted(stage(spec={"targets": {"selectors": [{"matchLabels": {"a": "b"}}]}})))
    assert (decision.kind, decision.reason) == ("blocked", "StageHasTargets")


@pytest.mark.requirement("O7", "O8")
def test_row_5_nothing_subscribed() -> None:
    git = warehouse(repositories=(), subscriptions=[{"git": {"repoURL": "https://git.example.com/shop.git"}}])
    assert decide(drifted(git)).reason == "NothingSubscribed"
    missing = decide(drifted(stage(requests=[request("nowhere")])))
    assert missing.reason == "NothingSubscribed"
    assert "Warehouse/nowhere" in missing.message
    none = decide(drifted(without="Warehouse"))
    assert "no Warehouses given: cannot know what is subscribed" in none.message


def test_row_6_nothing_deployed() -> None:
    assert decide(drifted(application(images=["registry.example.com/other:1", REPOSITORY]))).reason == "NothingDeployed"


@pytest.mark.requirement("G1")
@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"sync": "OutOfSync"}, "OutOfSync"),
        ({"sync": "Unknown"}, "Unknown"),
        ({"sync": ""}, "not known"),
        ({"operationState": {"phase": "Running"}}, "operation"),
    ],
)
def test_row_7_not_synced(change: dict[str, Any], word: str) -> None:
    decision = decide(drifted(application(**change)))
    assert (decision.kind, decision.reason) == ("wait", "NotSynced")
    assert word in decision.message
    assert decide(drifted(application(**change)), unsynced=True).reason == "Promote"


@pytest.mark.requirement("O31", "G2")
def test_row_8_settling_with_two_versions() -> None:
    decision = decide(drifted(application(images=[f"{REPOSITORY}:1", f"{REPOSITORY}:2"])))
    assert (decision.kind, decision.reason) == ("wait", "Settling")
    assert decision.verdict.severity == "normal"


@pytest.mark.parametrize("health", ["Progressing", "Missing", "Unknown"])
def test_row_8_settling_by_health(health: str) -> None:
    assert decide(drifted(application(health=health))).reason == "Settling"
    assert decide(drifted(application(health=health)), health=frozenset({health})).reason == "Promote"


@pytest.mark.parametrize("health", ["Healthy", "Degraded", "Suspended", ""])
def test_row_8_healthy_enough(health: str) -> None:
    assert decide(drifted(application(health=health))).reason == "Promote"


def test_row_8_images_that_have_just_changed() -> None:
    decision = plan_stage(seen(drifted(), seconds=10), PlanOptions(), NOW)
    assert (decision.reason, decision.verdict.retry_after) == ("Settling", timedelta(seconds=20))
    assert plan_stage(seen(drifted(), seconds=30), PlanOptions(), NOW).reason == "Promote"
    assert plan_stage(seen(drifted(), seconds=10), PlanOptions(settle=timedelta(seconds=5)), NOW).reason == "Promote"


def test_row_8_leftovers_become_a_warning() -> None:
    rollout = drifted(application(images=[f"{REPOSITORY}:1", f"{REPOSITORY}:2"]))
    assert plan_stage(seen(rollout, minutes=29), PlanOptions(), NOW).verdict.severity == "normal"
    late = plan_stage(seen(rollout, minutes=30), PlanOptions(), NOW)
    assert (late.reason, late.verdict.severity) == ("Settling", "warning")
    assert "finished Jobs" in late.message
    assert f"{REPOSITORY}: 1 in argocd/web; 2 in argocd/web" in late.message


def test_row_8_named_subscriptions_may_have_a_version_each() -> None:
    two = warehouse(repositories=("web", "web"))
    both = freight("2", images=[*images_of(web="1"), *images_of(web="2")])
    objects = drifted(application(images=[f"{REPOSITORY}:1", f"{REPOSITORY}:2"]), two, both)
    assert decide(objects).reason == "Promote"


@pytest.mark.requirement("O9")
def test_row_9_converged() -> None:
    decision = decide(drifted(application(images=[f"{REPOSITORY}:1"])))
    assert (decision.kind, decision.reason, decision.drift) == ("none", "Converged", ())


@pytest.mark.requirement("O5", "O6")
def test_row_9_compares_the_newest_history_with_the_summary() -> None:
    object_ = stage()
    object_["status"]["freightHistory"].append({"id": "0", "items": {"Warehouse/web": recorded("2")}})
    (drift,) = decide(drifted(object_)).drift
    assert (drift.repository, str(drift.deployed), [str(item) for item in drift.recorded]) == (REPOSITORY, "2", ["1"])


# Rows 10 to 14: the Stage as a whole


@pytest.mark.requirement("O15", "G11")
def test_row_10_awaiting_sync() -> None:
    decision = decide(drifted(application(synced=31)))
    assert (decision.kind, decision.reason, decision.verdict.severity) == ("wait", "AwaitingSync", "normal")


@pytest.mark.parametrize(("seconds", "reason"), [(5, "AwaitingSync"), (6, "Promote")])
def test_row_10_clocks_may_differ(seconds: int, reason: str) -> None:
    assert decide(drifted(application(synced=30 - seconds / 60))).reason == reason
    margin = timedelta(seconds=seconds)
    assert decide(drifted(application(synced=30 - seconds / 60)), clock_margin=margin).reason == "AwaitingSync"


def test_row_10_an_operation_that_succeeded_is_a_sync() -> None:
    for phase, reason in (("Succeeded", "Promote"), ("Failed", "AwaitingSync")):
        done = {"phase": phase, "finishedAt": at(10)}
        assert decide(drifted(application(synced=None, operationState=done))).reason == reason


def test_row_10_the_sync_of_another_application_does_not_count() -> None:
    other = application("other", images=["registry.example.com/other:1"], synced=1)
    assert decide(drifted(application(synced=31), other)).reason == "AwaitingSync"


def test_row_10_ours_change_nothing_in_git() -> None:
    last = stage(last=(5, "1"))
    assert decide(drifted(last, promotion("1", ago=5))).reason == "AwaitingSync"
    assert decide(drifted(last, promotion("1", ago=5, ours=True))).reason == "Promote"
    before = promotion("3", ago=8)
    assert decide(drifted(last, promotion("1", ago=5, ours=True), before)).reason == "AwaitingSync"


@pytest.mark.requirement("O18")
def test_row_10_a_deleted_promotion_of_what_runs_is_not_waited_for() -> None:
    """Its labels are gone, its Freight is in the Stage's status. What others promoted before still counts."""
    last = {"name": promotion_name("prod", 5, "2"), "finishedAt": at(5), "freight": {"name": freight_name("2")}}
    assert decide(drifted(stage(lastPromotion=last))).reason == "Promote"
    assert decide(drifted(stage(lastPromotion=last), promotion("3", ago=8))).reason == "AwaitingSync"
    other = {**last, "freight": {"name": freight_name("1")}}
    assert decide(drifted(stage(lastPromotion=other))).reason == "AwaitingSync"
    runs_more = application(images=[f"{REPOSITORY}:2", f"{DB}:5"])
    both = freight("2", images=images_of(web="2", db="6"))
    assert decide(drifted(stage(lastPromotion=last), runs_more, both)).reason == "AwaitingSync"


def test_row_10_the_time_when_the_reference_has_none() -> None:
    """From the Promotion, else from its name; without any of them nothing is waited for."""
    last = stage(last=(5, "1"))
    del last["status"]["lastPromotion"]["finishedAt"]
    assert decide(drifted(last)).reason == "AwaitingSync"
    assert decide(drifted(last, promotion("1", ago=5, finished=20))).reason == "Promote"
    nameless = stage(last=None, lastPromotion={"name": "by-hand"})
    assert decide(drifted(nameless)).reason == "Promote"
    assert decide(drifted(stage(last=None))).reason == "Promote"


def test_row_10_becomes_a_warning_after_a_day() -> None:
    old = stage(last=(24 * 60 + 1, "1"))
    assert decide(drifted(old, application(synced=2000))).verdict.severity == "warning"


def test_row_11_no_promotion_steps() -> None:
    decision = decide(drifted(stage(steps=())))
    assert (decision.kind, decision.reason) == ("blocked", "StageHasNoPromotionSteps")


@pytest.mark.requirement("O16", "G3")
@pytest.mark.parametrize("phase", ["", "Pending", "Running", "Novel"])
def test_row_12_promotion_in_flight(phase: str) -> None:
    decision = decide(drifted(promotion("9", phase, ago=1)))
    assert (decision.kind, decision.reason) == ("wait", "PromotionInFlight")
    assert decision.verdict.retry_after == timedelta(seconds=30)
    assert decide(drifted(promotion("9", phase, ago=1, stage="other"))).reason == "Promote"


@pytest.mark.parametrize("field", ["currentPromotion", "currentPromotionRequest"])
def test_row_12_the_stage_says_so(field: str) -> None:
    assert decide(drifted(stage(**{field: {"name": "it"}}))).reason == "PromotionInFlight"


@pytest.mark.requirement("G4")
@pytest.mark.parametrize("phase", ["", "Pending", "Running"])
def test_row_13_verifying(phase: str) -> None:
    decision = decide(drifted(stage(verifications=[phase])))
    assert (decision.kind, decision.reason) == ("wait", "Verifying")


@pytest.mark.parametrize("phase", ["Successful", "Failed", "Error", "Aborted", "Inconclusive"])
def test_row_13_verified(phase: str) -> None:
    assert decide(drifted(stage(verifications=[phase]))).reason == "Promote"


@pytest.mark.requirement("O36", "G9")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("zz-by-hand", "StageHistoryStuck"),
        ("prod.zzz", "StageHistoryStuck"),
        (promotion_name("prod", -24 * 60 - 1, "1"), "StageHistoryStuck"),
        (promotion_name("prod", -23 * 60, "1"), "Promote"),
        ("by-hand", "Promote"),
        ("prod-observer-1", "Promote"),
    ],
)
def test_row_14_history_stuck(name: str, reason: str) -> None:
    last = stage(last=None, lastPromotion={"name": name, "finishedAt": at(30)})
    decision = decide(drifted(last))
    assert decision.reason == reason
    assert reason == "Promote" or name in decision.message


# Rows 15 to 22: the matches, one filter after the other


@pytest.mark.requirement("O28")
def test_row_15_mutable_tag() -> None:
    assert decide(drifted(warehouse(strategy="Digest"))).reason == "MutableTag"
    twice = [freight(word, images=images_of(web=f"2@{digest(word)}")) for word in ("2", "2b")]
    assert decide(drifted(*twice)).reason == "MutableTag"
    with_digest = application(images=[f"{REPOSITORY}:2@{digest('2b')}"])
    assert decide(drifted(*twice, with_digest)).verdict.freight == freight_name("2b")


def test_row_15_an_equal_tag_is_no_drift() -> None:
    assert decide(drifted(warehouse(strategy="Digest"), application(images=[f"{REPOSITORY}:1"]))).reason == "Converged"


@pytest.mark.requirement("O19")
def test_row_16_freight_missing() -> None:
    decision = decide(drifted(application(images=[f"{REPOSITORY}:3"])))
    assert (decision.kind, decision.reason) == ("blocked", "FreightMissing")
    assert decision.verdict.retry_after == timedelta(minutes=5)
    assert "Freights have 2, 1" in decision.message or "Freights have 1, 2" in decision.message
    assert "not discovered" in decision.message


def test_row_16_tells_what_was_discovered_without_freight() -> None:
    manual = warehouse(freightCreationPolicy="Manual")
    results = {"images": [{"repoURL": REPOSITORY, "references": [{"tag": "3"}]}]}
    manual["status"] = {"discoveredArtifacts": results}
    message = decide(drifted(manual, application(images=[f"{REPOSITORY}:3"]))).message
    assert "3 was discovered by Warehouse/web, whose freightCreationPolicy is Manual, but is in no Freight" in message


def test_row_16_no_freights_given() -> None:
    decision = decide(drifted(without="Freight"))
    assert decision.reason == "FreightMissing"
    assert "no Freights given" in decision.message


def test_row_16_freight_of_another_origin() -> None:
    assert decide(drifted(freight("2", warehouse="other"))).reason == "FreightMissing"


TWO = warehouse(repositories=("web", "db"))
DB = "registry.example.com/shop/db"


def two_images(**tags: str) -> list[Object]:
    """Both images are subscribed; web runs at 2, db at 5, recorded are 1 and 5."""
    return drifted(
        application(images=[f"{REPOSITORY}:2", f"{DB}:5"]),
        TWO,
        stage(history=[recorded("1", images=images_of(web="1", db="5"))]),
        freight("2", images=images_of(**tags)),
    )


@pytest.mark.requirement("O10", "O11", "O26")
def test_row_16_all_drifted_pairs_count() -> None:
    objects = two_images(web="2", db="6")
    objects[0] = application(images=[f"{REPOSITORY}:2", f"{DB}:6"])
    assert decide(objects).reason == "Promote"
    objects[0] = application(images=[f"{REPOSITORY}:2", f"{DB}:7"])
    decision = decide(objects)
    assert decision.reason == "FreightMissing"
    assert "but not together" in decision.message


@pytest.mark.requirement("O28")
def test_row_16_the_tag_with_another_digest() -> None:
    deployed = application(images=[f"{REPOSITORY}:2@{digest('ours')}"])
    decision = decide(drifted(deployed, freight("2", images=images_of(web=f"2@{digest('theirs')}"))))
    assert decision.reason == "FreightMissing"
    assert decision.message.endswith("Freights have 2, but with another digest)")


@pytest.mark.requirement("O29", "G5")
def test_row_17_freight_conflict() -> None:
    decision = decide(two_images(web="2", db="4"))
    assert (decision.kind, decision.reason) == ("blocked", "FreightConflict")
    assert f"{DB}:4" in decision.message
    assert decide(two_images(web="2", db="4"), allow_conflicts=True).reason == "Promote"
    assert decide(two_images(web="2", db="5")).reason == "Promote"


COMMITS = [{"repoURL": "https://git.example.com/shop.git", "id": "a" * 40}]
OTHERS: list[tuple[str, list[Object]]] = [
    ("commits", COMMITS),
    ("charts", [{"repoURL": "oci://example.com/chart", "version": "1.0.0"}]),
    ("artifacts", [{"artifactType": "x", "subscriptionName": "s", "version": "1"}]),
]


@pytest.mark.requirement("G6")
@pytest.mark.parametrize(("field", "value"), OTHERS)
def test_row_18_freight_carries_more(field: str, value: list[Object]) -> None:
    objects = drifted(freight("2", **{field: value}))
    decision = decide(objects)
    assert (decision.kind, decision.reason) == ("blocked", "FreightCarriesMore")
    assert "--other-artifacts warn" in decision.message
    warned = decide(objects, other_artifacts="warn")
    assert (warned.reason, warned.verdict.severity) == ("Promote", "warning")
    assert decide(objects, other_artifacts="ignore").verdict.severity == "normal"
    same = stage(history=[recorded("1", **{field: value})])
    assert decide(drifted(freight("2", **{field: value}), same)).reason == "Promote"


def test_row_18_nothing_recorded_is_no_difference() -> None:
    assert decide(drifted(freight("2", commits=COMMITS), stage(history=[]))).reason == "Promote"


@pytest.mark.requirement("O30", "G8")
def test_row_19_freight_not_available() -> None:
    asks = stage(requests=[request(stages=["test"], requiredSoakTime="1h")])
    decision = decide(drifted(asks))
    assert (decision.kind, decision.reason) == ("blocked", "FreightNotAvailable")
    assert "not verified in Stage test" in decision.message
    soaking = {"verifiedIn": {"test": {}}, "currentlyIn": {"test": {"since": at(50)}}}
    decision = decide(drifted(asks, freight("2", status=soaking)))
    assert decision.verdict.retry_after == timedelta(minutes=10)
    assert decide(drifted(asks, freight("2", status=soaking)), NOW + timedelta(minutes=10)).reason == "Promote"


@pytest.mark.requirement("O17")
@pytest.mark.parametrize(
    ("phase", "reason"),
    [("Failed", "PreviouslyFailed"), ("Errored", "PreviouslyFailed"), ("Aborted", "PreviouslyAborted")],
)
def test_row_20_previously_failed(phase: str, reason: str) -> None:
    decision = decide(drifted(promotion("2", phase, ago=20, ours=True)))
    assert (decision.kind, decision.reason) == ("blocked", reason)
    assert decide(drifted(promotion("2", phase, ago=20))).reason == "Promote"
    assert decide(drifted(promotion("2", phase, ago=20, ours=True, stage="other"))).reason == "Promote"


@pytest.mark.requirement("O18")
def test_row_20_deleting_or_a_later_success_allows_another_try() -> None:
    failed = promotion("2", "Failed", ago=20, ours=True)
    last = stage(last=(12, "2"))
    assert decide(drifted(failed, promotion("2", ago=12), last)).reason == "Promote"
    assert decide(drifted(failed, promotion("2", ago=25))).reason == "PreviouslyFailed"
    assert decide(drifted(failed, promotion("1", ago=15))).reason == "PreviouslyFailed"
    assert decide(drifted()).reason == "Promote"


def test_row_20_the_predecessors_labels_count() -> None:
    failed = promotion("2", "Failed", ago=20)
    failed["metadata"]["labels"] = {"kargo-observer.kutlak.cc/freight": freight_name("2")}
    assert decide(drifted(failed)).reason == "PreviouslyFailed"
    failed["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "commodore-observe"}
    assert decide(drifted(failed)).reason == "PreviouslyFailed"


def test_row_21_awaiting_record() -> None:
    decision = decide(drifted(promotion("2", ago=2, ours=True)))
    assert (decision.kind, decision.reason) == ("wait", "AwaitingRecord")
    late = decide(drifted(promotion("2", ago=11, ours=True)))
    assert (late.kind, late.reason) == ("blocked", "NotRecorded")
    before = drifted(promotion("2", ago=40, ours=True))
    assert decide(before).reason == "Promote"  # its name sorts before that of the last one


def auto(**fields: Any) -> list[Object]:
    return drifted(stage(autoPromotionEnabled=True, **fields), freight("3", discovered=5))


@pytest.mark.requirement("G7")
def test_row_22_auto_promotion_would_undo() -> None:
    decision = decide(auto())
    assert (decision.kind, decision.reason) == ("blocked", "AutoPromotionWouldUndo")
    assert decide(auto(), auto_promotion="ignore").reason == "Promote"
    assert decide(auto(), holds=True).reason == "Promote"
    assert decide(auto(autoPromotionHolds={})).reason == "Promote"
    assert decide(drifted(stage(autoPromotionEnabled=True))).reason == "Promote"


# Rows 23 to 25


@pytest.mark.requirement("O34", "G10")
def test_row_23_flapping() -> None:
    def many(count: int, first: float = 20) -> list[Object]:
        return [promotion(f"f{number}", ago=first + number, ours=True) for number in range(count)]

    old = stage(last=(9, "1"))
    fresh = application(synced=1)
    assert decide(drifted(old, fresh, *many(2))).reason == "Promote"
    decision = decide(drifted(old, fresh, *many(3)))
    assert (decision.kind, decision.reason) == ("blocked", "Flapping")
    assert decision.verdict.retry_after == timedelta(minutes=60 - 22)
    assert decide(drifted(old, fresh, *many(3, first=60))).reason == "Promote"


def test_row_23_back_and_forth() -> None:
    old = stage(last=(9, "1"))
    objects = drifted(old, application(synced=1), promotion("2", ago=30, ours=True), promotion("1", ago=20, ours=True))
    assert decide(objects).reason == "Flapping"
    by_hand = drifted(old, application(synced=1), promotion("2", ago=30, ours=True), promotion("1", ago=20))
    assert decide(by_hand).reason == "Promote"


def test_row_24_paused_and_dry_run() -> None:
    paused = decide(drifted(), paused=True, dry_run=True)
    assert (paused.kind, paused.reason, paused.verdict.promotion) == ("none", "Paused", None)
    dry = decide(drifted(), dry_run=True)
    assert (dry.kind, dry.reason) == ("none", "DryRun")
    assert dry.verdict.promotion == decide(drifted()).verdict.promotion


# Several of everything


def two_origins(*more: Object) -> list[Object]:
    """Two Warehouses, both with something that is not recorded."""
    return drifted(
        application(images=[f"{REPOSITORY}:2", f"{DB}:5"]),
        warehouse("db", repositories=("db",)),
        stage(requests=[request("web"), request("db")]),
        freight("5", warehouse="db", images=images_of(db="5")),
        *more,
    )


@pytest.mark.requirement("O26")
def test_origins_are_judged_one_by_one_in_the_order_of_names() -> None:
    decision = decide(two_origins())
    assert (decision.reason, decision.verdict.origin) == ("Promote", "Warehouse/db")
    kept = decide(two_origins(promotion("5", "Failed", ago=20, ours=True)))
    assert (kept.reason, kept.verdict.origin) == ("Promote", "Warehouse/web")
    assert "Warehouse/db: PreviouslyFailed" in kept.message
    none = decide(two_origins(*(promotion(word, "Failed", ago=20, ours=True) for word in ("5", "2"))))
    assert (none.reason, none.verdict.origin) == ("PreviouslyFailed", "Warehouse/db")
    assert "Warehouse/web: PreviouslyFailed" in none.message


def test_a_repository_of_several_origins_is_recorded_if_one_of_them_has_it() -> None:
    history = [recorded("1", warehouse="db", images=images_of(web="2")), recorded("1")]
    objects = drifted(warehouse("db"), stage(requests=[request("web"), request("db")], history=history))
    assert decide(objects).reason == "Converged"


@pytest.mark.requirement("O25")
def test_applications_of_one_stage_are_judged_together() -> None:
    other = application("other", images=[f"{REPOSITORY}:1"])
    decision = decide(drifted(other))
    assert decision.reason == "Settling"
    assert "argocd/other" in decision.message
    assert "argocd/web" in decision.message
    assert decide(drifted(application("other", images=[]))).reason == "Promote"
    assert "argocd/other shows no images" in decide(drifted(application("other", images=[]))).message


@pytest.mark.requirement("O1")
def test_an_application_may_authorize_several_stages() -> None:
    decisions = plan(drifted(application(stage=" shop : prod , shop:test,"), stage("test", last=None)))
    assert [(str(decision.stage), decision.reason) for decision in decisions] == [
        ("shop/prod", "Promote"),
        ("shop/test", "Promote"),
    ]


@pytest.mark.requirement("O2")
@pytest.mark.parametrize("entry", ["shop", "shop:*", "*:prod", ":prod", "shop:", "a:b:c", "Shop:prod", "shop/prod"])
def test_malformed_entries_are_left_out_and_others_stand(entry: str) -> None:
    (decision,) = plan(drifted(application(stage=f"{entry},shop:prod")))
    assert decision.reason == "Promote"


@pytest.mark.requirement("O1")
def test_no_annotation_no_decision() -> None:
    assert plan(drifted(application(stage=None))) == []


def test_the_choice_among_freights() -> None:
    """Equal other artifacts, then known to the Stage, then the newest, then by name."""
    same = stage(history=[recorded("1", commits=COMMITS)])
    names = ["a", "b", "c", "d"]
    equal = freight("a", images=images_of(web="2"), commits=COMMITS, discovered=500)
    known = freight("b", images=images_of(web="2"), discovered=400, status={"verifiedIn": {"prod": {}}})
    newest = freight("c", images=images_of(web="2"), discovered=2)
    twin = freight("d", images=images_of(web="2"), discovered=2)
    objects = [item for item in drifted(same) if item["metadata"]["name"] != freight_name("2")]
    chosen = []
    candidates = [equal, known, newest, twin]
    while candidates:
        result = decide([*objects, *candidates]).verdict.freight
        chosen.append(next(name for name in names if freight_name(name) == result))
        candidates = [candidate for candidate in candidates if candidate["metadata"]["name"] != result]
    assert chosen == ["a", "b", *sorted(("c", "d"), key=freight_name)]


@pytest.mark.requirement("O35")
def test_every_step_can_be_asked_for() -> None:
    steps = decide(drifted()).steps
    assert [step.reason for step in steps if step.decided] == ["Promote"]
    assert [step.reason for step in steps[:3]] == ["Ignored", "StageNotFound", "StageDeleting"]
    assert next(step.detail for step in steps if step.reason == "Converged") == f"{REPOSITORY} runs 2, recorded is 1"


def test_images_that_cannot_be_read_or_have_no_version_are_named() -> None:
    decision = decide(drifted(application(images=["::", f"{REPOSITORY}:2", REPOSITORY])))
    assert decision.reason == "Promote"
    assert "argocd/web has images that cannot be read: '::'" in decision.message
    assert f"{REPOSITORY} runs without tag and digest in argocd/web" in decision.message
