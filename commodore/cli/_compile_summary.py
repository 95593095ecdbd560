"""The summary at the end of a compile: what was rendered, which objects differ, what is dangerous, how long it took."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from commodore.cli.console import Console
from commodore.events import Announce, Event, StageFinished

if TYPE_CHECKING:
    from commodore.manifests.object_diff import Review
    from commodore.manifests.object_diff.model import ObjectKind
    from commodore.pipeline import CatalogResult

_KINDS: tuple[ObjectKind, ...] = ("added", "changed", "removed", "moved")
_SHOWN_SECONDS = 0.1


class StageTimes:
    """Hears how long the stages of a run take."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def listening(self, announce: Announce) -> Announce:
        """A listener that notes times and passes everything on."""

        def hear(event: Event) -> None:
            if isinstance(event, StageFinished):
                self.seconds[event.stage] = self.seconds.get(event.stage, 0.0) + event.seconds
            announce(event)

        return hear


def show_summary(
    console: Console, cluster: str, result: CatalogResult, review: Review | None, times: StageTimes, *, as_json: bool
) -> None:
    """Say in a few lines what a compile has done, or as JSON. Objects are counted if changes were to be shown."""
    if as_json:
        console.result(json.dumps(_as_dict(cluster, result, review, times), indent=2))
        return
    lines = [f"Instances: {result.rendered} rendered, {result.reused} reused"]
    if review is not None:
        lines.append(f"Objects:   {_objects(review)}")
        if review.flags:
            names = Counter(flag.name for flag in review.flags)
            lines.append(f"Dangers:   {', '.join(f'{count} {name}' for name, count in names.items())}")
    slow = {name: seconds for name, seconds in times.seconds.items() if seconds >= _SHOWN_SECONDS}
    if slow:
        lines.append(f"Time:      {', '.join(f'{name} {seconds:.1f} s' for name, seconds in slow.items())}")
    for line in lines:
        console.status(line)


def _objects(review: Review) -> str:
    counts = Counter(change.kind for change in review.comparison.changes)
    text = ", ".join(f"{counts[kind]} {kind}" for kind in _KINDS if counts[kind] or kind != "moved")
    return f"{text} ({review.hidden_only} of them only noise)" if review.hidden_only else text


def _as_dict(cluster: str, result: CatalogResult, review: Review | None, times: StageTimes) -> dict[str, Any]:
    """The summary for programs; `objects` and `flags` are null if changes were not to be shown."""
    counts = Counter(change.kind for change in review.comparison.changes) if review is not None else None
    flags = Counter(flag.name for flag in review.flags) if review is not None else None
    return {
        "cluster": cluster,
        "changed": result.change.changed,
        "pushed": result.change.pushed,
        "commit": result.change.committed_sha,
        "instances": {"rendered": result.rendered, "reused": result.reused},
        "files": asdict(result.change.summary),
        "objects": None if counts is None else {kind: counts[kind] for kind in _KINDS},
        "flags": None if flags is None else dict(flags),
        "stages": [{"name": name, "seconds": round(seconds, 3)} for name, seconds in times.seconds.items()],
        "notices": list(result.notices),
    }
