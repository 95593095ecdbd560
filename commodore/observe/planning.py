"""The decision about a Stage: a pure function of the known objects, the options and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from commodore.observe.cases import DecisionCase, Kind, PlanOptions, Row, Severity, Step, Verdict
from commodore.observe.matching import Drift
from commodore.observe.origins import decide_origins
from commodore.observe.table import STAGE_ROWS
from commodore.observe.worlds import StageName, StageWorld


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision about a Stage in JSON documents.

    Attributes:
        stage: as `namespace/name`.
        drift: the running versions that are not recorded.
        candidates: names of Freights.
        promotion: the Promotion to create; null for no Promotion.
        retry_after: seconds; null to wait for a change.
    """

    kind: Kind
    reason: str
    message: str
    stage: str
    applications: Sequence[str]
    drift: Sequence[Drift]
    origin: str | None
    freight: str | None
    candidates: Sequence[str]
    promotion: Mapping[str, Any] | None
    retry_after: float | None
    severity: Severity


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about a Stage, with reasons. `retry_after` None: on a change. `candidates` are Freights."""

    stage: StageName
    verdict: Verdict
    applications: tuple[str, ...]
    drift: tuple[Drift, ...]
    notes: tuple[str, ...]
    steps: tuple[Step, ...]
    alias: str = ""

    @property
    def kind(self) -> Kind:
        return self.verdict.kind

    @property
    def reason(self) -> str:
        return self.verdict.reason

    @property
    def message(self) -> str:
        return "; ".join((self.verdict.message, *self.notes))

    def as_plain(self) -> DecisionRecord:
        """Convert to a JSON record; see `commodore.base.documents.plain`."""
        verdict = self.verdict
        return DecisionRecord(
            verdict.kind,
            verdict.reason,
            self.message,
            str(self.stage),
            self.applications,
            self.drift,
            verdict.origin or None,
            verdict.freight or None,
            verdict.candidates,
            verdict.promotion,
            None if verdict.retry_after is None else verdict.retry_after.total_seconds(),
            verdict.severity,
        )


def plan_stage(world: StageWorld, options: PlanOptions, now: datetime) -> Decision:
    """Decide about a Stage: the first row of the table that applies.

    Args:
        now: with a time zone. No clock is read.
    """
    case = DecisionCase(world, options, now)
    steps: list[Step] = []
    verdict = _first(case, STAGE_ROWS, steps) or decide_origins(case, steps)
    compared = world.stage is not None and bool(case.observed)
    return Decision(
        stage=world.name,
        verdict=verdict,
        applications=tuple(sorted(str(observation.application.meta) for observation in world.applications)),
        drift=case.comparison.all_drift() if compared else (),
        notes=tuple(_notes(case)) if compared else (),
        steps=tuple(steps),
        alias=next((freight.alias for freight in world.freights if freight.name == verdict.freight), ""),
    )


def _first(case: DecisionCase, rows: Sequence[tuple[str, Row]], steps: list[Step]) -> Verdict | None:
    for reason, row in rows:
        outcome = row(case)
        if isinstance(outcome, Verdict):
            steps.append(Step(outcome.reason, True, outcome.message))
            return outcome
        steps.append(Step(reason, False, outcome))
    return None


def _notes(case: DecisionCase) -> list[str]:
    """Return further notes: ignored images, Applications without images, missing Warehouses."""
    notes = []
    for application in (observation.application for observation in case.observed if not observation.unknown):
        if application.invalid_images:
            shown = ", ".join(repr(text[:100]) for text in application.invalid_images[:3])
            notes.append(f"{application.meta} has images that cannot be read: {shown}")
        if not application.images and any(other.images for other in case.applications):
            notes.append(f"{application.meta} shows no images")
    for repository in sorted(case.comparison.subscribed):
        deployed = case.comparison.deployed.get(repository)
        if deployed and deployed.unversioned:
            notes.append(f"{repository} runs without tag and digest in {', '.join(sorted(deployed.unversioned))}")
    missing = [origin.key for origin in case.comparison.origins if origin.warehouse is None]
    if missing and "Warehouse" not in case.world.missing:
        notes.append(f"not found: {', '.join(missing)}")
    return notes
