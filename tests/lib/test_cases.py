"""Both libraries on the expressions of the case files: results, edge cases and checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.lib.cases import FAILS, Case, read_cases
from tests.lib.evaluation import in_compile, in_filter


def deviation(case: Case, evaluate: Callable[[str], Any]) -> str:
    """The difference of the evaluation of `case` from its expectation; empty if they are equal."""
    try:
        result = evaluate(case.expression)
    except RuntimeError as error:
        if case.result is not FAILS:
            return f"{case.expression}: {error}"
        return "" if case.error in str(error) else f"{case.expression}: expected {case.error!r}, not {error}"
    if case.result is FAILS:
        return f"{case.expression}: expected an error, not {result}"
    return "" if result == case.result else f"{case.expression}: expected {case.result}, not {result}"


@pytest.mark.parametrize(
    ("name", "evaluate"),
    [
        pytest.param("commodore", in_compile, id="C58-commodore-in-compile"),
        pytest.param("commodore", in_filter, id="C58-commodore-in-filters"),
        pytest.param("kube", in_compile, id="kube"),
    ],
)
def test_cases(name: str, evaluate: Callable[[str], Any]) -> None:
    cases = read_cases(name)
    assert len(cases) > 50
    assert [result for case in cases if (result := deviation(case, evaluate))] == []
