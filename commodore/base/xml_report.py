"""Test results as JUnit XML for CI systems; well-formed for any text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from commodore.base.printable import printable, printable_lines


@dataclass(frozen=True, slots=True)
class Case:
    """A test case.

    Attributes:
        attributes: its name, class name, and further attributes.
        outcome: `error` if it could not be run.
        type: the failure's code; empty to leave it out.
    """

    attributes: Mapping[str, str]
    outcome: Literal["passed", "failure", "error", "skipped"] = "passed"
    message: str = ""
    type: str = ""
    text: str = ""


def junit(attributes: Mapping[str, str], cases: Sequence[Case], output: str | None = None) -> str:
    """Return a test suite as an indented document with a declaration and a final newline.

    Texts and attributes must be printable, without code points that XML 1.0 cannot represent.

    Args:
        attributes: attributes of the suite; `tests`, `failures`, `errors` and `skipped` are counted.
        output: the output of the cases. With it the document is valid for both common schemas, of Ant's JUnit task and
            the more lenient one of Jenkins.
    """
    words = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {name: str(sum(case.outcome == word for case in cases)) for name, word in words.items()}
    counts["tests"] = str(len(cases))
    suite = ElementTree.Element("testsuite", {name: counts.get(name, value) for name, value in attributes.items()})
    root = suite
    if output is not None:
        root = ElementTree.Element("testsuites")
        root.append(suite)
        ElementTree.SubElement(suite, "properties")
    for case in cases:
        element = ElementTree.SubElement(suite, "testcase", dict(case.attributes))
        if case.outcome != "passed":
            kind = {"type": case.type} if case.type else {}
            ElementTree.SubElement(element, case.outcome, {"message": case.message, **kind}).text = case.text
    if output is not None:
        ElementTree.SubElement(suite, "system-out").text = output
        ElementTree.SubElement(suite, "system-err")
    return _as_xml(root)


def _as_xml(root: ElementTree.Element) -> str:
    for element in root.iter():
        element.text = printable_lines(element.text or "") or None
        element.attrib = {name: printable(value) for name, value in element.attrib.items()}
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'
