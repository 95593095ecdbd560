"""Time and memory of many clusters, one after another."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from _measure import Cost
from _tools import Sample


def sum_up_fleet(samples: Sequence[Sample]) -> list[Sample]:
    """Three samples out of those of all clusters: the first one, the median of the others, and all together."""
    costs = [sample.cost for sample in samples]
    results = [sample.result for sample in samples]
    rest = _middle(costs[1:] or costs)
    return [
        Sample("first cluster", costs[0], results[0]),
        Sample("each later one", rest, " ".join(results[1:])),
        Sample(f"all {len(samples)}", _sum(costs), " ".join(results)),
    ]


def _middle(costs: Sequence[Cost]) -> Cost:
    def of(name: str) -> float:
        return statistics.median(getattr(cost, name) for cost in costs)

    return Cost(0, of("wall"), of("cpu"), int(of("pss")), int(of("rss")), of("lingering"), of("load"))


def _sum(costs: Sequence[Cost]) -> Cost:
    return Cost(
        0,
        sum(cost.wall for cost in costs),
        sum(cost.cpu for cost in costs),
        max(cost.pss for cost in costs),
        max(cost.rss for cost in costs),
        sum(cost.lingering for cost in costs),
        max(cost.load for cost in costs),
    )
