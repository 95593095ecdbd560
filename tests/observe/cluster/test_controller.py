"""The controller against an API server with faults: it converges, with exactly one Promotion for each drift."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.observe.cluster.lease import LeaseLostError
from commodore.observe.cluster.reflector import Pauses
from tests.observe.cluster.conftest import TIMES, Start
from tests.world.kargo import (
    REPOSITORY,
    Object,
    application,
    drifted,
    freight,
    freight_name,
    promotion,
    stage,
    warehouse,
)
from tests.world.kubernetes import Running, kubeconfig_for, names, serving, wait_until

MANIFESTS = Path(__file__).resolve().parent.parent.parent.parent / "commodore" / "observe" / "manifests.yaml"
VERSIONS = pytest.mark.parametrize("version", ["1.10", "1.11"])


def promotions(cluster: Running) -> list[Object]:
    return cluster.api.all("promotions")


def events(cluster: Running, reason: str) -> list[Object]:
    return [item for item in cluster.api.all("events") if item["reason"] == reason]


def settle_down(cluster: Running, replica: Any, count: int = 1) -> None:
    """Let Kargo finish what was promoted, wait for peace, and count what was made."""
    wait_until(lambda: len(promotions(cluster)) >= count)
    cluster.api.run_kargo()
    replica.reaches("Converged")
    assert len(promotions(cluster)) == count


@pytest.mark.requirement("O4", "O12", "O20", "O21")
@VERSIONS
def test_one_drift_one_promotion(cluster: Running, start: Start, version: Any) -> None:
    cluster.api.kargo.version = version
    cluster.api.put(*drifted(without="Freight"))
    replica = start()
    replica.reaches("FreightMissing")
    where = {"namespace": "shop", "stage": "prod"}
    assert replica.value("freight_missing", **where) == 1
    cluster.api.put(freight("2"))
    (made,) = wait_until(lambda: promotions(cluster))
    assert made["spec"]["freight"] == freight_name("2")
    settle_down(cluster, replica)
    assert replica.value("freight_missing", **where) == 0
    assert replica.value("promotions_created_total", **where) == 1
    assert replica.value("drift_seconds", **where) == 0
    wait_until(lambda: events(cluster, "PromotionCreated"))
    assert made["metadata"]["name"] in events(cluster, "PromotionCreated")[0]["message"]
    (missing,) = events(cluster, "FreightMissing")
    assert (missing["type"], missing["involvedObject"]["kind"]) == ("Warning", "Stage")
    written = {plural for verb, plural in cluster.api.requests if verb in ("create", "update", "patch")}
    assert written == {"promotions", "events"}


@VERSIONS
def test_an_answer_that_is_lost_after_the_create(cluster: Running, start: Start, version: Any) -> None:
    cluster.api.kargo.version = version
    cluster.api.put(*drifted())
    cluster.api.fail("create", "promotions", lost=True)
    replica = start()
    settle_down(cluster, replica)
    assert replica.value("promotion_create_errors_total", namespace="shop", stage="prod") == 1


@VERSIONS
def test_a_create_that_is_slower_than_the_timeout(cluster: Running, start: Start, version: Any) -> None:
    """The server carries the request out after we have given up: nothing is made twice."""
    cluster.api.kargo.version = version
    cluster.api.put(*drifted())
    gate = threading.Event()
    cluster.api.fail("create", "promotions", gate=gate)
    replica = start(request_timeout=0.3, unknown_wait=60.0)
    where = {"namespace": "shop", "stage": "prod"}
    wait_until(lambda: replica.value("promotion_create_errors_total", **where) == 1)
    gate.set()
    settle_down(cluster, replica)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ({"code": 429, "retry_after": 0}, "throttled"),
        ({"code": 429}, "throttled"),
        ({"code": 500, "message": "failed calling webhook: connection refused"}, "no webhook"),
        ({"code": 503}, "not available"),
        ({"code": 504}, "timeout"),
    ],
)
def test_faults_of_the_create_call_that_pass(cluster: Running, start: Start, fault: dict[str, Any], kind: str) -> None:
    cluster.api.put(*drifted())
    cluster.api.fail("create", "promotions", **fault)
    settle_down(cluster, start())
    assert cluster.api.requests["create", "promotions"] == 2


def test_nothing_is_tried_again_when_the_right_is_missing(cluster: Running, start: Start) -> None:
    cluster.api.kargo.may_promote = lambda _user: False
    cluster.api.put(*drifted())
    replica = start()
    wait_until(lambda: events(cluster, "PromotionForbidden"))
    cluster.api.put(stage(verifications=["Successful"]))  # something changes
    replica.reaches("PromotionForbidden")
    wait_until(lambda: cluster.api.requests["create", "promotions"] >= 1)
    assert promotions(cluster) == []
    assert len(events(cluster, "PromotionForbidden")) == 1


@pytest.mark.requirement("O18")
def test_a_failed_promotion_that_is_deleted_is_made_again(cluster: Running, start: Start) -> None:
    """Kargo still has it as the Stage's last one, and no sync has followed it."""
    cluster.api.put(*drifted())
    replica = start()
    (first,) = wait_until(lambda: promotions(cluster))
    cluster.api.run_kargo("Failed")
    replica.reaches("PreviouslyFailed")
    cluster.api.delete("promotions", "shop", first["metadata"]["name"])
    (again,) = wait_until(lambda: promotions(cluster))
    assert again["metadata"]["name"] > first["metadata"]["name"]
    assert again["spec"]["freight"] == first["spec"]["freight"]


