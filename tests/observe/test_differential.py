"""The predecessor's rules, written down literally, next to the planner: where both differ, the reason is known."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import event, given

from commodore.base.kubernetes.images import ImageReference
from commodore.observe import StageWorld, WatchScope, build_worlds, plan_stage
from commodore.observe.cases import PlanOptions
from commodore.observe.kargo import Freight
from commodore.observe.promotion import is_ours, newest_first
from tests.observe.conftest import read
from tests.observe.test_properties import worlds
from tests.world.kargo import NOW, Object, drifted

PREFIX = "kargo-observer.mkutlak.github.io"


@dataclass(frozen=True)
class Old:
    """Everything that the predecessor does: the Freight that it promotes, or why it promotes none."""

    reason: str
    freight: str = ""


def old_plan(world: StageWorld) -> Old:
    """One pass of the predecessor: exact pairs of repository and tag, all origins at once, and its own last try."""
    stage = world.stage
    applications = [
        application.application for application in world.applications if not application.application.ignored
    ]
    if stage is None or not applications:
        return Old("nothing")
    asked = {request.origin for request in stage.requests}
    subscribed = {
        subscription.repository
        for each in world.warehouses
        if each.origin in asked
        for subscription in each.subscriptions
    }
    running = {pair(image) for application in applications for image in application.images if image.name in subscribed}
    recorded = {pair(image) for item in stage.history for image in item.images}
    drift = running - recorded
    if not drift:
        return Old("converged")
    if any(not promotion.is_finished for promotion in world.promotions):
        return Old("in flight")
    match = first_match(world.freights, drift)
    if match is None:
        return Old("missing")
    tries = newest_first(
        promotion for promotion in world.promotions if is_ours(promotion, PREFIX) and promotion.freight == match.name
    )
    if tries and tries[0].phase in ("Failed", "Errored"):
        return Old("failed before")
    return Old("promote", match.name)


def first_match(freights: tuple[Freight, ...], drift: set[tuple[str, str]]) -> Freight | None:
    return next((freight for freight in freights if drift <= {pair(image) for image in freight.contents.images}), None)


def pair(image: ImageReference) -> tuple[str, str]:
    return image.name, image.version.tag


# Where the planner holds back although the predecessor promotes: its guards, several tags, digests, O17.
HOLDS_BACK = {
    "StageDeleting",
    "ApplicationDeleting",
    "StageHasTargets",
    "NotSynced",
    "Settling",
    "AwaitingSync",
    "StageHasNoPromotionSteps",
    "Verifying",
    "StageHistoryStuck",
    "MutableTag",
    "FreightConflict",
    "FreightCarriesMore",
    "FreightNotAvailable",
    "AwaitingRecord",
    "NotRecorded",
    "AutoPromotionWouldUndo",
    "Flapping",
    "PreviouslyAborted",
    "PreviouslyFailed",  # any try that failed counts, not only the newest of all
    "FreightMissing",  # the digest that runs is another one; or the match is of another origin
}


@given(worlds())
def test_differences_are_known_ones(objects: list[Object]) -> None:
    for world in build_worlds(read(objects), WatchScope(), holds=None):
        old, new = old_plan(world), plan_stage(world, PlanOptions(), NOW)
        event(f"{old.reason} / {new.kind}")
        if old.reason == "promote" and new.kind != "promote":
            assert new.reason in HOLDS_BACK
        elif old.reason in ("nothing", "in flight"):
            assert new.kind != "promote"
        elif old.reason == "converged":
            # The same tag, but another digest than the recorded one.
            assert new.kind != "promote" or all(item.deployed.digest for item in new.drift)
        elif old.reason == "missing" and new.kind == "promote":
            # One Freight for the drift of one origin, or a digest that decides.
            assert len(new.drift) > 1 or any(item.deployed.digest for item in new.drift)
        elif old.reason == "failed before" and new.kind == "promote":
            assert new.verdict.freight != old.freight or len(new.drift) > 0


def test_in_the_plain_case_both_do_the_same() -> None:
    (world,) = build_worlds(read(drifted()), WatchScope(), holds=None)
    assert old_plan(world).freight == plan_stage(world, PlanOptions(), NOW).verdict.freight
