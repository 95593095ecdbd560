"""Decisions about made-up objects."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from commodore.observe import Decision, PlanOptions, WatchScope, build_worlds, plan_stage
from commodore.observe.kargo import KargoObject, read_object
from tests.world.kargo import NOW, Object


def read(objects: Iterable[Object]) -> list[KargoObject]:
    """Objects as the planner has them; nothing may be wrong with them."""
    results = []
    for item in objects:
        read = read_object(item)
        assert read is not None
        assert read[1] == []
        results.append(read[0])
    return results


def plan(
    objects: Iterable[Object], now: datetime = NOW, *, holds: bool | None = None, **options: Any
) -> list[Decision]:
    """Anything that is decided about each Stage that an Application names."""
    worlds = build_worlds(read(objects), WatchScope(), holds=holds)
    return [plan_stage(world, PlanOptions(**options), now) for world in worlds]


def decide(objects: Iterable[Object], now: datetime = NOW, *, holds: bool | None = None, **options: Any) -> Decision:
    """Anything that is decided about the only Stage."""
    (decision,) = plan(objects, now, holds=holds, **options)
    return decision
