"""The rows of the decision table about a Stage as a whole, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from commodore.observe.cases import DecisionCase, Row, Verdict, blocked
from commodore.observe.kargo import FINISHED_VERIFICATIONS, Promotion
from commodore.observe.matching import contains, moved_images
from commodore.observe.promotion import can_be_recorded, name_time, new_time, ulid_time
from commodore.observe.quantities import show_duration, show_time

SOON = timedelta(seconds=30)
_SETTLES_WITHIN = timedelta(minutes=30)
_SYNCS_WITHIN = timedelta(hours=24)
_NAMES_AHEAD = timedelta(days=1)


def _opted_out(case: DecisionCase) -> Verdict | str:
    if case.observed:
        names = ", ".join(str(application.meta) for application in case.applications)
        return f"observed: {names}"
    if all(observation.application.ignored for observation in case.world.applications):
        return Verdict("none", "Ignored", "all Applications of the Stage are annotated to be ignored")
    return Verdict("none", "NotOptedIn", "no Application of the Stage is annotated to be observed")


def _not_found(case: DecisionCase) -> Verdict | str:
    if case.world.stage is not None:
        return "the Stage exists"
    names = ", ".join(str(application.meta) for application in case.applications)
    given = "no Stages given" if "Stage" in case.world.missing else "there is no such Stage"
    return blocked("StageNotFound", f"{given}: {names} names it")


def _deleting(case: DecisionCase) -> Verdict | str:
    if case.stage.meta.deleting:
        return Verdict("none", "StageDeleting", "the Stage is being deleted")
    leaving = [str(application.meta) for application in case.applications if application.meta.deleting]
    if leaving:
        return Verdict("none", "ApplicationDeleting", f"being deleted: {', '.join(leaving)}")
    return "nothing is being deleted"


def _targets(case: DecisionCase) -> Verdict | str:
    if case.stage.targets:
        return blocked("StageHasTargets", "the Stage has targets: only a PromotionRequest can promote to it")
    return "no targets"


def _nothing_subscribed(case: DecisionCase) -> Verdict | str:
    if case.comparison.subscribed:
        return f"subscribed: {', '.join(sorted(case.comparison.subscribed))}"
    if "Warehouse" in case.world.missing:
        return Verdict("none", "NothingSubscribed", "no Warehouses given: cannot know what is subscribed")
    asked = ", ".join(origin.key for origin in case.comparison.origins) or "none"
    return Verdict(
        "none", "NothingSubscribed", f"no Warehouse of the Stage subscribes to an image (asked for: {asked})"
    )


def _images_unknown(case: DecisionCase) -> Verdict | str:
    unknown = [
        f"{observation.application.meta}: {observation.unknown}" for observation in case.observed if observation.unknown
    ]
    if unknown:
        return blocked("ImagesUnknown", f"what git renders is not known: {'; '.join(unknown)}")
    return "the images of all Applications are known"


def _nothing_deployed(case: DecisionCase) -> Verdict | str:
    deployed = case.comparison.deployed
    running = [
        repository
        for repository in sorted(case.comparison.subscribed)
        if repository in deployed and deployed[repository].versions
    ]
    if not running:
        return Verdict("none", "NothingDeployed", "no Application runs a versioned image of a subscribed repository")
    return "; ".join(
        f"{repository} runs {', '.join(map(str, deployed[repository].versions))}" for repository in running
    )


def _not_synced(case: DecisionCase) -> Verdict | str:
    if case.options.unsynced:
        return "not asked for"
    for application in case.applications:
        if application.sync != "Synced":
            return Verdict("wait", "NotSynced", f"{application.meta} is {application.sync or 'not known to be synced'}")
        if application.operation == "Running":
            return Verdict("wait", "NotSynced", f"an operation of {application.meta} is running")
    return "all Applications are synced"


def _settling(case: DecisionCase) -> Verdict | str:
    crowded = list(_crowded(case))
    ages = [observation.unchanged_for for observation in case.observed if observation.unchanged_for is not None]
    if crowded:
        lasting = bool(ages) and min(ages) >= _SETTLES_WITHIN
        cause = "; the usual cause is Pods of finished Jobs that still have the old image" if lasting else ""
        message = "several versions at once: " + "; ".join(crowded) + cause
        return Verdict("wait", "Settling", message, severity="warning" if lasting else "normal")
    for application in case.applications:
        if application.health and application.health not in case.options.health:
            return Verdict("wait", "Settling", f"{application.meta} is {application.health}")
    young = [case.options.settle - age for age in ages if age < case.options.settle]
    if young:
        rest = max(young)
        return Verdict("wait", "Settling", f"the images changed: {show_duration(rest)} more", retry_after=rest)
    return "one version of each image, healthy"


def _crowded(case: DecisionCase) -> Iterator[str]:
    """Yield repositories with more running versions than their origin subscribes to."""
    told = set()
    for origin in case.comparison.origins:
        for repository, subscriptions in origin.subscriptions.items():
            deployed = case.comparison.deployed.get(repository)
            if deployed and len(deployed.versions) > len(subscriptions) and repository not in told:
                told.add(repository)
                versions = (
                    f"{version} in {', '.join(sorted(applications))}"
                    for version, applications in deployed.versions.items()
                )
                yield f"{repository}: {'; '.join(versions)}"


def _converged(case: DecisionCase) -> Verdict | str:
    drift = case.comparison.all_drift()
    if not drift:
        return Verdict("none", "Converged", "what runs is what Kargo has recorded")
    return "; ".join(map(str, drift))


def _awaiting_sync(case: DecisionCase) -> Verdict | str:
    last = _last_of_others(case)
    if last is None:
        return "no finished Promotion of another actor"
    name, finished = last
    synced = max(
        (
            application.synced_at
            for application in case.applications
            if application.synced_at is not None and case.runs_drift(application)
        ),
        default=None,
    )
    shown = f"Promotion {name} finished {show_time(finished)}, the last sync of what drifted ended "
    shown += show_time(synced) if synced else "at no known time"
    if synced is not None and synced > finished + case.options.clock_margin:
        return shown
    late = case.now - finished > _SYNCS_WITHIN
    message = f"{shown}: what it put into git may not have reached the cluster yet"
    return Verdict("wait", "AwaitingSync", message, severity="warning" if late else "normal")


def _last_of_others(case: DecisionCase) -> tuple[str, datetime] | None:
    """Return the newest finished Promotion that may have changed git to other versions than the running ones, and its
    end.

    Ours put the running versions into git. So did others whose Freight runs; a deleted Promotion of ours can only be
    recognized by that, from the Stage's status, as its labels are missing.
    """
    ours = {
        promotion.name
        for promotion in case.promotions
        if promotion in case.ours or _promotes_what_runs(case, promotion.freight)
    }
    if case.stage.last is not None and _promotes_what_runs(case, case.stage.last.freight):
        ours.add(case.stage.last.name)
    finished = {
        promotion.name: time
        for promotion in case.promotions
        if promotion.is_finished and (time := promotion.finished or ulid_time(promotion))
    }
    last = case.stage.last
    if last is not None and last.name not in ours:
        time = last.finished or finished.get(last.name) or name_time(last.name, case.stage.meta.name)
        if time is not None:
            finished[last.name] = time
    others = [(name, time) for name, time in finished.items() if name not in ours]
    return max(others, key=lambda entry: (entry[1], entry[0]), default=None)


def _promotes_what_runs(case: DecisionCase, name: str) -> bool:
    """Return True if exactly a Freight runs. Promotions include Freights of other origins, so none may drift."""
    freight = next((candidate for candidate in case.world.freights if candidate.name == name), None)
    drift = case.comparison.drift
    return (
        freight is not None
        and set(drift) <= {freight.contents.origin}
        and contains(freight.contents, case.comparison.all_drift())
        and not any(moved_images(freight.contents, case.comparison.deployed))
    )


def _no_steps(case: DecisionCase) -> Verdict | str:
    if case.stage.steps:
        return f"{len(case.stage.steps)} steps"
    return blocked("StageHasNoPromotionSteps", "the Stage has no promotion steps: Kargo promotes nothing to it")


def _in_flight(case: DecisionCase) -> Verdict | str:
    open_ones = [_promotion_text(promotion) for promotion in case.promotions if not promotion.is_finished]
    if case.stage.current and not open_ones:
        open_ones = [f"{case.stage.current} (the Stage's current one)"]
    if open_ones:
        return Verdict("wait", "PromotionInFlight", f"under way: {', '.join(open_ones)}", retry_after=SOON)
    return "no Promotion is under way"


def _promotion_text(promotion: Promotion) -> str:
    return f"{promotion.name} ({promotion.phase or 'new'})"


def _verifying(case: DecisionCase) -> Verdict | str:
    under_way = [phase or "new" for phase in case.stage.verifications if phase not in FINISHED_VERIFICATIONS]
    if under_way:
        message = f"the current Freight is being verified: {', '.join(under_way)}"
        return Verdict("wait", "Verifying", message, retry_after=SOON)
    return "no verification is under way"


def _history_stuck(case: DecisionCase) -> Verdict | str:
    last = case.stage.last
    ahead = new_time(case.stage) > case.now + _NAMES_AHEAD
    if can_be_recorded(case.stage) and not ahead:
        return f"the last Promotion is {last.name}" if last else "no Promotion so far"
    named = f"the name of the last Promotion, {last.name}," if last else "the Stage's time of creation"
    message = (
        f"{named} sorts after every name that a Promotion can have now, so Kargo would record none: "
        "delete that Promotion and clear status.lastPromotion of the Stage"
    )
    return blocked("StageHistoryStuck", message)


STAGE_ROWS: tuple[tuple[str, Row], ...] = (
    ("Ignored", _opted_out),
    ("StageNotFound", _not_found),
    ("StageDeleting", _deleting),
    ("StageHasTargets", _targets),
    ("NothingSubscribed", _nothing_subscribed),
    ("ImagesUnknown", _images_unknown),
    ("NothingDeployed", _nothing_deployed),
    ("NotSynced", _not_synced),
    ("Settling", _settling),
    ("Converged", _converged),
    ("AwaitingSync", _awaiting_sync),
    ("StageHasNoPromotionSteps", _no_steps),
    ("PromotionInFlight", _in_flight),
    ("Verifying", _verifying),
    ("StageHistoryStuck", _history_stuck),
)