def test_a_refusal_is_looked_at_again_once_and_told(cluster: Running, start: Start) -> None:
    cluster.api.put(*drifted())
    text = 'admission webhook "x" denied the request: no'
    cluster.api.fail("create", "promotions", code=422, message=text, times=2)
    start()
    (event,) = wait_until(lambda: events(cluster, "PromotionCreateFailed"))
    assert event["message"] == text
    assert cluster.api.requests["create", "promotions"] == 2


def test_an_answer_that_means_a_bug_or_a_new_kargo(cluster: Running, start: Start) -> None:
    cluster.api.put(*drifted())
    cluster.api.fail("create", "promotions", code=422, message="spec.steps: Invalid value")
    replica = start()
    (event,) = wait_until(lambda: events(cluster, "PromotionCreateFailed"))
    assert "Invalid value" in event["message"]
    assert replica.value("promotion_create_errors_total", namespace="shop", stage="prod") == 1


@pytest.mark.requirement("O37")
def test_the_other_replica_was_quicker(cluster: Running, start: Start) -> None:
    """The same name is there: ours counts as made, somebody else's makes it plan again."""
    cluster.api.put(*drifted())
    first = start(dry_run=True)
    first.reaches("DryRun")
    gate = threading.Event()
    cluster.api.fail("create", "promotions", gate=gate)
    replica = start()
    wait_until(lambda: cluster.api.requests["create", "promotions"])
    second = start()
    wait_until(lambda: len(promotions(cluster)) == 1)
    gate.set()
    wait_until(lambda: cluster.api.refused)
    assert cluster.api.refused == [("create", "promotions", 409)]
    settle_down(cluster, replica)
    second.reaches("Converged")
    created = [
        item.value("promotions_created_total", namespace="shop", stage="prod") or 0 for item in (replica, second)
    ]
    assert sorted(created) == [0, 1]


def test_a_user_promotes_between_our_look_and_the_create(cluster: Running, start: Start) -> None:
    """Anything that is read afresh before the write decides."""
    cluster.api.put(*drifted())
    gate = threading.Event()
    cluster.api.fail("get", "freights", gate=gate)
    replica = start()
    wait_until(lambda: cluster.api.requests["get", "freights"])
    cluster.api.put(promotion("1", "Running", ago=0))
    gate.set()
    replica.reaches("PromotionInFlight")
    assert cluster.api.requests["create", "promotions"] == 0


def test_freight_that_goes_between_match_and_create(cluster: Running, start: Start) -> None:
    cluster.api.put(*drifted())
    gate = threading.Event()
    cluster.api.fail("get", "stages", gate=gate)
    replica = start()
    wait_until(lambda: cluster.api.requests["get", "stages"])
    cluster.api.delete("freights", "shop", freight_name("2"))
    gate.set()
    replica.reaches("FreightMissing")
    assert promotions(cluster) == []


# Watching


@pytest.mark.parametrize("restart", ["dropped", "expired", "refused"])
def test_watches_that_end(cluster: Running, start: Start, restart: str) -> None:
    """Dropped connections are resumed, forgotten versions listed again; what happened meanwhile is seen."""
    cluster.api.put(*drifted(application(images=[f"{REPOSITORY}:1"])))
    replica = start()
    replica.reaches("Converged")
    if restart == "expired":
        cluster.api.compact()
    elif restart == "refused":
        for plural in ("applications", "stages", "freights", "warehouses", "promotions"):
            cluster.api.fail("watch", plural, code=503, times=3)
    lists = cluster.api.requests["list", "applications"]
    cluster.api.put(application())
    if restart == "expired":
        cluster.api.compact()
    cluster.api.drop_watches()
    settle_down(cluster, replica)
    if restart == "expired":
        assert cluster.api.requests["list", "applications"] > lists
    else:
        assert cluster.api.requests["list", "applications"] == lists


