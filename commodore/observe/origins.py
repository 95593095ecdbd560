"""The rows of the decision table that look at one origin: its matching Freights, filtered until a row leaves none."""

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
    """Rows 15 to 25: the first origin by name whose Freight may be promoted, else what keeps the first one back."""
    refused: list[Verdict] = []
    for origin in case.comparison.drift:
        outcome = _choose(case, origin, steps)
        if isinstance(outcome, Freight):
            return _promote(case, origin, outcome, steps, refused)
        refused.append(replace(outcome, origin=origin))
    first, *others = refused
    told = [f"{one.origin}: {one.reason}: {one.message}" for one in others]
    return replace(first, message="; ".join((first.message, *told)))


def _choose(case: DecisionCase, origin: str, steps: list[Step]) -> Freight | Verdict:
    drift = case.comparison.drift[origin]
    matches = [one for one in case.world.freights if one.contents.origin == origin and contains(one.contents, drift)]
    matches.sort(key=lambda one: _preference(case, one))
    for reason, row in FREIGHT_ROWS:
        before = tuple(one.name for one in matches)
        outcome = row(case, origin, matches)
        if isinstance(outcome, Verdict):
            steps.append(Step(outcome.reason, True, f"{origin}: {outcome.message}"))
            return replace(outcome, candidates=before)
        matches = outcome
        steps.append(Step(reason, False, f"{origin}: {_names(matches) or 'no Freight yet'}"))
    return matches[0]


def _preference(case: DecisionCase, freight: Freight) -> tuple[bool, bool, float, str]:
    """Equal other artifacts first, then what this Stage has verified or has, then the newest, then by name."""
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
    for one in case.comparison.drift[origin]:
        if one.deployed.digest:
            continue
        named = f"{one.repository} runs the tag {one.deployed.tag} without a digest"
        if any(subscription.by_digest for subscription in subscriptions[one.repository]):
            return blocked("MutableTag", f"{named}, and {origin} subscribes to a tag that moves")
        if same_tag_twice(one.repository, one.deployed.tag, case.world.freights):
            return blocked("MutableTag", f"{named}, and Freights have this tag with different digests")
    return matches


def _missing(case: DecisionCase, origin: str, matches: Matches) -> Matches | Verdict:
    if matches:
        return matches
    drift = case.comparison.drift[origin]
    if "Freight" in case.world.missing:
        message = "no Freights given"
    else:
        wanted = ", ".join(f"{one.repository} {one.deployed}" for one in drift)
        hints = "; ".join(_nearest(case, origin, one) for one in drift)
        message = f"no Freight of {origin} contains {wanted} ({hints})"
    return blocked("FreightMissing", message, retry_after=_LOOK_FOR_FREIGHT)


def _nearest(case: DecisionCase, origin: str, drift: Drift) -> str:
    """What there is instead: tags that look alike, and whether Kargo has seen the tag at all."""
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
        but = "not together with the others" if is_there else "with another digest"
        return f"{drift.repository}: Freights have {drift.deployed.tag}, but {but}"
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
    moved = {one.name: list(moved_images(one.contents, case.comparison.deployed)) for one in matches}
    if left := [one for one in matches if not moved[one.name]]:
        return left
    told = "; ".join(f"{one.label} has {', '.join(map(str, moved[one.name]))}" for one in matches)
    return blocked("FreightConflict", f"promoting would change other images that run: {told}")


def _carries_more(case: DecisionCase, origin: str, matches: Matches) -> Matches | Verdict:
    recorded = _recorded_others(case, origin)
    if recorded is None or case.options.other_artifacts == "ignore":
        return matches
    left = [one for one in matches if one.contents.others <= recorded]
    if left or case.options.other_artifacts == "warn":
        return left or matches
    more = sorted({" ".join(other) for one in matches for other in one.contents.others - recorded})
    message = (
        f"promoting {_names(matches)} would bring other artifacts than the recorded ones: {'; '.join(more)}; "
        "--other-artifacts warn allows it, for example where the Warehouse subscribes to the GitOps repository too"
    )
    return blocked("FreightCarriesMore", message)


