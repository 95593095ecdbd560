"""The option `--profile`: a trace of the run in a file, and the slowest instances on standard error."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.events import Announce, Event, Noted, Warned
from commodore.base.printable import printable_lines
from commodore.cli.shell.console import Console

if TYPE_CHECKING:
    from commodore.cli.shell.stage_profile import InstanceTime, Profile

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Profiled(Event):
    """For machines: the file with the trace, how many instances were compiled or reused, the slowest of them."""

    file: str
    instances: int
    reused: int
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
    from commodore.cli.shell.stage_profile import Profile

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
        _show(file, profile, console)


def _check(file: Path) -> None:
    """Rather now than after a long run."""
    what = ""
    try:
        folder = file.resolve().parent
        if file.exists() and not file.is_file():
            what = "it is a folder" if file.is_dir() else "it is not a regular file"
        elif not folder.is_dir():
            what = f"there is no folder {folder}"
    except OSError as error:  # names that are too long
        what = str(error.strerror)
    if what:
        raise InputError(
            "CMD-CLI-062", f"the trace cannot be written to {file}: {what}", hint="name a file in a folder that exists"
        )


def _write(file: Path, trace: bytes, console: Console) -> None:
    from commodore.base.files.workspace import write_atomically

    try:
        write_atomically(file.resolve(), trace)
    except EnvironmentFault as error:  # the run itself counts for more than its trace
        console.announce(Warned("CMD-CLI-063", f"the trace was not written: {error.message}", hint=error.hint))


def _show(file: Path, profile: Profile, console: Console) -> None:
    instances, reused = profile.instances(), profile.reused()
    if console.log_format == "json":
        console.announce(Profiled(str(file), len(instances), reused, instances[:_SHOWN]))
        return
    for line in _table(instances):
        console.announce(Noted(line))
    if reused:
        taken = "1 instance was" if reused == 1 else f"{reused} instances were"
        console.announce(Noted(f"{taken} taken from earlier runs, without being compiled"))
    console.announce(Noted(f"Trace: {file} (open it in https://ui.perfetto.dev or chrome://tracing)"))


def _table(instances: Sequence[InstanceTime]) -> Iterator[str]:
    if not instances:
        return
    yield "Slowest instances, in seconds:" if len(instances) > _SHOWN else "Instances, in seconds:"
    yield "   total    fetch   render   filter  instance"
    for instance in instances[:_SHOWN]:
        times = " ".join(
            f"{seconds:8.2f}" for seconds in (instance.total, instance.fetch, instance.render, instance.filter)
        )
        yield f"{times}  {printable_lines(instance.instance)}{_distinction(instance, instances)}"


def _distinction(time: InstanceTime, instances: Sequence[InstanceTime]) -> str:
    """Return the distinction of instances with the same name: the part of their places that differs, a test case."""
    places = [other.place for other in instances if other.instance == time.instance]
    if len(places) == 1:
        return ""
    parts = Path(time.place).relative_to(os.path.commonpath(places)).parts
    return f" ({parts[0]})" if parts else ""  # none: it was compiled again
