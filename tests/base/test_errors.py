"""The error tree: what errors carry, how several become one, and that they survive a process border."""

from __future__ import annotations

import pickle

import pytest

from commodore.base.documents import plain
from commodore.base.errors import (
    CommodoreError,
    EnvironmentFault,
    Findings,
    InputError,
    InternalError,
    Location,
    NotReady,
    PolicyError,
    UsageError,
    did_you_mean,
    raise_all,
)


@pytest.mark.parametrize(
    ("kind", "exit_code", "family"),
    [
        (InputError, 1, "input"),
        (UsageError, 2, "usage"),
        (EnvironmentFault, 3, "environment"),
        (PolicyError, 4, "policy"),
        (NotReady, 5, "waiting"),
        (InternalError, 70, "internal"),
    ],
)
def test_families(kind: type[CommodoreError], exit_code: int, family: str) -> None:
    error = kind("CMD-X-001", "it broke", hint="mend it", locations=["a.yml", Location("b.yml", 3, 4)])
    assert (error.exit_code, error.family) == (exit_code, family)
    assert str(error) == "CMD-X-001: it broke"
    assert [str(location) for location in error.locations] == ["a.yml", "b.yml:3:4"]
    assert plain(error) == {
        "code": "CMD-X-001",
        "family": family,
        "message": "it broke",
        "hint": "mend it",
        "locations": [
            {"place": "a.yml", "line": None, "column": None},
            {"place": "b.yml", "line": 3, "column": 4},
        ],
    }


def test_a_column_without_a_line_is_not_shown() -> None:
    assert str(Location("a", None, 4)) == "a"
    assert str(Location("a", 2)) == "a:2"


def test_errors_cross_process_borders() -> None:
    error = pickle.loads(pickle.dumps(PolicyError("CMD-X-001", "no", hint="h", locations=[Location("p", 1)])))
    assert type(error) is PolicyError
    assert (error.code, error.message, error.hint, error.locations) == ("CMD-X-001", "no", "h", (Location("p", 1),))
    many = pickle.loads(pickle.dumps(Findings([error, InputError("CMD-X-002", "other")])))
    assert type(many) is Findings
    assert [item.code for item in many.errors] == ["CMD-X-001", "CMD-X-002"]
    assert many.exit_code == 4


def test_several_errors_are_raised_together() -> None:
    raise_all([])
    item = InputError("CMD-X-001", "one")
    with pytest.raises(InputError) as alone:
        raise_all([item])
    assert alone.value is item
    inner = Findings([InputError("CMD-X-002", "two"), EnvironmentFault("CMD-X-003", "three")])
    with pytest.raises(Findings) as together:
        raise_all([item, inner])
    assert [error.code for error in together.value.errors] == ["CMD-X-001", "CMD-X-002", "CMD-X-003"]
    assert together.value.exit_code == 3
    assert together.value.message == "one; two; three"


def test_equal_errors_are_raised_once() -> None:
    error = InputError("CMD-X-001", "one", locations=["a"])
    with pytest.raises(InputError) as alone:
        raise_all([error, InputError("CMD-X-001", "one", locations=["a"])])
    assert alone.value is error
    with pytest.raises(Findings) as both:
        raise_all([error, InputError("CMD-X-001", "one", locations=["b"])])
    assert len(both.value.errors) == 2


def test_findings_without_errors_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="without errors"):
        Findings([])


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("cert-manger", ["cert-manager", "vault"], "did you mean 'cert-manager'?"),
        ("nothing", ["cert-manager"], ""),
        ("x", [], ""),
        ("aab", ["aac", "aad"], "did you mean 'aad' or 'aac'?"),
    ],
)
def test_suggestions(name: str, known: list[str], hint: str) -> None:
    assert did_you_mean(name, known) == hint
    assert did_you_mean(name, reversed(known)) == hint  # whatever the order
