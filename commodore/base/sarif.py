"""SARIF 2.1.0 logs, as code scanning of forges takes them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote

from commodore.base.printable import printable, printable_lines
from commodore.version import __version__

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What findings are of.

    Attributes:
        summary: what it is, in a sentence; empty to say nothing.
    """

    id: str
    level: Level
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """One finding.

    Attributes:
        rule: the id of its rule.
        file: its path, relative to the root of the repository, or absolute; empty if it is in none.
        logical: what it is about within the file, such as an object; empty for nothing.
        kind: what the logical place is, in words of SARIF.
    """

    rule: str
    level: Level
    message: str
    file: str = ""
    line: int | None = None
    column: int | None = None
    logical: str = ""
    kind: str = "member"


def sarif_log(rules: Iterable[Rule], results: Iterable[Result], root: Path) -> str:
    """A log with one run. Every rule of a result is among the rules.

    Args:
        root: the root of the repository, to which files below it are made relative.
    """
    known = list(rules)
    numbers = {one.id: number for number, one in enumerate(known)}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "commodore", "version": __version__, "rules": list(map(_rule, known))}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, numbers[one.rule], root) for one in results],
            }
        ],
    }
    return json.dumps(log, indent=2, sort_keys=True)


def _rule(one: Rule) -> dict[str, Any]:
    summary = {"shortDescription": {"text": one.summary}} if one.summary else {}
    return {"id": one.id, **summary, "defaultConfiguration": {"level": one.level}}


def _result(one: Result, rule: int, root: Path) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if one.file:
        region = {"startLine": one.line, "startColumn": one.column}
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(one.file, root)}}
        if one.line:
            location["physicalLocation"]["region"] = {key: value for key, value in region.items() if value}
    if one.logical:
        location["logicalLocations"] = [{"fullyQualifiedName": printable(one.logical), "kind": one.kind}]
    return {
        "ruleId": one.rule,
        "ruleIndex": rule,
        "level": one.level,
        "message": {"text": printable_lines(one.message)},
        "locations": [location] if location else [],
    }


def _uri(file: str, root: Path) -> str:
    path = root.absolute() / file
    if path.is_relative_to(root.absolute()) and ".." not in path.parts:
        return quote(os.fsencode(path.relative_to(root.absolute())))
    return f"file://{quote(os.fsencode(path))}"
