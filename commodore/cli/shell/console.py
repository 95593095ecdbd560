"""The one place that writes to a terminal: results to standard output, everything else to standard error."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import click

from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic
from commodore.base.documents import document, document_text, plain
from commodore.base.errors import CommodoreError, Findings
from commodore.base.events import (
    ClusterEnded,
    Event,
    InCluster,
    Noted,
    PageToVisit,
    StageAdvanced,
    StageFinished,
    StageGrown,
    StageStarted,
    TaskBegun,
    TaskEnded,
    Traced,
    Warned,
    WaveBegun,
    WaveEnded,
    as_record,
)
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.printable import (
    capitalized,
    cells,
    counted,
    printable_colours,
    printable_lines,
    shortened,
    without_commands,
)
from commodore.cli.shell.diagnostics import STYLES, grouped, texts_of
from commodore.cli.shell.settings.model import Settings

if TYPE_CHECKING:
    from commodore.cli.shell.progress import Display

LogFormat = Literal["text", "json"]

_NARROWEST = 40  # columns of a terminal, for which text is broken

_CLI_CODES = "CMD-CLI-"  # what is wrong with a command line, its message and hint say in full


class Console:
    """Listens to events and shows errors. `verbosity` counts the `-v` given; `quiet` leaves only warnings and
    errors; `color` says whether there are colours, None that there are on a terminal.
    """

    def __init__(
        self,
        *,
        verbosity: int = 0,
        quiet: bool = False,
        log_format: LogFormat = "text",
        color: bool | None = None,
    ) -> None:
        self.verbosity = verbosity
        self.quiet = quiet
        self.log_format = log_format
        self.color = color
        self.err: IO[str] = sys.stderr
        self._display: Display | None = None
        self._explained = False

    @property
    def context(self) -> Context:
        """Return the context for library functions; their events are shown."""
        return Context(self.announce, DEFAULT_LIMITS)

    def announce(self, event: Event) -> None:
        """The listener that library functions are given."""
        inner = event.event if isinstance(event, InCluster) else event
        if self._display is not None:
            self._display.on_event(event)
        if isinstance(inner, TaskBegun | TaskEnded | StageGrown):  # for traces, see commodore.cli.shell.stage_profile
            return
        if self.log_format == "json":
            requested = isinstance(inner, Warned | PageToVisit) if self.quiet else True
            if requested and (not isinstance(inner, Noted) or inner.level <= self.verbosity):
                self._json(as_record(event))
            return
        match event:
            case Warned(code, message, hint):
                self._show(Diagnostic(code, message, "warning", hint))
            case Noted(message, level):
                if level <= self.verbosity and not self.quiet:
                    self._write_line(self._wrapped(message))
            case Traced(instance, message, place):
                if not self.quiet:
                    self._write_line(f"trace: {instance}: {message}")
                    if place:
                        self._write_line(f"  at {place}")
            case PageToVisit(url, code, opened):
                how = "Log in with the browser that opens, or visit" if opened else "To log in, visit"
                self._write_line(f"{how}\n  {url}" + (f"\nand enter the code {code}" if code else ""))
            case StageStarted() | StageAdvanced() | StageFinished():
                self._stage(event)
            case InCluster(cluster, Warned(code, message, hint)):
                self.announce(Warned(code, f"{cluster}: {message}", hint))
            case InCluster(cluster, Noted(message, level)):
                self.announce(Noted(f"{cluster}: {message}", level))
            case InCluster(cluster, Traced(instance, message, place)):
                self.announce(Traced(f"{cluster}: {instance}", message, place))
            case WaveBegun() | ClusterEnded() | WaveEnded():
                self._wave(event)

    def error(self, error: CommodoreError) -> None:
        """Show one error, or all of several. On a terminal, say once where to read more."""
        errors = error.errors if isinstance(error, Findings) else (error,)
        for item in errors:
            if self.log_format == "json":
                self._json({"event": "Error", **plain(item)})
                continue
            self._show(Diagnostic.of(item))
        explained = next((entry.code for entry in errors if not entry.code.startswith(_CLI_CODES)), "")
        if explained and not self._explained and self.log_format == "text" and self.err.isatty():
            self._explained = True
            self._write_line(f"explain: commodore explain {explained}", dim=True)

    def diagnostics(self, diagnostics: Iterable[Diagnostic], requested: str = "actionable") -> None:
        """Show diagnostics: `all`, the `actionable` ones, or `none`; errors always.

        Unless all are asked for, many of one cause are shown as one, and those of before a change as a number.
        """
        if self.quiet:
            requested = "none"
        chosen = [
            entry
            for entry in diagnostics
            if entry.severity == "error" or requested == "all" or (requested == "actionable" and entry.actionable)
        ]
        if self.log_format == "json":
            for item in chosen:
                self.record("Diagnostic", plain(item))
            return
        if requested == "all":
            for item in chosen:
                self._show(item)
            return
        known = [entry for entry in chosen if entry.before and entry.severity != "error"]
        for item, others in grouped(entry for entry in chosen if entry not in known):
            self._show(item, others)
        if known:
            count = "1 finding was" if len(known) == 1 else f"{len(known)} findings were"
            self._write_line(f"{count} there before the change, too (--diagnostics all shows them)")

    def _show(self, diagnostic: Diagnostic, others: str = "") -> None:
        """Write a diagnostic, with a line after its first one."""
        head, *rest = (text if text.startswith("  at ") else self._wrapped(text) for text in texts_of(diagnostic))
        first = _styled(head, diagnostic.severity, STYLES[diagnostic.severity])
        self._write_lines([first, *map(_unsteered, filter(None, [others, *rest]))])

    def aborted(self) -> None:
        """Say that the user has ended the run."""
        if self.log_format == "json":
            self._json({"event": "Aborted"})
        else:
            self._write_line("Aborted!")

    def result(self, text: str, *, newline: bool = True) -> None:
        """Write text for people to standard output. It may have colours; nothing else in it steers a terminal."""
        click.echo(without_commands(printable_colours(text)), nl=newline, color=self.color)

    def data(self, text: str, *, newline: bool = True) -> None:
        """Write a document for machines to standard output, as it is."""
        click.echo(text, nl=newline, color=True)

    def document(self, schema: str, data: Any, *, form: str = "json") -> None:
        """Write a document for machines to standard output; see `commodore.base.documents`.

        Args:
            form: `json`, `yaml`, or `line` for JSON on one line.
        """
        if form == "yaml":
            from commodore.base.yaml import dump

            self.data(dump(document(schema, data)), newline=False)
        else:
            self.data(document_text(schema, data, indent=None if form == "line" else 2))

    def note(self, text: str) -> None:
        """Write text for people to standard error; it may have colours."""
        click.echo(without_commands(printable_colours(text)), file=self.err, color=self.color)

    def record(self, event: str, record: Mapping[str, Any]) -> None:
        """Write an event to standard error as one line of JSON."""
        self._json({"event": event, **record})

    def confirmed(self, question: str, *, default: bool | None = False) -> bool:
        """Ask a person on standard error."""
        with self.paused():
            return click.confirm(printable_lines(question), default=default, err=True)

    def notices(self, texts: Sequence[str]) -> None:
        """Show notices at the end of a run, wrapped at 100 columns."""
        if not texts or self.quiet:
            return
        if self.log_format == "json":
            for text in texts:
                self._json({"event": "Notice", "message": text})
            return
        self._write_line("\nCommodore notices:", bold=True)
        for text in texts:
            lines = textwrap.wrap(
                text,
                width=100,
                initial_indent=" > ",
                subsequent_indent="   ",
                break_long_words=False,
                break_on_hyphens=False,
            )
            self._write_line("\n".join(lines))

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Suspend the progress display while something else is printed or prompted."""
        with self._display.paused() if self._display is not None else contextlib.nullcontext():
            yield

    def status(self, text: str) -> None:
        """Say how the run went, unless quiet; to standard error, so that results stay alone on standard output."""
        if self.quiet:
            return
        if self.log_format == "json":
            self._json({"event": "Status", "message": text})
        else:
            self._write_line(self._wrapped(text), bold=True)

    @property
    def is_watched(self) -> bool:
        """True if progress is drawn now."""
        return self._display is not None

    @contextlib.contextmanager
    def working(self, *, keep: bool = True) -> Iterator[None]:
        """Show progress while stages run, if a person is looking. With `keep`, stages that have ended stay."""
        if self.quiet or self.log_format == "json" or not self.err.isatty():
            yield
            return
        from commodore.cli.shell.progress import Display

        with Display(self.err, keep=keep, color=self.color) as self._display:
            try:
                yield
            finally:
                self._display = None

    def _stage(self, event: StageStarted | StageAdvanced | StageFinished) -> None:
        """The stages where lines are read: that each begins, and how long it took; with `-v` what is done."""
        if self.quiet:
            return
        match event:
            case StageStarted(stage) if self._display is None:
                self._write_line(f"{capitalized(stage)} …")
            case StageAdvanced(_, item, seconds, source) if self.verbosity >= 1 and (seconds or source):
                how, took = f": {source}" if source else "", f" ({seconds:.2f} s)" if seconds else ""
                self._write_line(f"  {item}{how}{took}")
            case StageFinished(stage, seconds) if self._display is None:
                self._write_line(f"{capitalized(stage)}: {seconds:.1f} s")

    def _wave(self, event: WaveBegun | ClusterEnded | WaveEnded) -> None:
        """The clusters of a fleet: a line for each, or where a person is looking lines for failures only."""
        if isinstance(event, WaveBegun) and self._display is None and not self.quiet:
            clusters = counted(event.total, "cluster")
            self._write_line(f"{capitalized(f'wave {event.wave}')}: {clusters} …")
        if not isinstance(event, ClusterEnded):
            return
        failed = bool(event.code)
        if failed or (self._display is None and not self.quiet):
            text = (
                f"{event.cluster}: {event.state}, {event.detail}" if event.detail else f"{event.cluster}: {event.state}"
            )
            if failed:
                self._write_line(f"{text} [{event.code}]", **STYLES["error"])
            else:
                self._write_line(f"{text} ({event.seconds:.1f} s)")

    def _write_line(self, text: str, **style: Any) -> None:
        """Write text without colours of its own in those of `style`."""
        self._write_lines([_styled(text, "", style)])

    def _write_lines(self, lines: Sequence[str]) -> None:
        if self._display is not None:
            for line in lines:
                self._display.say(line)
        else:
            click.echo("\n".join(lines), file=self.err, color=self.color)

    def _wrapped(self, text: str) -> str:
        return fitted(text, self.err)

    def _json(self, record: dict[str, Any]) -> None:
        click.echo(json.dumps(record, sort_keys=True), file=self.err)


