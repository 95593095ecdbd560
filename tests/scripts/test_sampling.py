"""Runs take the same handful of many like cases; `scripts/faults --tests` takes all of them."""

from __future__ import annotations

import pytest

from tests.world import sampling
from tests.world.sampling import sample


def test_a_sample_is_the_same_each_time_and_keeps_both_ends() -> None:
    cases = list(range(30))
    assert sample(cases, 6) == sample(cases, 6)
    assert len(sample(cases, 6)) == 6
    assert sample(cases, 6)[0] == 0
    assert sample(cases, 6)[-1] == 29
    assert sample(cases, 6) == sorted(sample(cases, 6))
    assert sample(cases, 6, seed=2) != sample(cases, 6)


def test_few_cases_are_all_of_them() -> None:
    assert sample([1, 2], 2) == sample([1, 2], 5) == [1, 2]


def test_all_cases_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "EXHAUSTIVE", True)
    assert sample(range(30), 6) == list(range(30))
