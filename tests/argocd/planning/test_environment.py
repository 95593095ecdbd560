"""Variables of the build environment in fields."""

from __future__ import annotations

import pytest

from commodore.argocd.planning import BuildEnvironment


@pytest.mark.parametrize(
    ("text", "expected", "unknown"),
    [
        ("$A-${A}", "1-1", []),
        ("$$A $$", "$A $", []),
        ("$NOPE.${NOPE}", ".", ["NOPE", "NOPE"]),
        ("$A_B", "", ["A_B"]),
        ("$1 $* ${?}", "  ", ["1", "*", "?"]),
        ("$ $, $", "$ $, $", []),
        ("a$", "a$", []),
        ("${}x", "x", []),
        ("plain", "plain", []),
    ],
)
def test_substitution(text: str, expected: str, unknown: list[str]) -> None:
    collected: list[str] = []
    assert BuildEnvironment({"A": "1"}, collected.append).substitute(text) == expected
    assert collected == unknown
