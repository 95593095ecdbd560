"""Decisions as text: a table of all, or all steps of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commodore.observe.kargo import short_name
from commodore.observe.planning import Decision
from commodore.observe.quantities import show_duration

HEADINGS = ("STAGE", "DECISION", "REASON", "DEPLOYED", "RECORDED", "FREIGHT", "APPLICATIONS")


def decision_rows(decisions: Sequence[Decision]) -> Iterator[tuple[str, ...]]:
    """Yield the cells of a line for each decision, under `HEADINGS`."""
    for decision in decisions:
        deployed = ", ".join(f"{drift.repository.rpartition('/')[2]}:{drift.deployed}" for drift in decision.drift)
        recorded = ", ".join(
            f"{drift.repository.rpartition('/')[2]}:{'|'.join(map(str, drift.recorded)) or '-'}"
            for drift in decision.drift
        )
        freight = short_name(decision.verdict.freight)
        yield (
            str(decision.stage),
            decision.kind,
            decision.reason,
            deployed or "-",
            recorded or "-",
            f"{freight} ({decision.alias})" if freight and decision.alias else freight or "-",
            ", ".join(decision.applications),
        )


def explain(decision: Decision) -> Iterator[str]:
    """Yield the rows of the decision table up to the one that applies, with its values."""
    yield f"Stage {decision.stage}: {decision.kind}, {decision.reason}"
    yield f"  {decision.message}"
    if decision.verdict.retry_after is not None:
        yield f"  decided again in {show_duration(decision.verdict.retry_after)}"
    yield "  Rows of the decision table (ok: does not apply; ->: applies):"
    width = max((len(step.reason) for step in decision.steps), default=0)
    for step in decision.steps:
        yield f"  {'->' if step.decided else 'ok'}  {step.reason:<{width}}  {step.detail}"
