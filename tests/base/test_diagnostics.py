"""The collector of diagnostics: order, strictness, and what becomes of them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from commodore.base.diagnostics import EVERY, Diagnostic, Diagnostics, Rule, Subject
from commodore.base.documents import plain
from commodore.base.errors import Findings, InputError, Location, PolicyError
from commodore.base.events import Event, Noted, Warned
from commodore.base.sarif import sarif_log
from commodore.base.xml_report import Case, junit

NOTE = Diagnostic("CMD-FLT-042", "b", "info", "start it")


def test_they_stay_in_the_order_in_which_they_were_added_and_equal_ones_are_one() -> None:
    diagnostics = Diagnostics()
    diagnostics.add(NOTE, Warned("CMD-FLT-040", "z"), Warned("CMD-FLT-040", "a"), NOTE)
    assert [item.message for item in diagnostics.added()] == ["b", "z", "a"]
    assert [item.message for item in diagnostics.added("warning")] == ["z", "a"]
    assert [(item.message, item.count) for item in diagnostics.collected()] == [("a", 1), ("z", 1), ("b", 2)]


def test_strictness_is_of_the_codes_that_are_given_and_of_no_note() -> None:
    for strict, expected in (((), []), (("CMD-FLT-040",), ["a"]), (EVERY, ["a", "c"])):
        diagnostics = Diagnostics(strict)
        diagnostics.add(Warned("CMD-FLT-040", "a"), Warned("CMD-FLT-041", "c"), NOTE)
        errors = diagnostics.added("error")
        assert [error.message for error in errors] == expected
        assert all(error.escalated and error.family == "input" for error in errors)


def test_errors_are_raised_as_what_they_were() -> None:
    errors = [InputError("CMD-FLT-001", "b", hint="c", locations=[Location("f", 3)]), PolicyError("CMD-FLT-002", "a")]
    diagnostics = Diagnostics()
    diagnostics.add(NOTE)
    diagnostics.raise_errors()
    diagnostics.add(Findings(errors))
    with pytest.raises(Findings) as caught:
        diagnostics.raise_errors()
    assert [type(error) for error in caught.value.errors] == [InputError, PolicyError]
    assert [plain(error) for error in caught.value.errors] == [plain(error) for error in errors]


def test_warnings_are_announced_before_notes() -> None:
    diagnostics = Diagnostics()
    diagnostics.add(NOTE, Diagnostic("CMD-ARGO-319", "a", "warning", "h", subject=Subject("argocd/web")))
    events: list[Event] = []
    diagnostics.announce(events.append)
    warning = Warned("CMD-ARGO-319", "Application argocd/web: a", "h")
    assert events == [warning, Noted("note: b [CMD-FLT-042]; start it")]


def test_sarif_has_the_rules_that_were_applied_and_those_of_other_diagnostics(tmp_path: Path) -> None:
    diagnostics = [Diagnostic("z", "m", "boundary", "h", subject=Subject(object="o")), Diagnostic("a", "m", "error")]
    (run,) = json.loads(sarif_log(diagnostics, tmp_path, [Rule("z", "warning", "s")]))["runs"]
    assert [(item["id"], item["defaultConfiguration"]["level"]) for item in run["tool"]["driver"]["rules"]] == [
        ("z", "warning"),
        ("a", "error"),
    ]
    assert [(item["ruleIndex"], item["level"], item["message"]["text"]) for item in run["results"]] == [
        (0, "note", "m. h"),
        (1, "error", "m"),
    ]


def test_a_suite_may_be_called_like_a_number_of_cases() -> None:
    suite = ElementTree.fromstring(
        junit({"name": "tests", "tests": "", "failures": ""}, [Case({}), Case({}, "failure", "m")])
    )
    assert suite.attrib == {"name": "tests", "tests": "2", "failures": "1"}
