"""Where a patch goes next, and which gates lie before it. Pure: prefixes in, prefixes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from commodore.fleet.patches import covered
from commodore.fleet.repository.config import FleetConfig, Prefix, SequenceNode, covers


def next_prefix(config: FleetConfig, placements: Sequence[Prefix], depth: int) -> Prefix | None:
    """The place that a patch is promoted to; None if it is everywhere.

    Args:
        placements: where it is; the first cell follows if that is nowhere.
        depth: the least depth of the place.
    """
    if not placements:
        return config.cells()[0]
    order = config.prefixes()
    last = max(order.index(prefix) for prefix in placements)
    return next(
        (
            prefix
            for prefix in order[last + 1 :]
            if len(prefix) >= depth and not any(covers(one, prefix) for one in placements)
        ),
        None,
    )


def entered(config: FleetConfig, placements: Sequence[Prefix], place: Prefix) -> list[SequenceNode]:
    """The nodes that a promotion to `place` enters: those above it, and itself, in which the patch is nowhere yet."""
    reached = covered(config, placements)
    prefixes = [place[:depth] for depth in range(1, len(place) + 1)]
    return [config.node(prefix) for prefix in prefixes if not any(covers(prefix, cell) for cell in reached)]


def left(config: FleetConfig, placements: Sequence[Prefix], place: Prefix) -> list[SequenceNode]:
    """The nodes that a promotion to `place` leaves: those above and below the latest placement that do not hold it."""
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
    """Places that can stand for those below them, the outermost first, each with what it replaces.

    Args:
        allowed: is asked for each, with the placements that would be there then; False leaves it as it is.
    """
    found = []
    current = list(placements)
    for prefix in sorted(config.prefixes(), key=len):
        if len(prefix) == config.depth or any(covers(one, prefix) for one in current):
            continue
        reached = set(covered(config, current))
        if all(cell in reached for cell in config.cells() if covers(prefix, cell)):
            below = [one for one in current if covers(prefix, one)]
            after = [*(one for one in current if one not in below), prefix]
            if allowed(prefix, after):
                found.append((prefix, below))
                current = after
    return found


def is_foldable(config: FleetConfig, placements: Sequence[Prefix]) -> bool:
    """Whether every node of the first level has a placement of its own."""
    return all(node.prefix in placements for node in config.nodes)
