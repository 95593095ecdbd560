"""The rows of the decision table about an origin: its matching Freights, filtered until a row leaves none."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from commodore.observe.availability import availability
from commodore.observe.cases import DecisionCase, Step, Verdict, blocked
from commodore.observe.kargo import Freight, Promotion, short_name
from commodore.observe.matching import Drift, contains, moved_images, same_tag_twice
from commodore.observe.promotion import PromotionPlan, build_promotion, made_at, newest_first
from commodore.observe.quantities import show_duration, show_time
from commodore.observe.table import SOON

_HOUR = timedelta(hours=1)
_IN_AN_HOUR = 3
_RECORDED_WITHIN = timedelta(minutes=10)
_LOOK_FOR_FREIGHT = timedelta(minutes=5)
_AFTER_PROMOTING = timedelta(seconds=60)
_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)

Matches = list[Freight]
Filter = Callable[[DecisionCase, str, Matches], "Matches | Verdict"]


def decide_origins(case: DecisionCase, steps: list[Step]) -> Verdict:
    """Rows 15 to 25: the first origin by name with Freight to promote, else the reason against the first one."""
    refused: list[Verdict] = []
    for origin in case.comparison.drift:
        outcome = _choose(case, origin, steps)
        if isinstance(outcome, Freight):
            return _promote(case, origin, outcome, steps, refused)
        refused.append(replace(outcome, origin=origin))
    first, *others = refused
    details = [f"{verdict.origin}: {verdict.reason}: {verdict.message}" for verdict in others]
    return replace(first, message="; ".join((first.message, *details)))


def _choose(case: DecisionCase, origin: str, steps: list[Step]) -> Freight | Verdict:
    drift = case.comparison.drift[origin]
    matches = [
        freight
        for freight in case.world.freights
        if freight.contents.origin == origin and contains(freight.contents, drift)
    ]
    matches.sort(key=lambda freight: _preference(case, freight))
    for reason, row in FREIGHT_ROWS:
        before = tuple(freight.name for freight in matches)
        outcome = row(case, origin, matches)
        if isinstance(outcome, Verdict):
            steps.append(Step(outcome.reason, True, f"{origin}: {outcome.message}"))
            return replace(outcome, candidates=before)
        matches = outcome
        steps.append(Step(reason, False, f"{origin}: {_names(matches) or 'no Freight yet'}"))
    return matches[0]


def _preference(case: DecisionCase, freight: Freight) -> tuple[bool, bool, float, str]:
    """Sort key: equal other artifacts first, then Freight verified or current in this Stage, then the newest, then by
    name.
    """
    stage = case.stage.meta.name
    known = stage in freight.verified_in or stage in freight.current_in
    since = freight.since or _LONG_AGO
    return _carries_other(case, freight), not known, -(since - _LONG_AGO).total_seconds(), freight.name


def _carries_other(case: DecisionCase, freight: Freight) -> bool:
    recorded = _recorded_others(case, freight.contents.origin)
    return recorded is not None and freight.contents.others != recorded


def _recorded_others(case: DecisionCase, origin: str) -> frozenset[tuple[str, ...]] | None:
    return next((item.others for item in case.stage.history if item.origin == origin), None)


def _mutable_tag(case: DecisionCase, origin: str, matches: Matches) -> Matches | Verdict:
    subscriptions = case.comparison.origin(origin).subscriptions
    for entry in case.comparison.drift[origin]:
        if entry.deployed.digest:
            continue
        named = f"{entry.repository} runs the tag {entry.deployed.tag} without a digest"
        if any(subscription.by_digest for subscription in subscriptions[entry.repository]):
            return blocked("MutableTag", f"{named}, and {origin} subscribes to a tag that moves")
        if same_tag_twice(entry.repository, entry.deployed.tag, case.world.freights):
            return blocked("MutableTag", f"{named}, and Freights have this tag with different digests")
    return matches


def _missing(case: DecisionCase, origin: str, matches: Matches) -> Matches | Verdict:
    if matches:
        return matches
    drift = case.comparison.drift[origin]
    if "Freight" in case.world.missing:
        message = "no Freights given"
    else:
        versions = ", ".join(f"{entry.repository} {entry.deployed}" for entry in drift)
        hints = "; ".join(_nearest(case, origin, entry) for entry in drift)
        message = f"no Freight of {origin} contains {versions} ({hints})"
    return blocked("FreightMissing", message, retry_after=_LOOK_FOR_FREIGHT)


def _nearest(case: DecisionCase, origin: str, drift: Drift) -> str:
    """Describe the alternatives: similar tags, and if Kargo has discovered the tag at all."""
    freights = [freight.contents for freight in case.world.freights if freight.contents.origin == origin]
    tags = sorted(
        {
            image.version.tag
            for contents in freights
            for image in contents.images
            if image.name == drift.repository and image.version.tag
        }
    )
    if drift.deployed.tag in tags:
        is_there = any(contains(contents, [drift]) for contents in freights)
        reason = "not together with the others" if is_there else "with another digest"
        return f"{drift.repository}: Freights have {drift.deployed.tag}, but {reason}"
    warehouse = case.comparison.origin(origin).warehouse
    if warehouse and drift.deployed.tag in warehouse.discovered.get(drift.repository, frozenset()):
        manual = ", whose freightCreationPolicy is Manual" if warehouse.manual else ""
        return f"{drift.repository}: {drift.deployed.tag} was discovered by {origin}{manual}, but is in no Freight"
    near = difflib.get_close_matches(drift.deployed.tag, tags, n=3, cutoff=0.0)
    there = f"Freights have {', '.join(near)}" if near else "no Freight has this repository"
    return f"{drift.repository}: {there}; not discovered: outside of the subscription's constraint or limit?"


def _conflict(case: DecisionCase, _origin: str, matches: Matches) -> Matches | Verdict:
    if case.options.allow_conflicts:
        return matches
    moved = {freight.name: list(moved_images(freight.contents, case.comparison.deployed)) for freight in matches}
    if left := [freight for freight in matches if not moved[freight.name]]:
        return left
    details = "; ".join(f"{freight.label} has {', '.join(map(str, moved[freight.name]))}" for freight in matches)
    return blocked("FreightConflict", f"promoting would change other images that run: {details}")


def _carries_more(case: DecisionCase, origin: str, matches: Matches) -> Matches | Verdict:
    recorded = _recorded_others(case, origin)
    if recorded is None or case.options.other_artifacts == "ignore":
        return matches
    left = [freight for freight in matches if freight.contents.others <= recorded]
    if left or case.options.other_artifacts == "warn":
        return left or matches
    more = sorted({" ".join(other) for freight in matches for other in freight.contents.others - recorded})
    message = (
        f"promoting {_names(matches)} would bring other artifacts than the recorded ones: {'; '.join(more)}; "
        "--other-artifacts warn allows it, for example where the Warehouse subscribes to the GitOps repository too"
    )
    return blocked("FreightCarriesMore", message)


def _not_available(case: DecisionCase, _origin: str, matches: Matches) -> Matches | Verdict:
    judged = {freight.name: availability(case.stage, freight, case.now) for freight in matches}
    if left := [freight for freight in matches if judged[freight.name].available]:
        return left
    ends = [end for result in judged.values() if (end := result.soaked_at)]
    details = "; ".join(f"{freight.label}: {judged[freight.name].missing}" for freight in matches)
    until = f"; soaked at {show_time(min(ends))}" if ends else ""
    rest = max(min(ends) - case.now, timedelta()) if ends else None
    return blocked("FreightNotAvailable", f"not available to the Stage: {details}{until}", retry_after=rest)


def _previously_failed(case: DecisionCase, _origin: str, matches: Matches) -> Matches | Verdict:
    failures = {freight.name: _failure(case, freight) for freight in matches}
    if left := [freight for freight in matches if failures[freight.name] is None]:
        return left
    promotion = failures[matches[0].name]
    assert promotion is not None
    reason = "PreviouslyAborted" if promotion.phase == "Aborted" else "PreviouslyFailed"
    message = f"the Promotion {promotion.name} of {matches[0].label} by an observer is {promotion.phase}"
    return blocked(reason, f"{message}: find out why, and delete it to have another try")


def _failure(case: DecisionCase, freight: Freight) -> Promotion | None:
    """Return our last Promotion of a Freight, if it failed and no other succeeded after it."""
    of_freight = newest_first(promotion for promotion in case.promotions if promotion.freight == freight.name)
    ours = {promotion.name for promotion in case.ours}
    for promotion in of_freight:
        if promotion.phase == "Succeeded":
            return None
        if promotion.name in ours and promotion.is_finished:
            return promotion
    return None


def _awaiting_record(case: DecisionCase, _origin: str, matches: Matches) -> Matches | Verdict:
    last = case.stage.last.name if case.stage.last else ""
    unrecorded = {
        promotion.freight: promotion
        for promotion in reversed(newest_first(case.ours))
        if promotion.phase == "Succeeded" and promotion.name > last
    }
    if left := [freight for freight in matches if freight.name not in unrecorded]:
        return left
    promotion = unrecorded[matches[0].name]
    if promotion.finished is None or case.now - promotion.finished <= _RECORDED_WITHIN:
        message = f"Promotion {promotion.name} succeeded and is not in the Stage's history yet"
        return Verdict("wait", "AwaitingRecord", message, retry_after=SOON)
    message = (
        f"Promotion {promotion.name} succeeded at {show_time(promotion.finished)} and Kargo has not recorded it; "
        "it records a Promotion only if its name sorts after that of the last one"
    )
    return blocked("NotRecorded", message)


def _would_be_undone(case: DecisionCase, origin: str, matches: Matches) -> Matches | Verdict:
    if not case.stage.auto_promotion or case.world.holds or case.options.auto_promotion == "ignore":
        return matches
    available = [
        freight
        for freight in case.world.freights
        if freight.contents.origin == origin and availability(case.stage, freight, case.now).available
    ]
    newest = max(available, key=lambda freight: (freight.since or _LONG_AGO, freight.name), default=None)
    if left := [
        freight for freight in matches if newest is None or (freight.since or _LONG_AGO) >= (newest.since or _LONG_AGO)
    ]:
        return left
    message = f"automatic promotion would promote {newest.label if newest else 'another Freight'} again at once"
    return blocked("AutoPromotionWouldUndo", message)


def _flapping(case: DecisionCase, _origin: str, matches: Matches) -> Matches | Verdict:
    recent = [promotion for promotion in reversed(newest_first(case.ours)) if made_at(promotion) > case.now - _HOUR]
    freights = [promotion.freight for promotion in recent] + [matches[0].name]
    changes = [name for position, name in enumerate(freights) if position == 0 or name != freights[position - 1]]
    back = any(first == third for first, third in zip(changes, changes[2:], strict=False))
    if not back and len(recent) < _IN_AN_HOUR:
        return matches
    rest = max(made_at(recent[0]) + _HOUR - case.now, timedelta())
    why = "the same Freights in turn" if back else f"{len(recent)} Promotions within an hour"
    message = f"{why}: {', '.join(map(short_name, freights))}; nothing more for {show_duration(rest)}"
    return blocked("Flapping", message, retry_after=rest, freight=matches[0].name)


FREIGHT_ROWS: Sequence[tuple[str, Filter]] = (
    ("MutableTag", _mutable_tag),
    ("FreightMissing", _missing),
    ("FreightConflict", _conflict),
    ("FreightCarriesMore", _carries_more),
    ("FreightNotAvailable", _not_available),
    ("PreviouslyFailed", _previously_failed),
    ("AwaitingRecord", _awaiting_record),
    ("AutoPromotionWouldUndo", _would_be_undone),
    ("Flapping", _flapping),
)


def _promote(case: DecisionCase, origin: str, freight: Freight, steps: list[Step], refused: list[Verdict]) -> Verdict:
    plan = PromotionPlan(
        stage=case.stage,
        freight=freight.name,
        applications=[str(application.meta) for application in case.applications],
        drift=case.comparison.drift[origin],
        tries=sum(promotion.freight == freight.name for promotion in case.ours),
        label_prefix=case.options.label_prefix,
    )
    others = [f"{verdict.origin}: {verdict.reason}: {verdict.message}" for verdict in refused]
    message = "; ".join((f"{freight.label} of {origin} has what runs", *others))
    chosen = Verdict("promote", "Promote", message, origin=origin, freight=freight.name, candidates=(freight.name,))
    if _carries_other(case, freight) and case.options.other_artifacts == "warn":
        details = f"{message}; it brings other artifacts than the recorded ones"
        chosen = replace(chosen, severity="warning", message=details)
    if case.options.paused:
        verdict = replace(chosen, kind="none", reason="Paused", message=f"paused: {chosen.message}")
    elif case.options.dry_run:
        verdict = replace(chosen, kind="none", reason="DryRun", promotion=build_promotion(plan))
    else:
        verdict = replace(chosen, promotion=build_promotion(plan), retry_after=_AFTER_PROMOTING)
    steps.append(Step(verdict.reason, True, verdict.message))
    return verdict


def _names(freights: Sequence[Freight]) -> str:
    return ", ".join(freight.label for freight in freights)
