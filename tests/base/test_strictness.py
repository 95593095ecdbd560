"""Errors that can be lowered to warnings: which, by whom, and what is reported then."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.base.errors import EnvironmentFault, Findings, InputError, UsageError
from commodore.base.events import Event, Warned
from commodore.base.strictness import LOWERABLE, check_allowed, read_allowed
from commodore.cli.inventory.settings import LINTERS
from commodore.cli.shell.error_pages import find_error_page
from tests.world.context import make_context

CODE = "CMD-ENG-041"


def test_no_code_that_guards_something_can_be_lowered() -> None:
    """A policy error is refused for safety."""
    assert {find_error_page(code).family for code in LOWERABLE} <= {"input", "environment", "warning"}
    assert all(value.code == code and value.effect and value.repair for code, value in LOWERABLE.items())
    assert {item.linter for item in LOWERABLE.values()} <= {"", *LINTERS}


def test_codes_of_the_option() -> None:
    assert check_allowed([]) == frozenset()
    assert check_allowed(["cmd-eng-041 ", "CMD-CAT-001"]) == {CODE, "CMD-CAT-001"}
    with pytest.raises(UsageError, match="--allow cannot lower 'CMD-ENG-042'") as caught:
        check_allowed([CODE, "CMD-ENG-042"])
    assert CODE in caught.value.hint


@pytest.mark.parametrize("parameters", [{}, {"commodore": None}, {"commodore": {"allow": None}}, {"commodore": []}])
def test_a_hierarchy_without_codes(parameters: dict[str, Any]) -> None:
    assert read_allowed(parameters) == frozenset()


def test_codes_of_the_hierarchy() -> None:
    assert read_allowed({"commodore": {"allow": [CODE]}}) == {CODE}
    for wrong in ("CMD-ENG-041", [1], {"a": 1}, ["CMD-CAT-002"]):
        with pytest.raises(InputError, match=r"parameters\.commodore\.allow") as caught:
            read_allowed({"commodore": {"allow": wrong}})
        assert caught.value.code == "CMD-DEP-053"


def test_an_error_names_the_option() -> None:
    collected: list[Event] = []
    with pytest.raises(InputError) as caught:
        make_context(collected.append).problem(InputError(CODE, "it is wrong", hint="mend it"))
    assert caught.value.hint == "mend it; --allow CMD-ENG-041 makes it a warning"
    assert collected == []


def test_an_error_that_cannot_be_lowered_names_no_option() -> None:
    with pytest.raises(InputError) as caught:
        make_context(allowed=LOWERABLE).problem(InputError("CMD-ENG-040", "it is wrong", hint="mend it"))
    assert caught.value.hint == "mend it"


def test_what_is_allowed_is_a_warning_and_the_rest_stays_an_error() -> None:
    collected: list[Event] = []
    context = make_context(collected.append).allowing([CODE])
    both = Findings([InputError(CODE, "a filter"), EnvironmentFault("CMD-TOOL-025", "a tool")])
    (left,) = context.problems([both])
    assert left.code == "CMD-TOOL-025"
    assert collected == [Warned(CODE, "a filter", "allowed: the filter is skipped")]
