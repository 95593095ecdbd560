"""Test results as JUnit XML, which CI systems read.

The form follows both schemas in common use, that of Ant's JUnit task and the more lenient one of Jenkins.
"""

from __future__ import annotations

from datetime import UTC, datetime
from xml.etree import ElementTree

from commodore.authoring.testing import CaseResult, SuiteResult
from commodore.base.printable import counted
from commodore.base.xml_report import as_xml


def as_junit(result: SuiteResult, started: datetime) -> bytes:
    """The results as an XML document: a case that differs is a failure, one that cannot be judged an error.

    Args:
        result: what came out.
        started: when the run began, with its time zone.
    """
    failures = sum(case.status == "differs" or _only_findings(case) for case in result.cases)
    errors = sum(case.status == "failed" and not _only_findings(case) for case in result.cases)
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(
        suites,
        "testsuite",
        {
            "package": "commodore",
            "id": "0",
            "name": result.name,
            "timestamp": started.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
            "hostname": "localhost",
            "tests": str(len(result.cases)),
            "failures": str(failures),
            "errors": str(errors),
            "time": f"{result.seconds:.3f}",
        },
    )
    ElementTree.SubElement(suite, "properties")
    for case in result.cases:
        _add(suite, case, result.name)
    output = ElementTree.SubElement(suite, "system-out")
    output.text = "\n".join(f"{case.name}: {line}" for case in result.cases for line in _findings(case))
    ElementTree.SubElement(suite, "system-err")
    return as_xml(suites).encode()


def _add(suite: ElementTree.Element, case: CaseResult, name: str) -> None:
    attributes = {"classname": name, "name": case.name, "time": f"{case.seconds:.3f}"}
    element = ElementTree.SubElement(suite, "testcase", attributes)
    if case.status == "differs":
        lines = [line for one in case.differences for line in (f"{one.kind}: {one}", *(at.text for at in one.lines))]
        told = counted(len(case.differences), "difference")
        _add_message(element, "failure", f"{told} from the golden tree", "differs", lines)
    elif _only_findings(case):
        _add_message(element, "failure", counted(len(case.findings), "finding"), case.findings[0].code, _findings(case))
    elif case.status == "failed":
        lines = [
            line
            for error in case.errors
            for line in (str(error), *(f"  at {place}" for place in error.locations), f"  hint: {error.hint}")
        ]
        first = case.errors[0]
        _add_message(element, "error", first.message, first.code, lines)


def _only_findings(case: CaseResult) -> bool:
    return case.status == "failed" and not case.errors


def _findings(case: CaseResult) -> list[str]:
    return [f"{one.code}: {one.message}" for one in case.findings]


def _add_message(element: ElementTree.Element, tag: str, message: str, kind: str, lines: list[str]) -> None:
    child = ElementTree.SubElement(element, tag, {"message": message, "type": kind})
    child.text = "\n".join(lines)
