"""Events that a decision and an attempt to promote leave on a Stage or on its Applications."""

from __future__ import annotations

from collections.abc import Iterable

from commodore.observe.cluster.creator import CreationOutcome
from commodore.observe.cluster.events import Recorder, Subject
from commodore.observe.kargo import Application
from commodore.observe.planning import Decision
from commodore.observe.worlds import StageWorld, annotation_problems

# Reasons that say something to the owner of the Stage; others come and go, or mean that all is well.
_SPOKEN = frozenset({"AwaitingSync", "Paused", "DryRun"})


class Announcer:
    """Writes events about decisions, on Kargo's server and on the one that has the Applications."""

    def __init__(self, stages: Recorder, applications: Recorder) -> None:
        self.stages = stages
        self._applications = applications

    async def decided(self, world: StageWorld, decision: Decision) -> None:
        """Record a decision that its owner should read: a warning, or a Promotion that an option holds back."""
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
        """Record a Promotion that was made or refused."""
        if world.stage is None:
            return
        subject = Subject.stage(world.stage.meta)
        if outcome.kind == "created":
            message = f"{outcome.promotion}: {decision.message}"
            await self.stages.record(subject, "PromotionCreated", message, warning=False, again=True)
        elif outcome.failure:
            await self.stages.record(subject, outcome.failure, outcome.message, warning=True)

    async def annotated(self, applications: Iterable[Application]) -> None:
        """Record annotations that cannot be read, on their Applications."""
        for application in applications:
            for problem in annotation_problems(application):
                subject = Subject.application(application.meta)
                await self._applications.record(subject, problem.reason, problem.message, warning=True)
