"""The progress display of a run on a terminal: its stages, and its current work."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

from rich.console import Console, RenderableType
from rich.progress import (
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from commodore.base.events import (
    ClusterBegun,
    ClusterEnded,
    Event,
    InCluster,
    StageAdvanced,
    StageFinished,
    StageGrown,
    StageStarted,
    TaskBegun,
    TaskEnded,
    WaveBegun,
    WaveEnded,
)
from commodore.base.printable import capitalized, printable

_Work = tuple[str, str, str]
_FETCHES, _UNSEEN, _CLUSTER = "fetch", "inspect", "cluster"


@dataclass(slots=True)
class _Wave:
    """The progress of the clusters of a wave.

    Args:
        total: how many are compiled.
        expected: seconds that this takes, 0 if that is not known.
    """

    bar: TaskID
    total: int
    expected: float
    states: dict[str, str] = field(default_factory=dict)
    done: int = 0
    begun: float = field(default_factory=time.monotonic)

    def describe(self, name: str) -> str:
        """Return the counts of its clusters by state, the number done per minute, and the remaining time."""
        parts = [f"{count} {state}" for state, count in sorted(Counter(self.states.values()).items())]
        left, spent = self.total - self.done, time.monotonic() - self.begun
        if left > 0 and self.done and spent > 0:
            seconds = self.expected * left / self.total or spent * left / self.done
            parts.append(f"{60 * self.done / spent:.1f} a minute, about {_rounded(seconds)} left")
        return capitalized(f"wave {printable(name)}{': ' if parts else ''}{', '.join(parts)}")


def _rounded(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class Display:
    """Draws the stages that run, below them the tasks of workers; a stage that has ended stays as a line with its time.
    Of a fleet it draws the waves, and the clusters at work with their stages.

    Args:
        keep: whether stages that have ended stay.
        color: False for none.
    """

    def __init__(self, err: IO[str], *, keep: bool = True, color: bool | None = None) -> None:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._running: dict[_Work, float] = {}
        self._progress = _Progress(
            *columns, console=Console(file=err, no_color=True if color is False else None), running=self._running
        )
        self._stages: dict[str, TaskID] = {}
        self._waves: dict[str, _Wave] = {}
        self._publishing: set[str] = set()
        self._keep = keep

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._progress.stop()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Draw nothing meanwhile."""
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()

    def say(self, line: str) -> None:
        """Print a line, which may have colours, above what is drawn."""
        self._progress.console.print(Text.from_ansi(line), soft_wrap=True)

    def on_event(self, event: Event) -> None:
        """Draw what has happened."""
        match event:
            case StageStarted(stage, total):
                self._stages[stage] = self._progress.add_task(capitalized(stage), total=total)
            case StageGrown(stage, items):
                if (known := self._task(stage)) is not None:
                    self._progress.update(known, total=(self._progress.task(known).total or 0) + items)
            case StageAdvanced(stage):
                if (known := self._task(stage)) is not None:
                    self._progress.update(known, advance=1)
            case StageFinished(stage, seconds):
                self._end(stage, seconds)
            case TaskBegun(task, item, place):
                if task != _UNSEEN:
                    self._running[task, item, place] = time.monotonic()
            case TaskEnded(task, item, place):
                self._running.pop((task, item, place), None)
            case WaveBegun() | WaveEnded() | ClusterBegun() | ClusterEnded() | InCluster():
                self._on_fleet_event(event)

    def _on_fleet_event(self, event: WaveBegun | WaveEnded | ClusterBegun | ClusterEnded | InCluster) -> None:
        match event:
            case WaveBegun(wave, total, expected):
                bar = self._progress.add_task(capitalized(f"wave {printable(wave)}"), total=total)
                self._waves[wave] = _Wave(bar, total, expected)
            case WaveEnded(wave):
                if (known := self._waves.pop(wave, None)) is not None:
                    self._progress.remove_task(known.bar)
            case ClusterBegun(cluster, _, publishing):
                self._at_work(cluster, "publishing" if publishing else "")
                if publishing:
                    self._publishing.add(cluster)
            case InCluster(cluster, StageStarted(stage)):
                self._at_work(cluster, stage)
            case ClusterEnded(cluster, wave, state):
                self._leave(cluster)
                if (known := self._waves.get(wave)) is not None:
                    known.states[cluster] = state
                    known.done += cluster not in self._publishing
                    self._progress.update(known.bar, completed=known.done, description=known.describe(wave))

    def _at_work(self, cluster: str, stage: str) -> None:
        self._leave(cluster)
        self._running[_CLUSTER, f"{cluster} {stage}".strip(), cluster] = time.monotonic()

    def _leave(self, cluster: str) -> None:
        for work in [work for work in list(self._running) if work[0] == _CLUSTER and work[2] == cluster]:
            self._running.pop(work, None)

    def _task(self, stage: str) -> TaskID | None:
        """A room names its own step ("fetch") within the stage that runs ("fetching components")."""
        return self._stages.get(stage, next(reversed(self._stages.values()), None))

    def _end(self, stage: str, seconds: float) -> None:
        known = self._stages.pop(stage, None)
        if known is None:
            return
        done = self._progress.task(known)
        self._progress.remove_task(known)
        if not self._stages:
            self._running.clear()  # a worker that has died does not say so
        if self._keep:
            count = f"{done.completed:.0f}" if done.completed else ""
            self.say(f"  {capitalized(stage):<32} {count:>4}  {seconds:7.2f} s")


class _Progress(Progress):
    """Bars of the stages, and one line with the tasks that run, the longest first."""

    def __init__(self, *columns: ProgressColumn, console: Console, running: Mapping[_Work, float]) -> None:
        self._running = running
        super().__init__(*columns, console=console, transient=True)

    def task(self, task: TaskID) -> Task:
        """One of the stages."""
        return next(item for item in self.tasks if item.id == task)

    def get_renderables(self) -> Iterator[RenderableType]:
        yield self.make_tasks_table(self.tasks)
        now = time.monotonic()
        longest = sorted(dict(self._running).items(), key=lambda item: item[1])
        parts = [
            f"{'fetching ' if task == _FETCHES else ''}{printable(item)} {now - since:.0f} s"
            for (task, item, _), since in longest
        ]
        if parts:
            yield Text(f"  {', '.join(parts)}", no_wrap=True, overflow="ellipsis", style="dim")
