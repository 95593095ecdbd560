"""The summary at the end of a compile: rendered instances, changed objects, dangers, and the duration."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from commodore.base.events import Announce, Event, StageFinished
from commodore.base.printable import NAMES_SHOWN, printable
from commodore.cli.shell.console import Console

if TYPE_CHECKING:
    from commodore.catalog import CatalogResult, ChangeSummary, Move
    from commodore.core.review import ObjectKind, Review

_KINDS: tuple[ObjectKind, ...] = ("added", "changed", "removed", "moved")
_SHOWN_SECONDS = 0.1
_SHOWN_STAGES = 3
_TIME_WIDTH = 80 - len("Time:      ")


@dataclass(frozen=True, slots=True)
class InstanceCounts:
    """The numbers of instances that were rendered and that came from the cache, and of these from the remote one."""

    rendered: int
    reused: int
    remote: int


@dataclass(frozen=True, slots=True)
class StageTime:
    """A stage, and the seconds that it took."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class CompileSummary:
    """The result of compiling one cluster.

    Attributes:
        changed: whether the catalog is another one than before.
        commit: the commit that was made; null if none was.
        files: the numbers of files that differ.
        moves: the dependencies that have other versions than in the catalog's last commit.
        objects: the numbers of objects that differ, by kind of change; null if changes were not to be shown.
        flags: the numbers of dangers, by name; null if changes were not to be shown.
    """

    cluster: str
    changed: bool
    pushed: bool
    commit: str | None
    instances: InstanceCounts
    files: ChangeSummary
    moves: Sequence[Move]
    objects: Mapping[ObjectKind, int] | None
    flags: Mapping[str, int] | None
    seconds: float
    stages: Sequence[StageTime]
    notices: Sequence[str]


class StageTimes:
    """Hears how long the stages of a run take, and measures all of it but the questions to the user.

    Args:
        clock: gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds: dict[str, float] = {}
        self._clock = clock
        self._start = clock()

    @property
    def total(self) -> float:
        """Seconds since this was made."""
        return self._clock() - self._start

    def text(self, width: int) -> str:
        """The time of all, and of the slowest stages for which a line of this width has room."""
        line = f"{self.total:.1f} s"
        slowest = sorted(self.seconds.items(), key=lambda stage: -stage[1])[:_SHOWN_STAGES]
        for number, (name, seconds) in enumerate(slowest):
            longer = f"{line}{', ' if number else ': '}{name} {seconds:.1f} s"
            if seconds < _SHOWN_SECONDS or len(longer) > width:
                break
            line = longer
        return line

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """Count no time meanwhile."""
        begin = self._clock()
        try:
            yield
        finally:
            self._start += self._clock() - begin

    def listening(self, announce: Announce) -> Announce:
        """A listener that notes times and passes everything on."""

        def on_event(event: Event) -> None:
            if isinstance(event, StageFinished):
                self.seconds[event.stage] = self.seconds.get(event.stage, 0.0) + event.seconds
            announce(event)

        return on_event


def show_summary(
    console: Console, cluster: str, result: CatalogResult, review: Review | None, times: StageTimes, *, as_json: bool
) -> None:
    """Print the summary of a compile in a few lines, or as JSON. Objects are counted if changes are shown."""
    if as_json:
        console.document("catalog-compile", _summary(cluster, result, review, times))
        return
    files = {name.replace("_", " "): count for name, count in asdict(result.change.summary).items() if count}
    remote = f" ({result.brought} of them from the remote one)" if result.brought else ""
    lines = [
        f"Instances: {result.rendered} rendered, {result.reused} from the cache{remote}",
        f"Files:     {', '.join(f'{count} {name}' for name, count in files.items()) or 'none changed'}",
    ]
    if review is not None:
        lines.append(f"Objects:   {_objects(review)}")
        if review.flags:
            names = Counter(flag.name for flag in review.flags)
            lines.append(f"Dangers:   {', '.join(f'{count} {name}' for name, count in names.items())}")
    lines += _moves(result.moves, console.verbosity)
    lines.append(f"Time:      {times.text(_TIME_WIDTH)}")
    for line in lines:
        console.status(line)


def _moves(moves: tuple[Move, ...], verbosity: int) -> list[str]:
    """Return the version changes since the catalog's last commit; a long list is cut."""
    shown = moves if verbosity else moves[:NAMES_SHOWN]
    lines: list[str] = []
    for move in shown:
        if move.before is None:
            how = f"{move.after} is new"
        elif move.after is None:
            how = f"{move.before} is gone"
        else:
            how = f"from {move.before} to {move.after}"
        lines.append(f"{'Moved:' if not lines else '':<10} {printable(f'{move.kind} {move.name} {how}')}")
    if len(shown) < len(moves):
        lines.append(f"{'':<10} and {len(moves) - len(shown)} more (-v shows all)")
    return lines


def _objects(review: Review) -> str:
    counts = Counter(change.kind for change in review.comparison.changes)
    text = ", ".join(f"{counts[kind]} {kind}" for kind in _KINDS if counts[kind] or kind != "moved")
    return f"{text} ({review.hidden_only} of them only noise)" if review.hidden_only else text


def _summary(cluster: str, result: CatalogResult, review: Review | None, times: StageTimes) -> CompileSummary:
    counts = Counter(change.kind for change in review.comparison.changes) if review is not None else None
    flags = Counter(flag.name for flag in review.flags) if review is not None else None
    return CompileSummary(
        cluster,
        result.change.changed,
        result.change.pushed,
        result.change.committed_sha,
        InstanceCounts(result.rendered, result.reused, result.brought),
        result.change.summary,
        result.moves,
        None if counts is None else {kind: counts[kind] for kind in _KINDS},
        flags,
        round(times.total, 3),
        [StageTime(name, round(seconds, 3)) for name, seconds in times.seconds.items()],
        result.notices,
    )
