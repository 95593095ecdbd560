"""Reports for machines."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from commodore.base.diagnostics import Diagnostic
from commodore.base.documents import document_text
from commodore.base.errors import Location
from commodore.core.inventory.lint import LintRequest, Report, as_github, as_sarif, lint
from commodore.version import __version__
from tests.core.inventory.lint.world import run
from tests.world.context import make_context
from tests.world.documents import check_documents
from tests.world.folders import write_files

jsonschema: Any = importlib.import_module("jsonschema")  # comes with Kapitan, without types

FILES = {
    "a,b:c%.yml": "parameters:\n  packages:\n    x: {}\n  components:\n    y: {version: 3}\n",
    "sub dir/ü.yml": "applications:\n- ~gone\nparameters: {}\n",
    "bad.yml": "a: {",
    "README.md": "text",
}

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
POSITIVE = {"type": "integer", "minimum": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def strict(**properties: Any) -> dict[str, Any]:
    """An object with all of these properties and no others; `_x` need not be there."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name for name in properties if not name.startswith("_")],
        "properties": {name.removeprefix("_"): schema for name, schema in properties.items()},
    }


def many(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": schema}


# The part of the SARIF 2.1.0 schema that is used, with what code scanning asks for on top.
PLACE = strict(
    physicalLocation=strict(
        artifactLocation=strict(uri={"type": "string", "pattern": "^[A-Za-z0-9._~%/:-]+$"}),
        region=strict(startLine=POSITIVE, startColumn=POSITIVE),
    ),
    _logicalLocations=many(strict(fullyQualifiedName={"type": "string"}, kind={"type": "string"})),
)
RESULT = strict(
    ruleId={"type": "string"}, ruleIndex={"type": "integer"}, level=LEVEL, message=TEXT, locations=many(PLACE)
)
RULE = strict(id={"type": "string"}, shortDescription=TEXT, defaultConfiguration=strict(level=LEVEL))
DRIVER = strict(name={"type": "string"}, version={"type": "string"}, rules={**many(RULE), "uniqueItems": True})
SARIF = strict(
    **{"$schema": {"type": "string", "format": "uri"}},
    version={"const": "2.1.0"},
    runs=many(
        strict(
            tool=strict(driver=DRIVER),
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            results=many(RESULT),
        )
    ),
)


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.chdir(write_files(tmp_path, FILES))
    return lint(LintRequest((Path(),), ("all",)), make_context(announce=lambda _: None))


def test_counts(report: Report) -> None:
    assert (report.errors, report.warnings, report.files) == (3, 1, 3)
    assert [skipped.file for skipped in report.skipped] == ["README.md"]


def test_json(report: Report) -> None:
    document = json.loads(document_text("inventory-lint", report))
    check_documents(json.dumps(document))
    assert {key: value for key, value in document.items() if key not in ("findings", "linters")} == {
        "errors": 3,
        "files": 3,
        "skipped": [{"file": "README.md", "reason": "it is neither YAML nor JSON by its extension"}],
        "schema": "inventory-lint",
        "version": 1,
        "warnings": 1,
    }
    assert document["findings"][0] == {
        "column": 5,
        "file": "a,b:c%.yml",
        "hint": "",
        "line": 3,
        "linter": "packages",
        "message": "package 'x' has no `version`",
        "parameter": "parameters.packages.x",
        "rule": "missing-version",
        "severity": "error",
    }
    assert document["linters"] == list(report.linters)


def test_github(report: Report) -> None:
    """Properties and data are escaped as GitHub asks for, so that nothing in them is a command."""
    lines = list(as_github(report))
    assert lines[0] == (
        "::error file=a%2Cb%3Ac%25.yml,line=3,col=5,title=packages/missing-version::package 'x' has no `version`"
    )
    assert lines[1].endswith("a number%0Awrite it in quotes: '3'")
    assert lines[-1].startswith("::warning file=sub dir/ü.yml,line=2,col=3,title=removals/removal-of-nothing::")
    message, place = "a\r\n::error::%0A\x1b[31m", Location("f\n.yml", 1, 1)
    nasty = Diagnostic("l/r", message, "error", "b\n::x", locations=(place,))
    (line,) = as_github(Report((nasty,), 1, (), (), {}))
    assert line == "::error file=f%0A.yml,line=1,col=1,title=l/r::a%0A::error::%250A[31m%0Ab%0A::x"


def test_sarif(report: Report) -> None:
    log = json.loads(as_sarif(report))
    jsonschema.validate(log, SARIF)
    (first,) = log["runs"]
    driver = first["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("commodore", __version__)
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    assert [ids[result["ruleIndex"]] for result in first["results"]] == [
        result["ruleId"] for result in first["results"]
    ]
    assert [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in first["results"]] == [
        "a%2Cb%3Ac%25.yml",
        "a%2Cb%3Ac%25.yml",
        "bad.yml",
        "sub%20dir/%C3%BC.yml",
    ]
    assert first["results"][1]["message"]["text"].endswith("it is a number. write it in quotes: '3'")
    assert first["results"][0]["locations"][0]["logicalLocations"] == [
        {"fullyQualifiedName": "parameters.packages.x", "kind": "member"}
    ]


def test_sarif_of_a_clean_lint(tmp_path: Path) -> None:
    log = json.loads(as_sarif(run(write_files(tmp_path, {"a.yml": "classes: []"}))))
    jsonschema.validate(log, SARIF)
    assert log["runs"][0]["results"] == []


def test_sarif_names_files_elsewhere_by_uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    write_files(tmp_path, {"a b.yml": "a: {"})
    for target in (Path("../a b.yml"), tmp_path / "a b.yml"):
        log = json.loads(as_sarif(lint(LintRequest((target,)), make_context(announce=lambda _: None))))
        uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"file:///.*a%20b\.yml", uri)


def test_halves_of_characters(tmp_path: Path) -> None:
    """YAML can spell what no output can hold."""
    report = run(
        write_files(tmp_path, {"a.yml": '{"parameters": {"components": {"\\ud83d": {"version": "v", "\\ud83d": 1}}}}'})
    )
    document_text("inventory-lint", report).encode()
    as_sarif(report).encode()
    "".join(as_github(report)).encode()
    assert report.errors == 1
