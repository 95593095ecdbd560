"""Whether the applications of clusters are healthy, from files that others have made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from commodore.fleet.promotion.status_file import FleetState


def unhealthy(state: FleetState, clusters: Iterable[str]) -> Iterator[str]:
    """What keeps clusters from being healthy and in sync, in words. Of which nothing is known, is not."""
    for name in clusters:
        applications = state.cells.get(name)
        if not applications:
            yield f"{name}: nothing is known"
            continue
        for application, one in sorted(applications.items()):
            if (one.health, one.sync) != ("Healthy", "Synced"):
                yield f"{name}/{application}: {one.in_words}"
