"""Amounts in one form."""

from __future__ import annotations

import pytest

from commodore.base.kubernetes.quantities import canonical_quantity


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
