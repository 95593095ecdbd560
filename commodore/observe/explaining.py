"""Decisions for people: a table of all, or every step to one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from commodore.observe.planning import Decision

HEADINGS = ("STAGE", "DECISION", "REASON", "DEPLOYED", "RECORDED", "FREIGHT", "APPLICATIONS")


def decision_rows(decisions: Sequence[Decision]) -> Iterator[tuple[str, ...]]:
    """The cells of one line for each decision, under `HEADINGS`."""
    for one in decisions:
        deployed = ", ".join(f"{drift.repository.rpartition('/')[2]}:{drift.deployed}" for drift in one.drift)
        recorded = ", ".join(
            f"{drift.repository.rpartition('/')[2]}:{'|'.join(map(str, drift.recorded)) or '-'}" for drift in one.drift
        )
        freight = one.verdict.freight[:7]
        yield (
            str(one.stage),
            one.kind,
            one.reason,
            deployed or "-",
            recorded or "-",
            f"{freight} ({one.alias})" if freight and one.alias else freight or "-",
            ", ".join(one.applications),
        )


def explain(decision: Decision) -> Iterator[str]:
    """Every row of the decision table that was looked at, with the values that decided."""
    yield f"Stage {decision.stage}: {decision.kind}, {decision.reason}"
    yield f"  {decision.message}"
    if decision.verdict.retry_after is not None:
        yield f"  looked at again in {decision.verdict.retry_after.total_seconds():.0f} s"
    for step in decision.steps:
        yield f"  {'->' if step.decided else '  '} {step.reason}: {step.detail}"