def _not_available(case: DecisionCase, _origin: str, matches: Matches) -> Matches | Verdict:
    judged = {one.name: availability(case.stage, one, case.now) for one in matches}
    if left := [one for one in matches if judged[one.name].available]:
        return left
    ends = [end for one in judged.values() if (end := one.soaked_at)]
    told = "; ".join(f"{one.label}: {judged[one.name].missing}" for one in matches)
    until = f"; soaked at {show_time(min(ends))}" if ends else ""
    rest = max(min(ends) - case.now, timedelta()) if ends else None
    return blocked("FreightNotAvailable", f"not available to the Stage: {told}{until}", retry_after=rest)


def _previously_failed(case: DecisionCase, _origin: str, matches: Matches) -> Matches | Verdict:
    failures = {one.name: _failure(case, one) for one in matches}
    if left := [one for one in matches if failures[one.name] is None]:
        return left
    promotion = failures[matches[0].name]
    assert promotion is not None
    reason = "PreviouslyAborted" if promotion.phase == "Aborted" else "PreviouslyFailed"
    message = f"the Promotion {promotion.name} of {matches[0].label} by an observer is {promotion.phase}"
    return blocked(reason, f"{message}: find out why, and delete it to have another try")


def _failure(case: DecisionCase, freight: Freight) -> Promotion | None:
    """Our last Promotion of a Freight, if it failed and no other succeeded after it."""
    of_freight = newest_first(one for one in case.promotions if one.freight == freight.name)
    ours = {one.name for one in case.ours}
    for one in of_freight:
        if one.phase == "Succeeded":
            return None
        if one.name in ours and one.is_finished:
            return one
    return None


def _awaiting_record(case: DecisionCase, _origin: str, matches: Matches) -> Matches | Verdict:
    last = case.stage.last.name if case.stage.last else ""
    unrecorded = {
        one.freight: one for one in reversed(newest_first(case.ours)) if one.phase == "Succeeded" and one.name > last
    }
    if left := [one for one in matches if one.name not in unrecorded]:
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
        one
        for one in case.world.freights
        if one.contents.origin == origin and availability(case.stage, one, case.now).available
    ]
    newest = max(available, key=lambda one: (one.since or _LONG_AGO, one.name), default=None)
    if left := [one for one in matches if newest is None or (one.since or _LONG_AGO) >= (newest.since or _LONG_AGO)]:
        return left
    message = f"automatic promotion would promote {newest.label if newest else 'another Freight'} again at once"
    return blocked("AutoPromotionWouldUndo", message)


def _flapping(case: DecisionCase, _origin: str, matches: Matches) -> Matches | Verdict:
    recent = [one for one in reversed(newest_first(case.ours)) if made_at(one) > case.now - _HOUR]
    freights = [one.freight for one in recent] + [matches[0].name]
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
        applications=[str(one.meta) for one in case.applications],
        drift=case.comparison.drift[origin],
        tries=sum(one.freight == freight.name for one in case.ours),
        label_prefix=case.options.label_prefix,
    )
    others = [f"{one.origin}: {one.reason}: {one.message}" for one in refused]
    message = "; ".join((f"{freight.label} of {origin} has what runs", *others))
    chosen = Verdict("promote", "Promote", message, origin=origin, freight=freight.name, candidates=(freight.name,))
    if _carries_other(case, freight) and case.options.other_artifacts == "warn":
        told = f"{message}; it brings other artifacts than the recorded ones"
        chosen = replace(chosen, severity="warning", message=told)
    if case.options.paused:
        verdict = replace(chosen, kind="none", reason="Paused", message=f"paused: {chosen.message}")
    elif case.options.dry_run:
        verdict = replace(chosen, kind="none", reason="DryRun", promotion=build_promotion(plan))
    else:
        verdict = replace(chosen, promotion=build_promotion(plan), retry_after=_AFTER_PROMOTING)
    steps.append(Step(verdict.reason, True, verdict.message))
    return verdict


def _names(freights: Sequence[Freight]) -> str:
    return ", ".join(one.label for one in freights)
