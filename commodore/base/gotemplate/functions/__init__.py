"""Sprig's functions by family, each family a table."""

from __future__ import annotations

from typing import Final

from commodore.base.gotemplate.functions import (
    data,
    dates,
    encodings,
    numbers,
    paths,
    patterns,
    refused,
    text,
    versions,
)
from commodore.base.gotemplate.signatures import Table

TABLES: Final[tuple[Table, ...]] = (
    text.TABLE,
    numbers.TABLE,
    data.TABLE,
    encodings.TABLE,
    paths.TABLE,
    patterns.TABLE,
    versions.TABLE,
    dates.TABLE,
    refused.TABLE,
)
