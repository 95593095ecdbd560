"""What is told of the output of tools that have failed."""

from __future__ import annotations

import pytest

from commodore.engine.kapitan.errors import tail

HELM = """Error: app/templates/x.yaml:1:13
  executing "app/templates/x.yaml" at <.Values.a.b.c>:
    nil pointer evaluating interface {}.b

Use --debug flag to render out invalid YAML
"""
MISSING = (
    "error: accumulating resources: accumulation err='accumulating resources from 'base': '/k/base' must resolve to a "
    "file': recursed accumulation of path '/k/base': accumulating resources: accumulation err='accumulating resources "
    "from 'missing.yaml': evalsymlink failure on '/k/base/missing.yaml' : lstat /k/base/missing.yaml: no such file or "
    "directory': must build at directory: not a valid directory: evalsymlink failure on '/k/base/missing.yaml' : lstat "
    "/k/base/missing.yaml: no such file or directory"
)
MALFORMED = (
    "error: accumulating resources: accumulation err='accumulating resources from 'base': '/k/base' must resolve to a "
    "file': recursed accumulation of path '/k/base': accumulating resources: accumulating resources from 'x.yaml': "
    "MalformedYAMLError: yaml: line 1: did not find expected node content in File: x.yaml"
)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            HELM,
            (
                'Error: app/templates/x.yaml:1:13 executing "app/templates/x.yaml" at <.Values.a.b.c>: nil pointer '
                "evaluating interface {}.b"
            ),
        ),
        (
            MISSING,
            (
                "Error: accumulating resources from 'missing.yaml': evalsymlink failure on '/k/base/missing.yaml' : "
                "lstat /k/base/missing.yaml: no such file or directory (in /k/base)"
            ),
        ),
        (
            MALFORMED,
            (
                "Error: accumulating resources from 'x.yaml': MalformedYAMLError: yaml: line 1: did not find expected "
                "node content in File: x.yaml (in /k/base)"
            ),
        ),
        ("noise\nError: one\nError: two\n", "Error: one; Error: two"),
        ("a\nb\nc\nd\n", "b; c; d"),
        ("", "it said nothing"),
    ],
    ids=["helm", "missing", "malformed", "several", "last lines", "nothing"],
)
def test_the_whole_cause_is_told(said: str, told: str) -> None:
    assert tail(said) == told
