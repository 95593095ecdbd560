"""Map errors and warnings about files in temporary folders to the author's own files."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, Findings
from commodore.base.events import Event, Noted, Traced, Warned

Copies = Sequence[tuple[Path, Path]]


@contextlib.contextmanager
def restored_places(folder: Path) -> Iterator[None]:
    """Raise errors of the block with locations that are valid after the folder was removed.

    Raises:
        CommodoreError: the error of the block, converted by `restore_places`.
    """
    try:
        yield
    except CommodoreError as error:
        raise restore_places(error, folder) from error


def restore_places(error: CommodoreError, folder: Path, copies: Copies = ()) -> CommodoreError:
    """Return the error without paths into a folder that is about to be removed.

    A link of the hierarchy becomes its target. Files that were fetched into the folder, and that the author does not
    have, get their path in the folder, like `dependencies/c-one/class/c-one.yml`.

    Args:
        folder: the folder, without links in its path; it still exists.
        copies: paths of copies in the folder, with the paths of the author's files.
    """
    if isinstance(error, Findings):
        return Findings(restore_places(cause, folder, copies) for cause in error.errors)
    home = _Restorer(folder, copies)
    locations = [
        replace(location, place=home.path(location.place)) if Path(location.place).is_relative_to(folder) else location
        for location in error.locations
    ]
    return type(error)(error.code, home.text(error.message), hint=home.text(error.hint), locations=locations)


def with_restored_places(context: Context, folders: Sequence[Path], copies: Copies = ()) -> Context:
    """Return a context that announces warnings, notes and traces without paths into the folders (`restore_places`)."""
    homes = [_Restorer(folder, copies) for folder in folders]

    def home(text: str) -> str:
        for restorer in homes:
            text = restorer.text(text)
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
        for copy, original in self._copies:  # without the pattern: the author's path may contain blanks
            text = text.replace(str(copy), str(original))
        return self._inside.sub(lambda match: self.path(match[0]), text)
