"""The linter `deprecated-parameters`, and the check of a compile that is the same."""

from __future__ import annotations

from pathlib import Path

from commodore.core.inventory import find_removed_variables
from tests.core.inventory.lint.world import Found, findings, run
from tests.world.folders import write_files

CONTENT = """\
# ${cloud:region}
a: "${customer:name} and ${cloud:region}"
parameters:
  ${cluster:dist}: x
  text: |
    first
    second ${cluster:dist}
  folded: >-
    one
    ${cloud:provider} two ${cloud:provider}
  x:
    - y: [1, "${cluster:dist}"]
"""


def test_places(tmp_path: Path) -> None:
    """One error per text and string value, keys are not searched; each with its own line."""
    results = findings(tmp_path, {"a.yml": CONTENT})
    assert [(finding.line, finding.column, finding.parameter) for finding in results] == [
        (2, 5, "a"),
        (2, 26, "a"),
        (7, 12, "parameters.text"),
        (10, 5, "parameters.folded"),
        (12, 15, "parameters.x[0].y[1]"),
    ]
    assert results[0].message == "a uses ${customer:name}, which was removed"
    assert results[0].hint == "use ${cluster:tenant} instead"


def test_it_is_what_a_compile_refuses(tmp_path: Path) -> None:
    """Both go through one implementation."""
    write_files(tmp_path, {"a.yml": CONTENT, "b/c.json": '{"x": "${customer:name}"}', "d.yml": "x: ${cloud:region"})
    linted = [
        (finding.message, finding.file, finding.line)
        for finding in map(Found.of, run(tmp_path, "deprecated-parameters").findings)
    ]
    refused = [
        (finding.message, finding.locations[0].place, finding.locations[0].line)
        for finding in find_removed_variables([tmp_path])
    ]
    assert linted == refused
    assert len(linted) == 6


def test_an_alias_is_told_once(tmp_path: Path) -> None:
    results = findings(tmp_path, {"a.yml": "a: &a ['${customer:name}']\nb: *a\nc: {<<: {d: *a}}\n"})
    assert [(finding.line, finding.parameter) for finding in results] == [(1, "a[0]")]


def test_other_spellings(tmp_path: Path) -> None:
    """A name that is written with escapes or in UTF-16 is the same name; its place is that of the value."""
    files = {"a.yml": 'a: "\\x24{cloud:region}"\n', "b.yml": "b: ${cloud:region}\n".encode("utf-16")}
    assert [(Path(finding.file).name, finding.line, finding.column) for finding in findings(tmp_path, files)] == [
        ("a.yml", 1, 4),
        ("b.yml", 1, 4),
    ]
    assert len(find_removed_variables([tmp_path])) == 2
