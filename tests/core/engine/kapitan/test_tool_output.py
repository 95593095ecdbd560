"""Messages from the output of failed tools."""

from __future__ import annotations

import pytest

from commodore.core.engine.kapitan.errors import tail

HELM = """Error: app/templates/x.yaml:1:13
  executing "app/templates/x.yaml" at <.Values.a.b.c>:
    nil pointer evaluating interface {}.b

Use --debug flag to render out invalid YAML
"""
SCHEMA = """Error: values don't meet the specifications of the schema(s) in the following chart(s):
chart:
- at '/a': got number, want string
- at '/b': got string, want integer
"""


@pytest.mark.parametrize(
    ("said", "reported"),
    [
        (
            HELM,
            (
                'app/templates/x.yaml:1:13 executing "app/templates/x.yaml" at <.Values.a.b.c>: nil pointer '
                "evaluating interface {}.b"
            ),
        ),
        (
            SCHEMA,
            (
                "values don't meet the specifications of the schema(s) in the following chart(s): chart: - at '/a': "
                "got number, want string; - at '/b': got string, want integer"
            ),
        ),
        ("noise\nError: one\nError: two\n", "one; Error: two"),
        ("a\nb\nc\nd\n", "b; c; d"),
        ("", "it printed no message"),
    ],
    ids=["helm", "schema", "several", "last lines", "nothing"],
)
def test_the_whole_cause_is_told(said: str, reported: str) -> None:
    assert tail(said) == reported
