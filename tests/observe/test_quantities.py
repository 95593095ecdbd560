"""Times and durations as Kubernetes, Go and people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from commodore.observe import read_duration, read_time

TIME = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-01-02T03:04:05Z", TIME),
        (" 2026-01-02t03:04:05z ", TIME),
        ("2026-01-02T05:04:05+02:00", TIME),
        ("2026-01-01T22:04:05-05:00", TIME),
        ("2026-01-02T03:04:05", TIME),
        ("2026-01-02T03:04:05.123456789Z", TIME + timedelta(microseconds=123456)),
        ("2026-01-02", datetime(2026, 1, 2, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00+02:00", None),
        ("9999-12-31T23:59:59Z", None),
        ("2026-02-30T00:00:00Z", None),
        ("1767322800", None),
        ("now", None),
        ("", None),
    ],
)
def test_times(text: str, time: datetime | None) -> None:
    assert read_time(text) == time


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 30),
        (" 1.5 ", 1.5),
        ("0", 0),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("1h0m0s", 3600),
        ("500ms", 0.5),
        ("-1", None),
        ("1d", None),
        ("1h 30m", None),
        ("1e3", None),
        ("", None),
        ("9" * 400, None),
        ("99999999h", None),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert read_duration(text) == (None if seconds is None else timedelta(seconds=seconds))
