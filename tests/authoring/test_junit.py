"""JUnit XML holds what came out, in the form that both common schemas ask for."""

from __future__ import annotations

from datetime import UTC, datetime
from xml.etree import ElementTree

from commodore.authoring import CaseResult, GoldenDifference, SuiteResult, as_junit
from commodore.base.diagnostics import Diagnostic
from commodore.base.errors import InputError
from commodore.core.review import DiffLine

STARTED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

CASES = (
    CaseResult("bad", "failed", 0.5, errors=(InputError("CMD-X-001", "no <good> \x1b", hint="do", locations=["a:1"]),)),
    CaseResult("fine", "ok", 1.25, findings=(Diagnostic("CMD-TEST-020", "twice", "warning"),)),
    CaseResult("other", "differs", 1, (GoldenDifference("changed", None, "a.yaml", (DiffLine("add", "+\0x"),)),)),
    CaseResult("strict", "failed", 1, findings=(Diagnostic("CMD-TEST-021", "nowhere", "warning"),)),
)


def test_the_document() -> None:
    root = ElementTree.fromstring(as_junit(SuiteResult("demo", CASES, True, 2.5), STARTED))
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    assert suite.attrib == {
        "package": "commodore",
        "id": "0",
        "name": "demo",
        "timestamp": "2026-01-02T03:04:05",
        "hostname": "localhost",
        "tests": "4",
        "failures": "2",
        "errors": "1",
        "time": "2.500",
    }
    # Ant's schema wants this order.
    assert [child.tag for child in suite] == ["properties", *["testcase"] * 4, "system-out", "system-err"]
    assert {case.get("classname") for case in suite.iter("testcase")} == {"demo"}
    outcomes = {
        case.get("name"): [(element.tag, element.get("type")) for element in case] for case in suite.iter("testcase")
    }
    assert outcomes == {
        "bad": [("error", "CMD-X-001")],
        "fine": [],
        "other": [("failure", "differs")],
        "strict": [("failure", "CMD-TEST-021")],
    }


def test_texts_are_told_without_what_xml_cannot_hold() -> None:
    root = ElementTree.fromstring(as_junit(SuiteResult("demo", CASES, True, 2.5), STARTED))
    assert [error.text for error in root.iter("error")] == ["CMD-X-001: no <good> \n  at a:1\n  hint: do"]
    assert [failure.text for failure in root.iter("failure")] == ["changed: a.yaml\n+x", "CMD-TEST-021: nowhere"]
    assert [output.text for output in root.iter("system-out")] == [
        "fine: CMD-TEST-020: twice\nstrict: CMD-TEST-021: nowhere"
    ]
