"""The option `--profile`: a trace of the run in a file, and the slowest instances on standard error."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from commodore.cli.console import Console, printable
from commodore.errors import EnvironmentFault, InputError
from commodore.events import Announce, Event, Noted, Warned

if TYPE_CHECKING:
    from commodore.profile import InstanceTime

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Profiled(Event):
    """For machines: the times of the slowest instances, and the file with the trace."""

    file: str
    instances: int
    slowest: tuple[InstanceTime, ...]


@contextmanager
def profiled(file: Path | None, title: str, console: Console) -> Iterator[Announce]:
    """Gives the listener for a run. With a file, what it hears is written there when the run is over, however it ends.

    Raises:
        InputError: the file cannot be there.
    """
    if file is None:
        yield console.announce
        return
    from commodore.profile import Profile

    _check(file)
    profile = Profile(title)

    def announce(event: Event) -> None:
        profile.announce(event)
        console.announce(event)

    try:
        yield announce
    finally:
        profile.end()
        _write(file, profile.trace(), console)
        _show(file, profile.instances(), console)


def _check(file: Path) -> None:
    """Rather now than after a long run."""
    folder = file.resolve().parent
    what = ""
    if file.exists() and not file.is_file():
        what = "it is a folder" if file.is_dir() else "it is no ordinary file"
    elif not folder.is_dir():
        what = f"there is no folder {folder}"
    if what:
        raise InputError(
            "CMD-CLI-062", f"the trace cannot be written to {file}: {what}", hint="name a file in a folder that exists"
        )


def _write(file: Path, trace: bytes, console: Console) -> None:
    from commodore.workspace import write_atomically

    try:
        write_atomically(file.resolve(), trace)
    except EnvironmentFault as error:  # the run itself counts for more than its trace
        console.announce(Warned("CMD-CLI-063", f"the trace was not written: {error.message}", hint=error.hint))


def _show(file: Path, instances: Sequence[InstanceTime], console: Console) -> None:
    slowest = tuple(instances[:_SHOWN])
    if console.log_format == "json":
        console.announce(Profiled(str(file), len(instances), slowest))
        return
    for line in _table(slowest, len(instances)):
        console.announce(Noted(line))
    console.announce(Noted(f"Trace: {file} (open it in https://ui.perfetto.dev or chrome://tracing)"))


def _table(slowest: Sequence[InstanceTime], count: int) -> Iterator[str]:
    if not slowest:
        return
    yield "Slowest instances, in seconds:" if count > len(slowest) else "Instances, in seconds:"
    yield "   total    fetch   render   filter  instance"
    named = Counter(one.instance for one in slowest)
    for one in slowest:
        times = " ".join(f"{seconds:8.2f}" for seconds in (one.total, one.fetch, one.render, one.filter))
        where = f" ({Path(one.place).name})" if named[one.instance] > 1 else ""
        yield f"{times}  {printable(one.instance)}{where}"
