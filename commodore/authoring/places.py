"""Errors and warnings about what lies in a throw-away folder, reported about the author's own files."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, Findings, Location
from commodore.base.events import Event, Noted, Traced, Warned

Copies = Sequence[tuple[Path, Path]]


@contextlib.contextmanager
def restored_places(folder: Path) -> Iterator[None]:
    """Let errors out with the places that are there when the folder has gone.

    Raises:
        CommodoreError: the one that was raised, as `restore_places` makes it.
    """
    try:
        yield
    except CommodoreError as error:
        raise restore_places(error, folder) from error


def restore_places(error: CommodoreError, folder: Path, copies: Copies = ()) -> CommodoreError:
    """The same error without paths into a folder that is about to be removed.

    A link of the hierarchy becomes the file that it leads to. What was fetched into the folder, and the author has not,
    gets its path in the folder, as `dependencies/c-one/class/c-one.yml`.

    Args:
        folder: without links in its path; it is still there.
        copies: where copies of the author's files lie in the folder, and where they lie themselves.
    """
    if isinstance(error, Findings):
        return Findings(restore_places(one, folder, copies) for one in error.errors)
    home = _Restorer(folder, copies)
    locations = [
        Location(home.path(one.place) if Path(one.place).is_relative_to(folder) else one.place, one.line, one.column)
        for one in error.locations
    ]
    return type(error)(error.code, home.text(error.message), hint=home.text(error.hint), locations=locations)


def with_restored_places(context: Context, folders: Sequence[Path], copies: Copies = ()) -> Context:
    """The same context, that announces warnings, notes and traces without paths into the folders (`restore_places`)."""
    homes = [_Restorer(folder, copies) for folder in folders]

    def home(text: str) -> str:
        for one in homes:
            text = one.text(text)
        return text

    def on_event(event: Event) -> None:
        match event:
            case Traced(_, _, place):
                event = replace(event, place=home(place))
            case Warned(_, message, hint):
                event = replace(event, message=home(message), hint=home(hint))
            case Noted(message):
                event = replace(event, message=home(message))
        context.announce(event)

    return context.with_announce(on_event)


class _Restorer:
    def __init__(self, folder: Path, copies: Copies) -> None:
        self._folder = folder
        self._copies = copies
        self._inside = re.compile(rf"(?<![^\s'\"`(=:,]){re.escape(str(folder))}/[^\s'\"`():,;]+")

    def path(self, path: str) -> str:
        place = Path(path).resolve()
        for copy, original in self._copies:
            if place.is_relative_to(copy):
                place = original / place.relative_to(copy)
        return str(place.relative_to(self._folder) if place.is_relative_to(self._folder) else place)

    def text(self, text: str) -> str:
        for copy, original in self._copies:  # without the pattern: the author's path may hold blanks
            text = text.replace(str(copy), str(original))
        return self._inside.sub(lambda match: self.path(match[0]), text)
