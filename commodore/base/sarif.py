"""SARIF 2.1.0 logs, as code scanning of forges takes them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from commodore.base.diagnostics import Diagnostic, Rule, Severity
from commodore.base.printable import printable, printable_lines
from commodore.version import __version__

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "boundary": "note", "info": "note"}


def sarif_log(found: Iterable[Diagnostic], root: Path, rules: Iterable[Rule] = (), *, kind: str = "object") -> str:
    """A log with one run: each diagnostic at its first place.

    Args:
        root: the root of the repository, to which files below it are made relative.
        rules: those that were applied; codes of diagnostics that are not among them are added in the order of names.
        kind: of what diagnostics are about within a file, in words of SARIF.
    """
    results = list(found)
    known = {one.id: one for one in rules}
    known |= {one.code: Rule(one.code, one.severity) for one in sorted(results, key=_code) if one.code not in known}
    numbers = {name: number for number, name in enumerate(known)}
    driver = {"name": "commodore", "version": __version__, "rules": list(map(_rule, known.values()))}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(one, numbers[one.code], root, kind) for one in results],
            }
        ],
    }
    return json.dumps(log, indent=2, sort_keys=True)


def _code(one: Diagnostic) -> str:
    return one.code


def _rule(one: Rule) -> dict[str, Any]:
    summary = {"shortDescription": {"text": one.summary}} if one.summary else {}
    return {"id": one.id, **summary, "defaultConfiguration": {"level": _LEVELS[one.severity]}}


def _result(one: Diagnostic, rule: int, root: Path, kind: str) -> dict[str, Any]:
    location: dict[str, Any] = {}
    place = one.locations[0] if one.locations else None
    if place is not None and place.place:
        region = {"startLine": place.line, "startColumn": place.column}
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(place.place, root)}}
        if place.line:
            location["physicalLocation"]["region"] = {key: value for key, value in region.items() if value}
    if logical := str(one.subject.object) or one.subject.name:
        location["logicalLocations"] = [{"fullyQualifiedName": printable(logical), "kind": kind}]
    return {
        "ruleId": one.code,
        "ruleIndex": rule,
        "level": _LEVELS[one.severity],
        "message": {"text": printable_lines(f"{one.message}. {one.hint}" if one.hint else one.message)},
        "locations": [location] if location else [],
    }


def _uri(file: str, root: Path) -> str:
    path = root.absolute() / file
    if path.is_relative_to(root.absolute()) and ".." not in path.parts:
        return quote(os.fsencode(path.relative_to(root.absolute())))
    return f"file://{quote(os.fsencode(path))}"
