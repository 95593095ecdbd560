"""Whether Kargo would let a Stage have a Freight, by the rules that its webhook applies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from commodore.observe.kargo import Freight, Request, Stage
from commodore.observe.quantities import show_duration


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a Freight may be promoted to a Stage; else what is missing, and when soaking ends if only that is."""

    available: bool
    missing: str = ""
    soaked_at: datetime | None = None


_AVAILABLE = Availability(True)


def availability(stage: Stage, freight: Freight, now: datetime) -> Availability:
    """Judge one Freight for one Stage.

    Several requests of one origin are tried in their order; one that asks for all its Stages in vain ends the search.
    """
    missing = []
    soaked: list[datetime] = []
    for request in stage.requests:
        if request.origin != freight.contents.origin:
            continue
        if stage.meta.name in freight.approved_for or request.direct:
            return _AVAILABLE
        judged = [_upstream(request, upstream, freight, now) for upstream in request.stages]
        enough = all if request.all_stages else any
        if judged and enough(one.available for one in judged):
            return _AVAILABLE
        failed = [one for one in judged if not one.available]
        missing += [one.missing for one in failed]
        times = [one.soaked_at for one in failed if one.soaked_at]
        if times and (not request.all_stages or len(times) == len(failed)):
            soaked.append(max(times) if request.all_stages else min(times))
        if request.all_stages:
            break
    return Availability(False, "; ".join(missing) or "no source offers it", min(soaked, default=None))


def _upstream(request: Request, upstream: str, freight: Freight, now: datetime) -> Availability:
    """Whether the Freight is verified in one upstream Stage, and has soaked there for as long as is asked for."""
    if upstream not in freight.verified_in:
        return Availability(False, f"not verified in Stage {upstream}")
    if request.soak is None:
        return _AVAILABLE
    since = freight.current_in.get(upstream)
    soaked = max(freight.verified_in[upstream] or timedelta(), now - since if since else timedelta())
    if soaked >= request.soak:
        return _AVAILABLE
    missing = f"soaked {show_duration(soaked)} of {show_duration(request.soak)} in Stage {upstream}"
    return Availability(False, missing, since + request.soak if since else None)
