"""What is known of a cluster, by Stage, and which Stages a change concerns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from commodore.observe.kargo import Application, Freight, KargoObject, Promotion, Stage, Warehouse
from commodore.observe.worlds import SeenApplication, StageName, StageWorld, WatchScope, read_authorization


@dataclass(frozen=True, slots=True)
class _Known:
    application: Application
    stages: tuple[StageName, ...]
    unchanged_since: float


class Index:
    """The objects of a cluster by what asks for them.

    Attributes:
        holds: whether this Kargo knows holds.
    """

    def __init__(self, scope: WatchScope) -> None:
        self.holds = False
        self._scope = scope
        self._applications: dict[str, _Known] = {}
        self._by_stage: dict[StageName, set[str]] = defaultdict(set)
        self._stages: dict[StageName, Stage] = {}
        self._asking: dict[tuple[str, str], set[StageName]] = defaultdict(set)  # by namespace and origin
        self._freights: dict[str, dict[str, Freight]] = defaultdict(dict)
        self._warehouses: dict[str, dict[str, Warehouse]] = defaultdict(dict)
        self._promotions: dict[StageName, dict[str, Promotion]] = defaultdict(dict)

    def __iter__(self) -> Iterator[StageName]:
        """The Stages that an Application names."""
        return iter([name for name, applications in self._by_stage.items() if applications])

    def change(self, old: KargoObject | None, new: KargoObject | None, now: float) -> set[StageName]:
        """Take over one change; returns the Stages that it concerns. `now` are seconds that only grow."""
        concerned: set[StageName] = set()
        for one in (old, new):
            if isinstance(one, Application):
                concerned |= set(self._stages_of(one))
            elif one is not None:
                concerned |= self._concerned(one)
        if isinstance(new or old, Application):
            self._change_application(old, new, now)
        elif old is not None and new is None:
            self._put(old, None)
        elif new is not None:
            self._put(new, new)
        return concerned

    def world(self, name: StageName, now: float) -> StageWorld | None:
        """What a decision about the Stage is made of; None if no Application names it."""
        keys = self._by_stage.get(name)
        if not keys:
            return None
        known = [self._applications[key] for key in sorted(keys)]
        return StageWorld(
            name=name,
            stage=self._stages.get(name),
            applications=tuple(
                SeenApplication(one.application, timedelta(seconds=now - one.unchanged_since)) for one in known
            ),
            warehouses=tuple(self._warehouses[name.namespace].values()),
            freights=tuple(self._freights[name.namespace].values()),
            promotions=tuple(self._promotions[name].values()),
            holds=self.holds,
        )

    def _stages_of(self, application: Application) -> tuple[StageName, ...]:
        if not self._scope.takes(application):
            return ()
        wanted = self._scope.namespaces
        return tuple(one for one in read_authorization(application).stages if not wanted or one.namespace in wanted)

    def _concerned(self, one: Stage | Freight | Warehouse | Promotion) -> set[StageName]:
        namespace = one.meta.namespace
        if isinstance(one, Stage):
            return {StageName(namespace, one.meta.name)}
        if isinstance(one, Promotion):
            return {StageName(namespace, one.stage)}
        origin = one.contents.origin if isinstance(one, Freight) else one.origin
        return set(self._asking.get((namespace, origin), ()))

    def _change_application(self, old: KargoObject | None, new: KargoObject | None, now: float) -> None:
        key = str((new or old).meta)  # type: ignore[union-attr]
        before = self._applications.pop(key, None)
        for name in before.stages if before else ():
            self._by_stage[name].discard(key)
            if not self._by_stage[name]:
                del self._by_stage[name]
        if isinstance(new, Application) and (stages := self._stages_of(new)):
            same = before is not None and before.application.images == new.images
            self._applications[key] = _Known(new, stages, before.unchanged_since if before and same else now)
            for name in stages:
                self._by_stage[name].add(key)

    def _put(self, one: KargoObject, new: KargoObject | None) -> None:
        namespace, name = one.meta.namespace, one.meta.name
        if isinstance(one, Stage):
            key = StageName(namespace, name)
            for request in self._stages[key].requests if key in self._stages else ():
                self._asking[namespace, request.origin].discard(key)
            for request in new.requests if isinstance(new, Stage) else ():
                self._asking[namespace, request.origin].add(key)
            _set(self._stages, key, new)
        elif isinstance(one, Freight):
            _set(self._freights[namespace], name, new)
        elif isinstance(one, Warehouse):
            _set(self._warehouses[namespace], name, new)
        elif isinstance(one, Promotion):
            _set(self._promotions[StageName(namespace, one.stage)], name, new)


def _set(into: dict[Any, Any], key: object, new: object) -> None:
    if new is None:
        into.pop(key, None)
    else:
        into[key] = new


def settled(before: Iterable[Application], after: Iterable[Application], age: timedelta) -> list[SeenApplication]:
    """Applications that were looked at twice, `age` apart: those whose images are the same are as old as that."""
    images = {str(one.meta): one.images for one in before}
    return [SeenApplication(one, age if images.get(str(one.meta)) == one.images else timedelta()) for one in after]
