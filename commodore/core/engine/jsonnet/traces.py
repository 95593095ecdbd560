"""What Jsonnet files tell by `std.trace`, from the lines that the evaluators write."""

from __future__ import annotations

import re
from collections.abc import Iterable

from commodore.base.events import Traced

_BEGIN = re.compile(r"TRACE: (?:(?P<place>.*?:\d+) )?(?P<message>.*)")


def trace_events(instance: str, lines: Iterable[str]) -> list[Traced]:
    """The traces of an instance, in their order; a line that begins none belongs to the one before it."""
    found: list[Traced] = []
    for line in lines:
        begin = _BEGIN.fullmatch(line)
        if begin is not None or not found:
            place = begin["place"] or "" if begin is not None else ""
            found.append(Traced(instance, begin["message"] if begin is not None else line, place))
        else:
            last = found.pop()
            found.append(Traced(instance, f"{last.message}\n{line}", last.place))
    return found
