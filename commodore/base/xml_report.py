"""Test results as JUnit XML, which CI systems read; well-formed whatever the texts in them are."""

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
        attributes: its name, the name of its class, and more.
        outcome: `error` if it cannot be judged.
        type: the code of what went wrong; empty to leave it out.
    """

    attributes: Mapping[str, str]
    outcome: Literal["passed", "failure", "error", "skipped"] = "passed"
    message: str = ""
    type: str = ""
    text: str = ""


def junit(attributes: Mapping[str, str], cases: Sequence[Case], output: str | None = None) -> str:
    """One suite of test cases as an indented document with a declaration and a last newline.

    Texts and attributes are printable, so they have no code points that XML 1.0 has no form for.

    Args:
        attributes: of the suite; the values of `tests`, `failures`, `errors` and `skipped` are counted here.
        output: what the cases wrote. With it the form follows both schemas in common use, that of Ant's JUnit task and
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
