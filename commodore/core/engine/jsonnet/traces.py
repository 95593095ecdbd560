"""Parse the output of `std.trace` in Jsonnet files."""

from __future__ import annotations

import re
from collections.abc import Iterable

from commodore.base.events import Traced

_BEGIN = re.compile(r"TRACE: (?:(?P<place>.*?:\d+) )?(?P<message>.*)")


def trace_events(instance: str, lines: Iterable[str]) -> list[Traced]:
    """Return the traces of an instance in order; a line that does not begin a trace continues the previous one."""
    traces: list[Traced] = []
    for line in lines:
        begin = _BEGIN.fullmatch(line)
        if begin is not None or not traces:
            place = begin["place"] or "" if begin is not None else ""
            traces.append(Traced(instance, begin["message"] if begin is not None else line, place))
        else:
            last = traces.pop()
            traces.append(Traced(instance, f"{last.message}\n{line}", last.place))
    return traces
