"""The availability of Freight to a Stage, by the rules of Kargo's webhook."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from commodore.observe.kargo import Freight, Request, Stage
from commodore.observe.quantities import show_duration


@dataclass(frozen=True, slots=True)
class Availability:
    """The availability of a Freight to a Stage; else the unmet conditions, and the end of soaking if only that is
    missing.
    """

    available: bool
    missing: str = ""
    soaked_at: datetime | None = None


_AVAILABLE = Availability(True)


def availability(stage: Stage, freight: Freight, now: datetime) -> Availability:
    """Determine the availability of a Freight to a Stage.

    Several requests of an origin are tried in order; one that requires all its Stages without success ends the search.
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
        if judged and enough(upstream.available for upstream in judged):
            return _AVAILABLE
        failed = [upstream for upstream in judged if not upstream.available]
        missing += [upstream.missing for upstream in failed]
        times = [upstream.soaked_at for upstream in failed if upstream.soaked_at]
        if times and (not request.all_stages or len(times) == len(failed)):
            soaked.append(max(times) if request.all_stages else min(times))
        if request.all_stages:
            break
    return Availability(False, "; ".join(missing) or "no source offers it", min(soaked, default=None))


def _upstream(request: Request, upstream: str, freight: Freight, now: datetime) -> Availability:
    """Check if the Freight is verified in an upstream Stage, and has soaked there for the required time."""
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
