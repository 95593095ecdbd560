"""SARIF 2.1.0 logs, for code scanning."""

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


def sarif_log(
    diagnostics: Iterable[Diagnostic], root: Path, rules: Iterable[Rule] = (), *, kind: str = "object"
) -> str:
    """Return a log with one run: each diagnostic at its first place.

    Args:
        root: the root of the repository, to which the files in it are relative.
        rules: the applied rules; other codes of diagnostics are added in the order of names.
        kind: the kind of the diagnostics' logical locations in SARIF.
    """
    results = list(diagnostics)
    known = {rule.id: rule for rule in rules}
    known |= {
        result.code: Rule(result.code, result.severity)
        for result in sorted(results, key=_code)
        if result.code not in known
    }
    numbers = {name: number for number, name in enumerate(known)}
    driver = {"name": "commodore", "version": __version__, "rules": list(map(_rule, known.values()))}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(result, numbers[result.code], root, kind) for result in results],
            }
        ],
    }
    return json.dumps(log, indent=2, sort_keys=True)


def _code(diagnostic: Diagnostic) -> str:
    return diagnostic.code


def _rule(applied: Rule) -> dict[str, Any]:
    summary = {"shortDescription": {"text": applied.summary}} if applied.summary else {}
    return {"id": applied.id, **summary, "defaultConfiguration": {"level": _LEVELS[applied.severity]}}


def _result(diagnostic: Diagnostic, rule: int, root: Path, kind: str) -> dict[str, Any]:
    location: dict[str, Any] = {}
    place = diagnostic.locations[0] if diagnostic.locations else None
    if place is not None and place.place:
        region = {"startLine": place.line, "startColumn": place.column}
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(place.place, root)}}
        if place.line:
            location["physicalLocation"]["region"] = {key: value for key, value in region.items() if value}
    if logical := str(diagnostic.subject.object) or diagnostic.subject.name:
        location["logicalLocations"] = [{"fullyQualifiedName": printable(logical), "kind": kind}]
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _LEVELS[diagnostic.severity],
        "message": {
            "text": printable_lines(
                f"{diagnostic.message}. {diagnostic.hint}" if diagnostic.hint else diagnostic.message
            )
        },
        "locations": [location] if location else [],
    }


def _uri(file: str, root: Path) -> str:
    path = root.absolute() / file
    if path.is_relative_to(root.absolute()) and ".." not in path.parts:
        return quote(os.fsencode(path.relative_to(root.absolute())))
    return f"file://{quote(os.fsencode(path))}"
