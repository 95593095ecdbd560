"""The linters `applications` and `removals`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.inventory.lint.world import findings, shown

GLOBAL = """\
parameters:
  components:
    argocd: {url: u, version: v}
    vault: {url: u, version: v}
  packages:
    base: {url: u, version: v}
"""


def applications(*entries: str) -> str:
    return "\n".join(["applications:", *(f"  - {entry}" for entry in entries), ""])


@pytest.mark.parametrize(
    ("entry", "rule", "hint"),
    [
        ("argocd", None, ""),
        ("pkg.base", None, ""),
        ("vault as vault-dev", None, ""),
        ("~argocd", None, ""),
        ("~gone", None, ""),
        ("argcd", "unknown-application", "did you mean 'argocd'?"),
        ("argcd as a", "unknown-application", "did you mean 'argocd'?"),
        ("pkg.bas", "unknown-application", "did you mean 'base'?"),
        ("pkg.argocd", "unknown-application", "describe it, or lint the file that describes it, too"),
        ("3", "application-not-text", "write one name per entry"),
        ("{argocd: x}", "application-not-text", "write one name per entry"),
        ("${x:y}", "application-reference", "write the name itself"),
        ("argocd as a as b", "application-alias", "write one entry 'component as alias' per instance"),
        ("argocd as", "application-alias", "write 'component as alias'"),
        ("'argocd as '", "application-alias", "write 'component as alias'"),
        ("' as a'", "application-alias", "write 'component as alias'"),
        ("argocd as argocd", "application-alias", "keep one of them"),
        ("argocd as Big", "unusual-name", None),
        ("argocd as a.b", "application-alias", None),
        ("argocd as cluster", "application-alias", None),
        ("pkg.global", "application-name", None),
        ("pkg.t-x", "application-name", None),
        ("~../x", "application-name", None),
    ],
)
def test_entries(tmp_path: Path, entry: str, rule: str | None, hint: str | None) -> None:
    """There was no check of `applications`."""
    results = findings(tmp_path, {"global.yml": GLOBAL, "tenant.yml": applications("argocd", entry)}, "applications")
    assert [(finding.rule, finding.line, finding.column) for finding in results] == ([(rule, 3, 5)] if rule else [])
    assert hint is None or [finding.hint for finding in results] == ([hint] if rule else [])
    assert {finding.severity for finding in results} <= {
        "warning" if rule in ("unknown-application", "unusual-name") else "error"
    }


@pytest.mark.requirement("C33")
def test_one_instance_of_two_components(tmp_path: Path) -> None:
    """In one list; other files may be of another cluster."""
    both = applications("argocd as x", "vault as x")
    assert shown(tmp_path, {"a.yml": both}, "applications") == ["a.yml:3:5 application-alias"]
    alone = {"a.yml": applications("argocd as x"), "b.yml": applications("vault as x", "~vault as x", "argocd as x")}
    assert shown(tmp_path, alone, "applications") == []


@pytest.mark.parametrize(
    "other",
    ["parameters: {}", "parameters: {components: '${x}'}", "parameters: {components: {'~foo': {}, '=bar': {}}}"],
)
def test_what_the_linted_files_do_not_know(tmp_path: Path, other: str) -> None:
    """Without any description of components nothing can be said about them."""
    files = {"a.yml": applications("foo", "pkg.base"), "b.yml": other}
    assert shown(tmp_path, files, "applications") == []


@pytest.mark.parametrize("value", ["argocd", "{argocd: true}", "", "null"])
def test_applications_that_are_no_list(tmp_path: Path, value: str) -> None:
    results = shown(tmp_path, {"a.yml": f"applications: {value}\n"}, "applications")
    assert [finding.split()[1] for finding in results] == ["applications-not-a-list"]


@pytest.mark.parametrize(
    "linter", ["applications", "removals", "filters", "references", "secret-references", "missing-url"]
)
@pytest.mark.parametrize(
    ("name", "head"),
    [("a.json", ""), ("a.txt", ""), ("a.yml", "kind: X\n"), ("a.yml", "apiVersion: v1\n"), ("b.yml", "other: 1\n")],
)
def test_what_is_no_class(tmp_path: Path, linter: str, name: str, head: str) -> None:
    """Manifests and other files may use these keys for something else."""
    content = "applications: x\nclasses: ['~x', '${a']\nparameters: {x: '?{a}', '~y': 1, y: 1, commodore: 1}\n"
    content = content if name != "b.yml" else "spec:\n  " + content.replace("\n", "\n  ")
    assert shown(tmp_path, {name: head + content}, linter) == []


@pytest.mark.parametrize(
    ("entries", "rule", "severity"),
    [
        (["~a", "a"], "removal-before-include", "error"),
        (["a", "~a"], None, ""),
        (["a", "~a", "a"], None, ""),
        (["~other"], None, ""),
        (["~nobody"], "removal-of-nothing", "warning"),
        (["~b as x"], None, ""),
        (["~b"], "removal-of-nothing", "warning"),
    ],
)
def test_removals(tmp_path: Path, entries: list[str], rule: str | None, severity: str) -> None:
    """`~c` does not remove `c as i`; a removal before its include swallows it (docs/adr/0006)."""
    files = {"a.yml": applications(*entries), "b.yml": applications("other", "b as x")}
    results = findings(tmp_path, files, "removals")
    assert [(finding.rule, finding.severity, finding.line, finding.column) for finding in results] == (
        [(rule, severity, 2, 5)] if rule else []
    )


def test_hints_of_removals(tmp_path: Path) -> None:
    files = {"a.yml": applications("~b", "~othr", "~zzz"), "b.yml": applications("other", "b as x")}
    assert [finding.hint for finding in findings(tmp_path, files, "removals")] == [
        "an instance is removed by its whole entry: '~b as x'",
        "did you mean 'other'?",
        "remove the entry, or lint the file that includes it, too",
    ]


def test_classes_cannot_be_removed(tmp_path: Path) -> None:
    """reclass looks for a class of that name."""
    assert shown(tmp_path, {"a.yml": "classes:\n- a\n- ~a\n"}, "removals") == ["a.yml:3:3 removal-of-a-class"]


def test_a_removal_beside_its_key(tmp_path: Path) -> None:
    """Their order decides whether the lists are joined or replaced."""
    content = "parameters:\n  a:\n    b: [1]\n    ~b: [2]\n    ~c: [3]\nother: {x: 1, ~x: 2}\n"
    (finding,) = findings(tmp_path, {"a.yml": content}, "removals")
    assert (finding.rule, finding.line, finding.column, finding.parameter) == (
        "removal-beside-key",
        4,
        5,
        "parameters.a.~b",
    )
