"""Results of test cases as JUnit XML."""

from __future__ import annotations

from datetime import UTC, datetime

from commodore.authoring.testing import CaseResult, SuiteResult
from commodore.base.printable import counted
from commodore.base.xml_report import Case, junit


def as_junit(result: SuiteResult, started: datetime) -> bytes:
    """Return results as an XML document: a case that differs is a failure, a case that cannot be compared an error.

    Args:
        result: the results of the suite.
        started: the start of the run, with its time zone.
    """
    suite = {
        "package": "commodore",
        "id": "0",
        "name": result.name,
        "timestamp": started.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
        "hostname": "localhost",
        "tests": "",
        "failures": "",
        "errors": "",
        "time": f"{result.seconds:.3f}",
    }
    output = "\n".join(f"{case.name}: {line}" for case in result.cases for line in _findings(case))
    return junit(suite, [_case(case, result.name) for case in result.cases], output).encode()


def _case(case: CaseResult, name: str) -> Case:
    attributes = {"classname": name, "name": case.name, "time": f"{case.seconds:.3f}"}
    if case.status == "differs":
        lines = [
            line
            for difference in case.differences
            for line in (f"{difference.kind}: {difference}", *(diff.text for diff in difference.lines))
        ]
        message = f"{counted(len(case.differences), 'difference')} from the golden tree"
        return Case(attributes, "failure", message, "differs", "\n".join(lines))
    if _only_findings(case):
        findings = case.findings
        text = "\n".join(_findings(case))
        return Case(attributes, "failure", counted(len(findings), "finding"), findings[0].code, text)
    if case.status == "failed":
        lines = [
            line
            for error in case.errors
            for line in (str(error), *(f"  at {place}" for place in error.locations), f"  hint: {error.hint}")
        ]
        return Case(attributes, "error", case.errors[0].message, case.errors[0].code, "\n".join(lines))
    return Case(attributes)


def _only_findings(case: CaseResult) -> bool:
    return case.status == "failed" and not case.errors


def _findings(case: CaseResult) -> list[str]:
    return [f"{finding.code}: {finding.message}" for finding in case.findings]
