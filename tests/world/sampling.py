"""A fixed handful of many like cases for every run, and all of them for `scripts/faults --tests`."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")

EXHAUSTIVE = os.environ.get("PYTEST_EXHAUSTIVE", "") == "1"
"""Read when a test module is loaded, before the variables of a test are cleaned."""


def sample(cases: Sequence[Case], count: int, *, seed: int = 1) -> list[Case]:
    """The first case, the last one and others between them, the same in every run and in their order.

    Args:
        cases: all of them; `scripts/faults --tests` runs all.
        count: the number of cases, at least 2.
        seed: chooses others.
    """
    if EXHAUSTIVE or count >= len(cases):
        return list(cases)
    between = random.Random(seed).sample(range(1, len(cases) - 1), count - 2)
    return [cases[place] for place in sorted({0, len(cases) - 1, *between})]
