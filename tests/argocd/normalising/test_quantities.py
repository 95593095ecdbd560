"""Amounts and durations in one form."""

from __future__ import annotations

import pytest

from commodore.argocd.normalising.quantities import canonical_duration, canonical_quantity


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("1000m", "1"),
        ("1024Mi", "1Gi"),
        ("0.5", "500m"),
        ("0.5Gi", "512Mi"),
        (2, "2"),
        (1.5, "1500m"),
        ("100", "100"),
        ("1000", "1k"),
        ("1500", "1500"),
        ("1e3", "1e3"),
        ("12e6", "12e6"),
        ("0", "0"),
        ("0Mi", "0"),
        ("1Ki", "1Ki"),
        ("512", "512"),
        ("0.5Ki", "512"),
        ("1n", "1n"),
        ("0.1n", "1n"),
        ("-1500m", "-1500m"),
        (".5", "500m"),
        ("1.", "1"),
        ("five", None),
        ("1 Gi", None),
        ("1K", None),
        (True, None),
        (None, None),
        ("9" * 200, None),
        ("1e999999999", None),
    ],
)
def test_amounts(written: object, canonical: str | None) -> None:
    assert canonical_quantity(written) == canonical


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
    assert canonical_duration(written) == canonical