def console_of(ctx: click.Context) -> Console:
    """The console for a command, once all `-v` of its command line have been counted."""
    settings: Settings = ctx.find_root().obj
    verbosity = ctx.find_root().meta.get("verbosity", 0)
    return Console(verbosity=verbosity, quiet=settings["quiet"], log_format=settings["log_format"], color=ctx.color)


def color_by_default() -> bool | None:
    """Return the default for colours: False with NO_COLOR (see no-color.org), else True on a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def working_dir(ctx: click.Context) -> Path:
    """The working directory that the command line or the environment names."""
    folder: Path = ctx.find_root().obj["working_dir"]
    return folder


def paint(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Colour the lines of a diff given as (kind, text); click drops the colours without a terminal."""
    colours = {
        "header": "yellow",
        "hunk": "yellow",
        "add": "green",
        "remove": "red",
        "danger": "red",
        "caution": "yellow",
    }
    bold = ("danger", "caution")
    for kind, text in lines:
        shown = printable_lines(text)
        yield click.style(shown, fg=colours[kind], bold=kind in bold or None) if kind in colours else shown


def _unsteered(text: str) -> str:
    return without_commands(printable_lines(shortened(text)))


def _styled(text: str, label: str, style: Mapping[str, Any]) -> str:
    """Text without colours of its own: those of `style` are for the label that it begins with, or for all of it."""
    shown = _unsteered(text)
    return click.style(label or shown, **style) + (shown.removeprefix(label) if label else "") if style else shown


def fitted(text: str, stream: IO[str], indent: int = 4) -> str:
    """Text as a terminal shows it, broken between words; where no person is looking, one line stays one line.

    Args:
        text: lines without colours.
        stream: where they are written.
        indent: blanks before what a line goes on with.
    """
    if not stream.isatty():
        return text
    width = max(_NARROWEST, shutil.get_terminal_size().columns)
    return "\n".join(
        broken
        for line in shortened(text).split("\n")
        for broken in (_broken(line, width, indent) if cells(line) > width else [line])
    )


def _broken(line: str, width: int, indent: int) -> list[str]:
    return textwrap.wrap(line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