def test_objects_that_went_during_an_outage(cluster: Running, start: Start) -> None:
    cluster.api.put(*drifted(application(images=[f"{REPOSITORY}:9"])))
    replica = start()
    replica.reaches("FreightMissing")
    fault = cluster.api.fail("watch", "applications", code=500, times=1000)
    cluster.api.drop_watches()
    cluster.api.delete("applications", "argocd", "web")
    cluster.api.compact()
    fault.times = 0
    wait_until(lambda: replica.reason() == "")
    where = {"namespace": "shop", "stage": "prod"}
    assert replica.value("freight_missing", **where) is None
    assert replica.value("drift_seconds", **where) is None


@pytest.mark.parametrize("code", [403, 404])
def test_a_kind_that_cannot_be_listed(cluster: Running, start: Start, code: int) -> None:
    """Not ready and nothing written until it can; then all goes on."""
    cluster.api.put(*drifted())
    fault = cluster.api.fail("list", "warehouses", code=code, times=1000)
    replica = start()
    wait_until(lambda: cluster.api.requests["list", "warehouses"] > 1)
    assert replica.controller is not None
    assert not replica.controller.is_ready
    assert promotions(cluster) == []
    fault.times = 0
    settle_down(cluster, replica)
    assert replica.controller.is_ready
    assert replica.controller.is_alive


def test_a_server_that_is_away_for_long(cluster: Running, start: Start) -> None:
    """Not ready after ten minutes; alive, as the cause is known: a restart would not help."""
    cluster.api.put(*drifted(application(images=[f"{REPOSITORY}:1"])))
    replica = start()
    replica.reaches("Converged")
    controller = replica.controller
    assert controller is not None
    assert controller.is_fresh
    fault = cluster.api.fail("watch", "stages", code=503, times=1000)
    cluster.api.drop_watches()
    (stages,) = [reflector for reflector in controller.reflectors if reflector.resource.plural == "stages"]
    wait_until(lambda: stages.health.problem)
    stages.health.since -= 601
    assert not controller.is_fresh
    assert controller.is_alive
    fault.times = 0
    cluster.api.put(stage(verifications=["Successful"]))
    wait_until(lambda: controller.is_fresh)


def test_pauses_grow_to_half_a_minute() -> None:
    assert [Pauses().backoff(failures) for failures in (1, 2, 3, 6, 7, 500)] == [0.8, 1.6, 3.2, 25.6, 30.0, 30.0]


@pytest.mark.requirement("O32")
def test_applications_in_another_cluster(cluster: Running, start: Start, tmp_path: Path) -> None:
    """They are read there, and what is wrong with them is reported there; all else is where Kargo is."""
    with serving(tmp_path) as argocd:
        cluster.api.put(*drifted(without="Application"))
        argocd.api.put(application(), application("odd", stage="shop"))
        replica = start(argocd=argocd.kubeconfig)
        settle_down(cluster, replica)
        (told,) = wait_until(lambda: argocd.api.all("events"))
        assert (told["reason"], told["involvedObject"]["name"]) == ("AuthorizedStageInvalid", "odd")
        wait_until(lambda: events(cluster, "PromotionCreated"))
        assert {plural for _, plural in argocd.api.requests} == {"applications", "events"}
        assert "applications" not in {plural for _, plural in cluster.api.requests}
        replica.stop()


def test_what_changes_wakes_the_stage(cluster: Running, start: Start) -> None:
    """Each kind: an image, a sync, a subscription, a Freight, the Stage's history, a Promotion's end."""
    cluster.api.put(*drifted(application(images=[f"{REPOSITORY}:3"], sync="OutOfSync")))
    replica = start()
    steps: list[tuple[Callable[[], None], str]] = [
        (lambda: None, "NotSynced"),
        (lambda: cluster.api.put(application(images=[f"{REPOSITORY}:3"])), "FreightMissing"),
        (lambda: cluster.api.put(warehouse(repositories=())), "NothingSubscribed"),
        (lambda: cluster.api.put(warehouse(), promotion("1", "Running", ago=1)), "PromotionInFlight"),
        (lambda: cluster.api.put(promotion("1", "Failed", ago=1)), "AwaitingSync"),
        (lambda: cluster.api.put(application(images=[f"{REPOSITORY}:3"], synced=0)), "FreightMissing"),
        (lambda: cluster.api.put(application(images=[f"{REPOSITORY}:1"])), "Converged"),
        (lambda: cluster.api.put(application(stage="shop:gone")), ""),
    ]
    for change, reason in steps:
        change()
        replica.reaches(reason)
    assert replica.reason("gone") == "StageNotFound"
    wait_until(lambda: events(cluster, "StageNotFound"))
    assert events(cluster, "StageNotFound")[0]["involvedObject"]["kind"] == "Application"


