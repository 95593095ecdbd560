"""The decision to publish a compiled wave, by its limits and its gate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from commodore.base.errors import PolicyError
from commodore.clusters.outcome import ClusterOutcome
from commodore.clusters.report.model import WaveResult
from commodore.clusters.waves import Wave


def judge(
    result: WaveResult, wave: Wave, clusters: Sequence[ClusterOutcome], approval: str, ask: Callable[[], bool]
) -> WaveResult | None:
    """Return the result of a wave that must not be published; None if it may be published.

    Args:
        result: the result so far.
        approval: the options that approve the wave if it has a manual gate; empty if it is approved.
        ask: called to confirm a wave that is within its limits and has changes.
    """
    reason = refusal(wave, clusters)
    if reason:  # clusters that have failed have exit codes of their own
        exit_code = 0 if any(cluster.has_failed for cluster in clusters) else PolicyError.exit_code
        return replace(result, state="failed", reason=reason, exit_code=exit_code)
    if not any(cluster.state == "changed" for cluster in clusters):
        return None
    if wave.manual and approval:
        reason = f"wave {wave.name} must be approved ({approval})"
        return replace(result, state="refused", reason=reason, exit_code=PolicyError.exit_code)
    return None if ask() else replace(result, state="failed", reason="it was declined")


def refusal(wave: Wave, clusters: Sequence[ClusterOutcome]) -> str:
    """Return the reason why a wave must not be pushed, nor a later wave begin; empty if it may."""
    failed = sum(cluster.has_failed for cluster in clusters)
    allowed = wave.max_failures.of(len(clusters))
    if failed > allowed:
        may = "none may" if not allowed else f"{allowed} may"
        counts = f"{failed} of {len(clusters)} clusters of wave {wave.name} failed"
        return f"{counts}, {may} (--max-failures {wave.max_failures})"
    changed = sum(cluster.state == "changed" for cluster in clusters)
    if wave.max_changed is not None and changed > wave.max_changed:
        counts = f"{changed} of {len(clusters)} clusters of wave {wave.name} changed"
        return f"{counts}, {wave.max_changed} may (max_changed)"
    return ""
