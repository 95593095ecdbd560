"""`hydrate run --watch`: hydrating again and again, and answering probes meanwhile."""

from __future__ import annotations

import contextlib
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, UsageError
from commodore.base.events import Event, StageFinished, StageStarted
from commodore.cli.hydrate.common import Source, opened, report_left_out
from commodore.cli.hydrate.report import report, shown
from commodore.cli.shell.console import Console
from commodore.cli.shell.interruption import handling
from commodore.cli.shell.watch import until_ended

if TYPE_CHECKING:
    from commodore.hydrate import Backoff, GroupStatus, PlannedGroup, Result, Run, WatchState

_JITTER = 0.1  # of the interval: several watchers do not ask at the same time for ever


def watch(ctx: click.Context, sources: tuple[Source, ...], values: dict[str, Any], console: Console) -> None:
    """Hydrate again and again until the user ends it."""
    from commodore.hydrate import Backoff

    if any(str(source) == "-" for source in sources) or values["dry_sha"]:
        raise UsageError(
            "CMD-HYD-017",
            "--watch needs sources that can be read again, and takes no --dry-sha",
            hint="name files or folders with Applications, or leave --watch out",
        )
    if values["offline"]:
        raise UsageError(
            "CMD-HYD-017",
            "--watch polls the remotes, and --offline contacts none",
            hint="leave one of them out; --dry-run --watch-files looks at files, and pushes nothing",
        )
    graceful = GracefulShutdown(console.context.limits.hydrate_grace)
    with until_ended(console), _watched(values) as watched, graceful.at_sigterm() as shutdown:
        loop = _Loop(ctx, sources, console, watched, Backoff(time.monotonic), shutdown)
        while True:
            loop.look({**values, "hard": watched.begin()})
            shutdown.check()
            pause = values["interval"] * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311
            console.status(f"Looking again in {pause:.0f} s (Ctrl-C ends).")
            watched.wakeup.wait(pause)


@contextlib.contextmanager
def _watched(values: dict[str, Any]) -> Iterator[WatchState]:
    """Yield the state of the watcher, which is served with --listen. SIGHUP triggers a run, too."""
    from commodore.core.serving import serving
    from commodore.hydrate import Wakeup, WatchState

    file = values["listen_token"]
    token = file.read_text(encoding="utf-8").strip() if file is not None else ""
    with contextlib.closing(Wakeup()) as wakeup, contextlib.ExitStack() as kept:
        watched = WatchState(values["interval"], time.monotonic, token, wakeup)
        kept.enter_context(handling(lambda *_: wakeup.wake(), signal.SIGHUP))
        if values["listen"]:
            kept.enter_context(serving(values["listen"], watched.pages()))
        yield watched


class GracefulShutdown:
    """Ends the watcher at SIGTERM: at once, but a push that goes on may come to its end, and nothing begins after it.
    Another SIGTERM waits for nothing.

    Args:
        grace: seconds for that push.
    """

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._is_pushing = self._is_wanted = False

    @contextlib.contextmanager
    def at_sigterm(self) -> Iterator[GracefulShutdown]:
        """Take SIGTERM as long as the block runs. It is a KeyboardInterrupt in the main thread."""
        with handling(self._terminate, signal.SIGTERM), handling(_interrupt, signal.SIGALRM):
            try:
                yield self
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)

    def on_event(self, event: Event) -> None:
        """Take in an event of the loop.

        Raises:
            KeyboardInterrupt: something else begins after the push that was waited for.
        """
        from commodore.hydrate import PUSH_STAGE

        match event:
            case StageStarted(stage):
                self.check()
                self._is_pushing = stage == PUSH_STAGE
            case StageFinished(stage) if stage == PUSH_STAGE:
                self._is_pushing = False

    def check(self) -> None:
        """See whether to go on.

        Raises:
            KeyboardInterrupt: it is to end.
        """
        if self._is_wanted:
            raise KeyboardInterrupt

    def _terminate(self, *_: object) -> None:
        if not self._is_pushing or self._is_wanted:
            raise KeyboardInterrupt
        self._is_wanted = True
        signal.setitimer(signal.ITIMER_REAL, self._grace)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@dataclass(frozen=True, slots=True)
class _Loop:
    ctx: click.Context
    sources: tuple[Source, ...]
    console: Console
    watched: WatchState
    backoff: Backoff
    shutdown: GracefulShutdown

    def look(self, values: dict[str, Any]) -> None:
        """Hydrate changes, and show the results. Failed groups are retried in a later run."""
        try:
            self._look(values)
        except CommodoreError as error:
            if error.exit_code == 70:
                raise
            self.console.error(error)

    def _look(self, values: dict[str, Any]) -> None:
        from commodore.hydrate import hydrate

        context = Context(self._announce, self.console.context.limits)
        with opened(self.ctx, self.sources, values, context) as run:
            hydrated = hydrate(run, (lambda _: True) if values["hard"] else self.backoff.is_ready)
            results = hydrated.results
            seen = [_seen(run, planned, result) for planned, result in results]
        self.backoff.learn(results)
        self.watched.metrics.looked(seen, time.time())
        self.watched.end(frozenset(key for result, _ in results for key in (result.group.dry_key, result.group.key)))
        report_left_out(hydrated.lost, self.console)
        news = [
            result
            for result in results
            if result[0].decision not in ("hydrated", "waiting") and not _is_same(result[1])
        ]
        if news:
            report(shown(news), values, self.console)

    def _announce(self, event: Event) -> None:
        self.watched.metrics.on_event(event)
        self.console.announce(event)
        self.shutdown.on_event(event)


def _is_same(result: Result) -> bool:
    """Return True if something was compiled without changes."""
    return not isinstance(result, CommodoreError) and result.word == "unchanged"


def _seen(run: Run, planned: PlannedGroup, result: Result) -> GroupStatus:
    from commodore.core.sources.git import redact
    from commodore.hydrate import GroupStatus, commits_behind

    url, branch = redact(planned.group.first.url), planned.group.branch
    if isinstance(result, CommodoreError):
        return GroupStatus(url, branch, "failed", commits_behind(run, [planned]))
    behind = commits_behind(run, [planned]) if planned.decision == "waiting" else 0
    return GroupStatus(url, branch, result.word, behind, result.retries)
