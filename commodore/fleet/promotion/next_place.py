"""The next place of a patch, and the nodes that a promotion enters and leaves. Pure functions of prefixes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commodore.fleet.patches import covered
from commodore.fleet.repository.config import FleetConfig, Prefix, SequenceNode, covers


def next_prefix(config: FleetConfig, placements: Sequence[Prefix], depth: int) -> Prefix | None:
    """Return the place that a patch is promoted to; None if it is everywhere.

    Args:
        placements: the prefixes of its placements; without any, the first cell is next.
        depth: the minimum depth of the place.
    """
    if not placements:
        return config.cells()[0]
    order = config.prefixes()
    last = max(order.index(prefix) for prefix in placements)
    return next(
        (
            prefix
            for prefix in order[last + 1 :]
            if len(prefix) >= depth and not any(covers(placement, prefix) for placement in placements)
        ),
        None,
    )


def entered(config: FleetConfig, placements: Sequence[Prefix], place: Prefix) -> list[SequenceNode]:
    """Return the nodes that a promotion to `place` enters: it and its parents, if no cell below has the patch yet."""
    reached = covered(config, placements)
    prefixes = [place[:depth] for depth in range(1, len(place) + 1)]
    return [config.node(prefix) for prefix in prefixes if not any(covers(prefix, cell) for cell in reached)]


def left(config: FleetConfig, placements: Sequence[Prefix], place: Prefix) -> list[SequenceNode]:
    """Return the nodes that a promotion to `place` leaves.

    They are above, at or below the latest placement and do not contain `place`.
    """
    order = config.prefixes()
    latest = max(placements, key=order.index)
    return [
        node
        for node in config.each()
        if (covers(node.prefix, latest) or covers(latest, node.prefix)) and not covers(node.prefix, place)
    ]


def coalesced(
    config: FleetConfig, placements: Sequence[Prefix], allowed: Callable[[Prefix, Sequence[Prefix]], bool]
) -> list[tuple[Prefix, list[Prefix]]]:
    """Return the places that can replace all placements below them, the outermost first, each with those placements.

    Args:
        allowed: called for each place, with the placements that would result; False keeps the placements.
    """
    moves = []
    current = list(placements)
    for prefix in sorted(config.prefixes(), key=len):
        if len(prefix) == config.depth or any(covers(placement, prefix) for placement in current):
            continue
        reached = set(covered(config, current))
        if all(cell in reached for cell in config.cells() if covers(prefix, cell)):
            below = [placement for placement in current if covers(prefix, placement)]
            after = [*(placement for placement in current if placement not in below), prefix]
            if allowed(prefix, after):
                moves.append((prefix, below))
                current = after
    return moves


def is_foldable(config: FleetConfig, placements: Sequence[Prefix]) -> bool:
    """Return True if every node of the first level has a placement of its own."""
    return all(node.prefix in placements for node in config.nodes)
