"""The linter `secret-references`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.inventory.lint.world import findings, shown


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("?{vaultkv:a/b}", None),
        ("?{vaultkv:${cluster:tenant}/${cluster:name}/x/${_instance}}", None),
        ("?{vaultkv:${path}}", None),
        ("?{${whole}}", None),
        ("?{${type}:a/b}", None),
        ("?{${type}:${path}}", None),
        ("?{vaultkv:${a:${b}}/c}", None),
        ("?{vaultkv:${a}/${b}/${c}/${d}@x}", None),  # more references than are tried
        ("what?{}", None),
        ("?{vaultkv:abc}", "CMD-REF-001"),
        ("?{vaultkv}", "CMD-REF-001"),
        ("?{base64:a/b}", "CMD-REF-002"),
        ("?{vault:${a}/b}", "CMD-REF-002"),
        ("?{vaultkv:a b/c}", "CMD-REF-003"),
        ("?{vaultkv:${a}/b@c}", "CMD-REF-004"),
        ("?{vaultkv:${a}/b||random:str}", "CMD-REF-005"),
        ("?{vaultkv:a/b:x:y:z}", "CMD-REF-006"),
        ("?{vaultkv:/a/b}", "CMD-REF-007"),
        ("?{vaultkv:${a}/../b}", "CMD-REF-007"),
        ("?{vaultkv:a/b", "CMD-REF-016"),
        ("?{vaultkv:${a}/b", "CMD-REF-016"),
    ],
)
def test_texts(tmp_path: Path, text: str, code: str | None) -> None:
    """The values of `${...}` are unknown, so only certain problems are reported."""
    results = findings(tmp_path, {"a.yml": f"parameters:\n  x:\n    - 'y {text}'\n"}, "secret-references")
    assert [(finding.rule, finding.line, finding.column, finding.parameter) for finding in results] == (
        [("secret-reference", 3, 10, "parameters.x[0]")] if code else []
    )
    assert code is None or f"[{code}]" in results[0].message


def test_the_message_shows_the_reference_as_written(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, {"a.yml": "parameters: {x: '?{gpg:${a}/b}'}"}, "secret-references")
    assert finding.message.startswith("'?{gpg:${…}/b}' in parameters.x has the type 'gpg'")


def test_several_in_one_text(tmp_path: Path) -> None:
    content = "parameters:\n  x: |\n    ?{vaultkv:a}\n    ?{vaultkv:a/b}\n    ?{vaultkv:c}\n"
    assert shown(tmp_path, {"a.yml": content}, "secret-references") == [
        "a.yml:3:5 secret-reference",
        "a.yml:5:5 secret-reference",
    ]


def test_where_they_are_searched(tmp_path: Path) -> None:
    """Values only; parameters of Kapitan are not for Vault."""
    content = "parameters:\n  kapitan: {a: '?{base64:a}'}\n  =kapitan: {a: '?{base64:a}'}\n  '?{x}': y\nx: '?{x}'\n"
    assert shown(tmp_path, {"a.yml": content}, "secret-references") == []
