"""Whether a wave that is compiled may be published."""

from __future__ import annotations

from collections.abc import Sequence

from commodore.clusters.outcome import ClusterOutcome
from commodore.clusters.waves import Wave


def refusal(wave: Wave, clusters: Sequence[ClusterOutcome]) -> str:
    """Why nothing of a wave may be pushed, or no later wave be begun; empty if it may."""
    failed = sum(one.has_failed for one in clusters)
    allowed = wave.max_failures.of(len(clusters))
    if failed > allowed:
        may = "none may" if not allowed else f"{allowed} may"
        counts = f"{failed} of {len(clusters)} clusters of wave {wave.name} failed"
        return f"{counts}, {may} (--max-failures {wave.max_failures})"
    changed = sum(one.state == "changed" for one in clusters)
    if wave.max_changed is not None and changed > wave.max_changed:
        counts = f"{changed} of {len(clusters)} clusters of wave {wave.name} changed"
        return f"{counts}, {wave.max_changed} may (max_changed)"
    return ""
