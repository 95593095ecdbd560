"""A Stage's world with derived facts, and the results of rows of the decision table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Literal

from commodore.observe.kargo import Application, Promotion, Stage
from commodore.observe.matching import Comparison, compare
from commodore.observe.promotion import is_ours
from commodore.observe.worlds import StageWorld

Kind = Literal["none", "wait", "blocked", "promote"]
Severity = Literal["normal", "warning"]


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """The options of planning, each named as on the command line."""

    observe_mode: Literal["opt-out", "opt-in"] = "opt-out"
    allow_conflicts: bool = False
    other_artifacts: Literal["refuse", "warn", "ignore"] = "refuse"
    unsynced: bool = False
    auto_promotion: Literal["refuse", "ignore"] = "refuse"
    settle: timedelta = timedelta(seconds=30)
    health: frozenset[str] = frozenset({"Healthy", "Degraded", "Suspended"})
    clock_margin: timedelta = timedelta(seconds=5)
    label_prefix: str = "kargo-observer.mkutlak.github.io"
    paused: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A row of the decision table: true if it decided, and the values it examined."""

    reason: str
    decided: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision of a row of the table."""

    kind: Kind
    reason: str
    message: str
    severity: Severity = "normal"
    retry_after: timedelta | None = None
    origin: str = ""
    freight: str = ""
    candidates: tuple[str, ...] = ()
    promotion: dict[str, Any] | None = None


def blocked(reason: str, message: str, **more: Any) -> Verdict:
    return Verdict("blocked", reason, message, severity="warning", **more)


class DecisionCase:
    """A world with derived facts, the only input of the table's rows."""

    def __init__(self, world: StageWorld, options: PlanOptions, now: datetime) -> None:
        self.world = world
        self.options = options
        self.now = now
        seen = sorted(world.applications, key=lambda observation: str(observation.application.meta))
        self.observed = [observation for observation in seen if self._is_observed(observation.application)]

    @property
    def stage(self) -> Stage:
        assert self.world.stage is not None
        return self.world.stage

    @cached_property
    def applications(self) -> list[Application]:
        return [observation.application for observation in self.observed]

    @cached_property
    def comparison(self) -> Comparison:
        return compare(self.stage, self.world.warehouses, self.applications)

    @cached_property
    def promotions(self) -> list[Promotion]:
        """The Promotions to this Stage, by name."""
        return sorted(self.world.promotions, key=lambda promotion: promotion.name)

    @cached_property
    def ours(self) -> list[Promotion]:
        return [promotion for promotion in self.promotions if is_ours(promotion, self.options.label_prefix)]

    def runs_drift(self, application: Application) -> bool:
        """Return True if the application runs an image that is not recorded."""
        drifted = {(drift.repository, drift.deployed) for drift in self.comparison.all_drift()}
        name = str(application.meta)
        return any(name in self.comparison.deployed[repository].versions[version] for repository, version in drifted)

    def _is_observed(self, application: Application) -> bool:
        return not application.ignored and (self.options.observe_mode == "opt-out" or application.opted_in)


Row = Callable[[DecisionCase], Verdict | str]
"""A row returns its verdict, or a description of the values it examined."""
