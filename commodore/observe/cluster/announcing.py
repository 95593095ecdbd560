"""Events on a Stage or its Applications for decisions and attempts to promote."""

from __future__ import annotations

from collections.abc import Iterable

from commodore.observe.cluster.creator import CreationOutcome
from commodore.observe.cluster.events import Recorder, Subject
from commodore.observe.kargo import Application
from commodore.observe.planning import Decision
from commodore.observe.worlds import StageWorld, annotation_problems

# Reasons of interest to the owner of the Stage; others are transient, or mean that all is well.
_SPOKEN = frozenset({"AwaitingSync", "Paused", "DryRun"})


class Announcer:
    """Writes events about decisions to the servers of Kargo and of the Applications."""

    def __init__(self, stages: Recorder, applications: Recorder) -> None:
        self.stages = stages
        self._applications = applications

    async def decided(self, world: StageWorld, decision: Decision) -> None:
        """Record a decision of interest to its owner: a warning, or a Promotion that an option prevents."""
        warning = decision.verdict.severity == "warning"
        if not warning and decision.reason not in _SPOKEN:
            return
        reason = "DryRunPromotionSkipped" if decision.reason == "DryRun" else decision.reason
        about = f"{decision.verdict.severity} {decision.verdict.freight} {'; '.join(map(str, decision.drift))}"
        if world.stage is not None:
            subject = Subject.stage(world.stage.meta)
            await self.stages.record(subject, reason, decision.message, warning=warning, about=about)
        else:
            for seen in world.applications:
                subject = Subject.application(seen.application.meta)
                await self._applications.record(subject, reason, decision.message, warning=warning)

    async def tried(self, world: StageWorld, decision: Decision, outcome: CreationOutcome) -> None:
        """Record a Promotion that was created or refused."""
        if world.stage is None:
            return
        subject = Subject.stage(world.stage.meta)
        if outcome.kind == "created":
            message = f"{outcome.promotion}: {decision.message}"
            await self.stages.record(subject, "PromotionCreated", message, warning=False, again=True)
        elif outcome.failure:
            await self.stages.record(subject, outcome.failure, outcome.message, warning=True)

    async def annotated(self, applications: Iterable[Application]) -> None:
        """Record invalid annotations, on their Applications."""
        for application in applications:
            for problem in annotation_problems(application):
                subject = Subject.application(application.meta)
                await self._applications.record(subject, problem.reason, problem.message, warning=True)
