"""Lines of `std.trace` as events."""

from __future__ import annotations

from commodore.base.events import Traced
from commodore.core.engine.jsonnet.traces import trace_events


def test_each_trace_has_its_place_and_all_its_lines() -> None:
    lines = ["TRACE: a/b c.jsonnet:12 deprecated: 3:4 is old", "use b", "", "TRACE: x:1 ", "TRACE: plain"]
    assert trace_events("app", lines) == [
        Traced("app", "deprecated: 3:4 is old\nuse b\n", "a/b c.jsonnet:12"),
        Traced("app", "", "x:1"),
        Traced("app", "plain"),
    ]


def test_other_lines_are_told_too() -> None:
    assert trace_events("app", ["noise", "more"]) == [Traced("app", "noise\nmore")]