def test_status_that_does_not_matter_wakes_nobody(cluster: Running, start: Start) -> None:
    cluster.api.put(*drifted(application(images=[f"{REPOSITORY}:1"])))
    replica = start()
    replica.reaches("Converged")
    before = replica.value("reconcile_total", kind="none")
    for number in range(5):
        cluster.api.put(stage(conditions=[{"type": "Ready", "message": str(number)}]))
    cluster.api.put(stage(verifications=["Running"]))
    wait_until(lambda: replica.value("reconcile_total", kind="none") != before)
    assert replica.value("reconcile_total", kind="none") == (before or 0) + 1


def test_objects_with_absurd_content(cluster: Running, start: Start) -> None:
    """They are reported and passed over, and keep nothing else from working."""
    odd = application("odd", stage="x" * 10_000)
    odd["status"]["summary"]["images"] = {"a": 1}
    broken = stage("broken")
    broken["status"]["freightHistory"] = 7
    cluster.api.put(*drifted(odd, broken, application("third", stage="shop:broken")))
    replica = start()
    settle_down(cluster, replica)
    replica.reaches("StageNotFound", "broken")
    wait_until(lambda: events(cluster, "AuthorizedStageInvalid"))
    assert events(cluster, "AuthorizedStageInvalid")[0]["involvedObject"]["name"] == "odd"


# Not writing


def test_dry_run_and_pause(cluster: Running, start: Start, tmp_path: Path) -> None:
    cluster.api.put(*drifted())
    start(dry_run=True).reaches("DryRun")
    (event,) = wait_until(lambda: events(cluster, "DryRunPromotionSkipped"))
    assert event["type"] == "Normal"
    pause = tmp_path / "pause"
    pause.touch()
    replica = start(pause_file=pause, sync_period=0.2)
    replica.reaches("Paused")
    assert promotions(cluster) == []
    pause.unlink()
    settle_down(cluster, replica)


def test_images_have_to_settle_after_the_start(cluster: Running, start: Start) -> None:
    cluster.api.put(*drifted())
    start(settle=timedelta(hours=1)).reaches("Settling")
    assert promotions(cluster) == []


def test_reverted_within_the_time_to_settle(cluster: Running, start: Start) -> None:
    cluster.api.put(*drifted())
    replica = start(settle=timedelta(hours=1))
    replica.reaches("Settling")
    cluster.api.put(application(images=[f"{REPOSITORY}:1"]))
    replica = start()
    replica.reaches("Converged")
    assert promotions(cluster) == []


def test_a_budget_over_all_stages(cluster: Running, start: Start) -> None:
    stages = [f"s{number}" for number in range(6)]
    apps = [application(item, stage=f"shop:{item}") for item in stages]
    cluster.api.put(*drifted(), *apps, *(stage(item) for item in stages))
    cluster.api.delete("applications", "argocd", "web")
    replica = start(max_promotions=2, sync_period=0.1)
    wait_until(lambda: len(promotions(cluster)) == 2)
    wait_until(lambda: all(replica.reason(item) in ("Promote", "PromotionInFlight") for item in stages))
    assert len(promotions(cluster)) == 2
    (event,) = wait_until(lambda: events(cluster, "PromotionsLimited"))
    assert "--max-promotions allows 2 Promotions a minute" in event["message"]
    assert event["count"] == 1


def test_tokens_that_change_are_read_again(cluster: Running, start: Start) -> None:
    """Of the kubeconfig and of the files that it names, though the server still takes the old ones."""
    cluster.api.put(*drifted(application(images=[f"{REPOSITORY}:1"])))
    file = cluster.kubeconfig.parent / "token"
    server = f"http://127.0.0.1:{cluster.port}"
    kubeconfig = kubeconfig_for(server, "first")
    cluster.kubeconfig.write_text(json.dumps(kubeconfig), encoding="utf-8")
    replica = start(reread=0.05)
    replica.reaches("Converged")
    kubeconfig["users"][0]["user"] = {"tokenFile": str(file)}
    file.write_text("second", encoding="utf-8")
    for token in ("second", "third"):
        file.write_text(token, encoding="utf-8")
        cluster.kubeconfig.write_text(json.dumps(kubeconfig), encoding="utf-8")
        # Watches go on as they began; the ones that begin anew take the new token.
        wait_until(lambda: cluster.api.drop_watches() or token in cluster.api.tokens)  # noqa: B023
    assert cluster.api.tokens == {"first", "second", "third"}


