"""The known objects of a cluster by Stage, and the Stages affected by a change."""

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
    """The objects of a cluster, indexed by the Stages that need them.

    Attributes:
        holds: true if this Kargo supports holds.
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
        """Iterate over the Stages named by Applications."""
        return iter([name for name, applications in self._by_stage.items() if applications])

    def change(self, old: KargoObject | None, new: KargoObject | None, now: float) -> set[StageName]:
        """Apply a change. Returns the affected Stages. `now` is monotonic, in seconds."""
        concerned: set[StageName] = set()
        for version in (old, new):
            if isinstance(version, Application):
                concerned |= set(self._stages_of(version))
            elif version is not None:
                concerned |= self._concerned(version)
        if isinstance(new or old, Application):
            self._change_application(old, new, now)
        elif old is not None and new is None:
            self._put(old, None)
        elif new is not None:
            self._put(new, new)
        return concerned

    def world(self, name: StageName, now: float) -> StageWorld | None:
        """Return the world of a Stage; None if no Application names it."""
        keys = self._by_stage.get(name)
        if not keys:
            return None
        known = [self._applications[key] for key in sorted(keys)]
        return StageWorld(
            name=name,
            stage=self._stages.get(name),
            applications=tuple(
                SeenApplication(entry.application, timedelta(seconds=now - entry.unchanged_since)) for entry in known
            ),
            warehouses=tuple(self._warehouses[name.namespace].values()),
            freights=tuple(self._freights[name.namespace].values()),
            promotions=tuple(self._promotions[name].values()),
            holds=self.holds,
        )

    def _stages_of(self, application: Application) -> tuple[StageName, ...]:
        if not self._scope.takes(application):
            return ()
        namespaces = self._scope.namespaces
        return tuple(
            stage for stage in read_authorization(application).stages if not namespaces or stage.namespace in namespaces
        )

    def _concerned(self, changed: Stage | Freight | Warehouse | Promotion) -> set[StageName]:
        namespace = changed.meta.namespace
        if isinstance(changed, Stage):
            return {StageName(namespace, changed.meta.name)}
        if isinstance(changed, Promotion):
            return {StageName(namespace, changed.stage)}
        origin = changed.contents.origin if isinstance(changed, Freight) else changed.origin
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

    def _put(self, version: KargoObject, new: KargoObject | None) -> None:
        namespace, name = version.meta.namespace, version.meta.name
        if isinstance(version, Stage):
            key = StageName(namespace, name)
            for request in self._stages[key].requests if key in self._stages else ():
                self._asking[namespace, request.origin].discard(key)
            for request in new.requests if isinstance(new, Stage) else ():
                self._asking[namespace, request.origin].add(key)
            _set(self._stages, key, new)
        elif isinstance(version, Freight):
            _set(self._freights[namespace], name, new)
        elif isinstance(version, Warehouse):
            _set(self._warehouses[namespace], name, new)
        elif isinstance(version, Promotion):
            _set(self._promotions[StageName(namespace, version.stage)], name, new)


def _set(into: dict[Any, Any], key: object, new: object) -> None:
    if new is None:
        into.pop(key, None)
    else:
        into[key] = new


def settled(before: Iterable[Application], after: Iterable[Application], age: timedelta) -> list[SeenApplication]:
    """Return Applications read twice, `age` apart: unchanged images get that age."""
    images = {str(application.meta): application.images for application in before}
    return [
        SeenApplication(application, age if images.get(str(application.meta)) == application.images else timedelta())
        for application in after
    ]
