"""The option `--watch`: compile again whenever something has changed, and show what is different then."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commodore.base.context import Context
from commodore.base.documents import ABSENT, Absent
from commodore.base.errors import CommodoreError, UsageError
from commodore.base.events import Announce, Event, StageAdvanced, StageFinished, StageStarted, Warned
from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.base.printable import printable_lines
from commodore.cli.shell.console import Console, paint

if TYPE_CHECKING:
    from commodore.base.files.watching import WatchedPaths
    from commodore.catalog import CompileOptions
    from commodore.core.engine import Engine
    from commodore.core.review import DiffMode, DiffRecord, FileChange

_NAMED = 3  # changed files that are named


@dataclass(frozen=True, slots=True)
class SourcesChanged(Event):
    """For machines: the files that have changed, for which a run begins."""

    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WatchedChange:
    """The manifests that differ after a run of `--watch`.

    Attributes:
        sources: the files that had changed.
        seconds: the time of the run.
        lines: of the diff, if it is shown as text.
        objects: the differences by object, if these are shown.
    """

    sources: Sequence[str]
    seconds: float
    changes: Sequence[FileChange]
    lines: Sequence[str]
    objects: DiffRecord | Absent


@dataclass(frozen=True, slots=True)
class WatchedCompile:
    """A watched compile.

    Args:
        sources: what is looked at.
        output: folders with the manifests, by what they are called.
        compile: does one run, with an engine and a listener; at the first one it says itself what came of it.
        options: how to compile.
        diff_mode: how modified manifests are shown.
        how: what is shown: `text` for a diff of each file, `objects`, `stat` for numbers, `none`.
    """

    sources: WatchedPaths
    output: Mapping[str, Path]
    compile: Callable[[Engine, Announce, bool], None]
    options: CompileOptions
    diff_mode: DiffMode = "plain"
    how: str = "text"


def check_watch(values: Mapping[str, Any]) -> None:
    """Refuse options that cannot be combined with `--watch`.

    Raises:
        UsageError: what is compiled lies elsewhere or goes elsewhere, or a trace is wanted.
    """
    if not values["watch"]:
        return
    if values.get("push"):
        raise UsageError(
            "CMD-CLI-080",
            "--watch and --push cannot be combined",
            hint="look at what changes with --local --watch, and push with a run of its own",
        )
    if not values.get("local", True):
        raise UsageError(
            "CMD-CLI-081",
            "catalog compile watches only what is in the working directory: --watch needs --local",
            hint="compile once without --watch, then add --local --watch",
        )
    if values["profile"] is not None:
        raise UsageError(
            "CMD-CLI-082",
            "--watch and --profile cannot be combined: a trace is of one run",
            hint="leave one of them out",
        )


def watch(what: WatchedCompile, console: Console, *, limits: Limits = DEFAULT_LIMITS) -> None:
    """Compile, and compile again after each change, until the user ends it, which is not an error.

    Raises:
        CommodoreError: the first run failed for a reason that no edit of the watched files removes.
    """
    from commodore.base.files.watching import Watch, read_trees
    from commodore.catalog import open_engine

    listener = _Listener(console)
    watched = Watch(what.sources, limits=limits)
    listen = watched.listen(listener.on_event)
    with until_ended(console), open_engine(what.options, Context(listen, limits)) as engine:
        good: Mapping[str, bytes] = read_trees(what.output)
        for names in watched.batches():
            listener.begin()
            good = _run(what, names, good, engine, listen, console)
            watched.learn(engine.files_read())


@contextlib.contextmanager
def until_ended(console: Console) -> Iterator[None]:
    """Work until the user ends it, which is not an error."""
    try:
        yield
    except KeyboardInterrupt:
        console.status("Ended watching.")


def _run(
    what: WatchedCompile,
    names: tuple[str, ...],
    good: Mapping[str, bytes],
    engine: Engine,
    listen: Announce,
    console: Console,
) -> Mapping[str, bytes]:
    """One run, for these changed files; none of them for the first one. Returns the manifests of the last good run."""
    from commodore.base.files.watching import read_trees

    start = time.perf_counter()
    if names:
        announce_change(names, console)
    engine.renew()
    try:
        with console.working(keep=not names):
            what.compile(engine, listen, not names)
        new = read_trees(what.output)
    except CommodoreError as error:
        if not names and error.exit_code != 1:
            raise
        console.error(error)
        console.status("The manifests are as they were. Waiting for changes (Ctrl-C ends).")
        return good
    seconds = time.perf_counter() - start
    if names:
        _show(good, new, names, seconds, what, console)
    console.status(f"Compiled in {seconds:.2f} s. Waiting for changes (Ctrl-C ends).")
    return new


def announce_change(names: tuple[str, ...], console: Console) -> None:
    """Report which files have changed."""
    if console.log_format == "json":
        console.announce(SourcesChanged(names))
        return
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    console.status(f"Changed: {printable_lines(', '.join(names[:_NAMED]))}{more}")


def _show(
    old: Mapping[str, bytes],
    new: Mapping[str, bytes],
    names: tuple[str, ...],
    seconds: float,
    what: WatchedCompile,
    console: Console,
) -> None:
    """Print what is different in the manifests since the last good run: a diff, or for machines one object."""
    from commodore.catalog import ChangeSummary, review_trees
    from commodore.cli.shell.review import show_review
    from commodore.core.review import compare_trees, json_report, render

    change = compare_trees(old, new, console.context.limits)
    lines = list(render(change, old, new, console.context.limits, what.diff_mode)) if what.how == "text" else []
    review = review_trees(old, new) if what.how == "objects" else None
    if console.log_format == "json":
        texts = [line.text.rstrip("\n") for line in lines]
        objects = ABSENT if review is None else json_report(review)
        result = WatchedChange(names, round(seconds, 3), change.files, texts, objects)
        console.document("compile-watch", result, form="line")
        return
    console.status(f"Manifests: {ChangeSummary.of(change)}")
    if review is not None and change.files:
        show_review(review, console, indent="     ")
    for line in paint((line.style, line.text) for line in lines):
        console.result(f"     {line}" if line else "")


class _Listener:
    """Pass on the events of compiles. After the first run, line output omits the stages, which take no time then, and
    warnings of the previous run are not repeated.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._runs = 0
        self._last: set[Event] = set()
        self._now: set[Event] = set()

    def begin(self) -> None:
        """Another run begins."""
        self._runs += 1
        self._last, self._now = self._now, set()

    def on_event(self, event: Event) -> None:
        """The listener for all runs."""
        console = self._console
        if console.log_format == "text":
            if isinstance(event, Warned):
                self._now.add(event)
            stages = isinstance(event, StageStarted | StageAdvanced | StageFinished)
            told = self._runs == 1 or console.verbosity or console.err.isatty()
            if event in self._last or (stages and not told):
                return
        console.announce(event)