# Two replicas


@pytest.mark.requirement("O37")
def test_only_the_leader_writes_and_another_takes_over(
    cluster: Running, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "commodore.observe")
    cluster.api.put(*drifted())
    first = start(times=TIMES)
    wait_until(lambda: first.value("leader") == 1)
    second = start(times=TIMES)
    settle_down(cluster, first)
    second.reaches("Converged")
    assert second.value("leader") == 0
    promoted = [record for record in caplog.records if getattr(record, "reason", "") == "Promote"]
    assert len(promoted) == 1, "the replica that writes nothing logs that it promotes"
    first.stop()
    assert first.error is None
    (lease,) = cluster.api.all("leases")
    wait_until(lambda: second.value("leader") == 1)
    (lease,) = cluster.api.all("leases")
    assert lease["spec"]["leaseTransitions"] >= 1
    cluster.api.put(application(images=[f"{REPOSITORY}:3"], synced=0), freight("3"))
    wait_until(lambda: len(promotions(cluster)) == 2)


def test_a_lease_that_another_has_taken_ends_the_process(cluster: Running, start: Start) -> None:
    cluster.api.put(*drifted(application(images=[f"{REPOSITORY}:1"])))
    replica = start(times=TIMES)
    wait_until(lambda: replica.value("leader") == 1)
    (lease,) = cluster.api.all("leases")
    lease["spec"]["holderIdentity"] = "somebody else"
    lease["spec"]["renewTime"] = "2030-01-01T00:00:00.000000Z"
    cluster.api.put(lease)
    wait_until(lambda: replica.error)
    assert isinstance(replica.error, LeaseLostError)
    cluster.api.put(application())
    assert promotions(cluster) == []


# Rights


@pytest.mark.requirement("O24")
def test_the_roles_give_what_is_used_and_nothing_else(cluster: Running, start: Start) -> None:
    """All that the controller asks for is in the roles, and what the roles give is asked for, with what is listed."""
    cluster.api.put(*drifted())
    gate = threading.Event()
    cluster.api.fail("create", "promotions", gate=gate)
    slow = start(times=TIMES, max_promotions=1, sync_period=0.2)
    wait_until(lambda: cluster.api.requests["create", "promotions"])
    start()
    wait_until(lambda: promotions(cluster))
    gate.set()  # the same name is there: the Promotion is read
    settle_down(cluster, slow)
    cluster.api.put(application("odd", stage="shop"))
    wait_until(lambda: events(cluster, "AuthorizedStageInvalid"))
    wait_until(lambda: cluster.api.requests["update", "leases"])
    slow.stop()
    roles = yaml.safe_load_all(MANIFESTS.read_text(encoding="utf-8"))
    rules = [rule for role in roles if role["kind"] in ("Role", "ClusterRole") for rule in role["rules"]]
    given = {(verb, plural) for rule in rules for plural in rule.get("resources", ()) for verb in rule["verbs"]}
    used = set(cluster.api.requests)
    assert used <= given
    assert given - used == {
        ("get", "applications"),  # these two for users who look with the same rights
        ("get", "warehouses"),
        ("patch", "events"),  # when the same happens again within ten minutes
        ("promote", "stages"),  # Kargo's webhook asks for it
    }


# Size


def test_a_thousand_applications_on_two_hundred_stages(cluster: Running, start: Start) -> None:
    stages = [f"s{number:03}" for number in range(200)]
    cluster.api.put(warehouse(), freight("1", discovered=120), freight("2"))
    cluster.api.put(*(stage(item) for item in stages))
    cluster.api.put(*(application(f"{item}-{part}", stage=f"shop:{item}") for item in stages for part in range(5)))
    replica = start(max_promotions=100_000, sync_period=3600)
    wait_until(lambda: len(promotions(cluster)) == 200)
    cluster.api.run_kargo()
    wait_until(lambda: all(replica.reason(item) == "Converged" for item in stages), 120)
    made = promotions(cluster)
    assert sorted(item["spec"]["stage"] for item in made) == stages
    assert len(set(names(made))) == 200
    # Besides the first lists (two pages of Applications, one of each other kind), three reads before each write.
    assert cluster.api.requests["list", "applications"] == 2
    assert cluster.api.requests["list", "stages"] == 1
    assert cluster.api.requests["list", "promotions"] == 1 + 200
    assert cluster.api.requests["get", "stages"] == 200
