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

from commodore.cli._hydrate import Source, opened, tell_lost
from commodore.cli._hydrate_report import report, shown
from commodore.cli.console import Console
from commodore.context import Context
from commodore.errors import CommodoreError, UsageError
from commodore.events import Event

if TYPE_CHECKING:
    from commodore.hydrate.metrics import Seen
    from commodore.hydrate.publishing import Result
    from commodore.hydrate.running import Hydrator, Planned
    from commodore.hydrate.serving import Watched
    from commodore.hydrate.watching import Patience

_JITTER = 0.1  # of the interval: several watchers do not ask at the same time for ever


def watch(ctx: click.Context, sources: tuple[Source, ...], values: dict[str, Any], console: Console) -> None:
    """Hydrate again and again until the user ends it."""
    from commodore.hydrate.watching import Patience

    if any(str(one) == "-" for one in sources) or values["dry_sha"]:
        raise UsageError(
            "CMD-HYD-017",
            "--watch needs sources that can be read again, and takes no --dry-sha",
            hint="name files or folders with Applications, or leave --watch out",
        )
    try:
        with _watched(values) as watched:
            loop = _Loop(ctx, sources, console, watched, Patience(time.monotonic))
            while True:
                loop.look({**values, "hard": watched.begin()})
                pause = values["interval"] * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311
                console.status(f"Looking again in {pause:.0f} s (Ctrl-C ends).")
                watched.bell.wait(pause)
    except KeyboardInterrupt:
        console.status("Ended watching.")


@contextlib.contextmanager
def _watched(values: dict[str, Any]) -> Iterator[Watched]:
    """The state of the watcher, which is served if that is wanted. SIGHUP asks for a look, too."""
    from commodore.hydrate.serving import Bell, Watched, serving

    file = values["listen_token"]
    token = file.read_text(encoding="utf-8").strip() if file is not None else ""
    with contextlib.closing(Bell()) as bell, contextlib.ExitStack() as kept:
        watched = Watched(values["interval"], time.monotonic, token, bell)
        before = signal.signal(signal.SIGHUP, lambda *_: bell.ring())
        kept.callback(signal.signal, signal.SIGHUP, before)
        if values["listen"]:
            kept.enter_context(serving(values["listen"], watched))
        yield watched


@dataclass(frozen=True, slots=True)
class _Loop:
    ctx: click.Context
    sources: tuple[Source, ...]
    console: Console
    watched: Watched
    patience: Patience

    def look(self, values: dict[str, Any]) -> None:
        """Hydrate what has changed, and show it. What fails is shown, and tried again at another look."""
        try:
            self._look(values)
        except CommodoreError as error:
            if error.exit_code == 70:
                raise
            self.console.error(error)

    def _look(self, values: dict[str, Any]) -> None:
        context = Context(self._announce, self.console.context.limits)
        with opened(self.ctx, self.sources, values, context) as hydrator:
            results = hydrator.run((lambda _: True) if values["hard"] else self.patience.is_ready)
            seen = [_seen(hydrator, planned, result) for planned, result in results]
        self.patience.learn(results)
        self.watched.metrics.looked(seen, time.time())
        self.watched.end(frozenset(key for one, _ in results for key in (one.group.dry_key, one.group.key)))
        tell_lost(hydrator, self.console)
        news = [one for one in results if one[0].decision not in ("hydrated", "waiting")]
        if news:
            report(shown(news), values, self.console)

    def _announce(self, event: Event) -> None:
        self.watched.metrics.hear(event)
        self.console.announce(event)


def _seen(hydrator: Hydrator, planned: Planned, result: Result) -> Seen:
    from commodore.git import redact
    from commodore.hydrate.metrics import Seen
    from commodore.hydrate.status import commits_behind

    url, branch = redact(planned.group.first.url), planned.group.branch
    if isinstance(result, CommodoreError):
        return Seen(url, branch, "failed", commits_behind(hydrator, [planned]))
    behind = commits_behind(hydrator, [planned]) if planned.decision == "waiting" else 0
    return Seen(url, branch, result.word, behind, result.retries)
