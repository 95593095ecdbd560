"""Durations of Go, read and written."""

from __future__ import annotations

import pytest

from commodore.base.values.units import canonical_go_duration, go_duration_text, parse_go_duration


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("90m", "1h30m0s"),
        ("1h", "1h0m0s"),
        ("60s", "1m0s"),
        ("1.5s", "1.5s"),
        ("1500ms", "1.5s"),
        ("250ms", "250ms"),
        ("1us", "1µs"),
        ("3ns", "3ns"),
        ("-90s", "-1m30s"),
        ("0", "0s"),
        ("1h30", None),
        ("soon", None),
        ("", None),
        (90, None),
    ],
)
def test_durations(written: object, canonical: str | None) -> None:
    assert canonical_go_duration(written) == canonical


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1.5us", 1500),
        ("1µs2ns", 1002),
        ("-0.5s", -500_000_000),
        (".5m", 30 * 10**9),
        ("2562047h", 2562047 * 3600 * 10**9),
        ("2562048h", None),
        ("9" * 5000 + "h", None),
        ("1" * 200_000, None),
        ("1.h2.5m", 3_600_000_000_000 + 150_000_000_000),
        ("1d", None),
        ("1", None),
        ("٣s", None),
    ],
)
def test_nanoseconds(text: str, nanoseconds: int | None) -> None:
    assert parse_go_duration(text) == nanoseconds
    if nanoseconds is not None:
        assert parse_go_duration(go_duration_text(nanoseconds)) == nanoseconds
