"""The linters `components`, `packages` and `missing-url`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.inventory.lint.world import findings, shown


def entry(text: str, section: str = "components") -> dict[str, str]:
    return {"a.yml": f"parameters:\n  {section}:\n    one: {text}\n"}


@pytest.mark.parametrize("section", ["components", "packages"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{version: v1}", []),
        ("{url: u, version: v1, path: 3}", []),
        ("{version: '${x:y}'}", []),
        ("${components:two}", []),
        ("{}", ["3:5 missing-version"]),
        ("{url: u}", ["3:5 missing-version"]),
        ("{url: 1, version: 1.2}", ["3:16 not-text", "3:28 not-text"]),
        ("{url: null, version: null}", ["3:16 not-text", "3:31 not-text"]),
        ("{version: v1, branch: b}", ["3:24 unknown-key"]),
        ("{=version: v1}", ["3:5 missing-version", "3:11 unknown-key"]),
        ("null", ["3:5 spec-not-a-map"]),
        ("v1", ["3:5 spec-not-a-map"]),
        ("[v1]", ["3:5 spec-not-a-map"]),
    ],
)
def test_entries(tmp_path: Path, section: str, text: str, expected: list[str]) -> None:
    """Entries that are null, a text or a list were tracebacks."""
    assert shown(tmp_path, entry(text, section), section) == [f"a.yml:{finding}" for finding in expected]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("parameters: [a]\n", ["1:13 parameters-not-a-map"]),
        ("parameters:\n", ["1:12 parameters-not-a-map"]),
        ("parameters: x\n", ["1:13 parameters-not-a-map"]),
        ("parameters:\n  components: [a]\n", ["2:15 list-not-a-map"]),
        ("parameters:\n  components: a\n", ["2:15 list-not-a-map"]),
        ("parameters:\n  components: null\n", []),
        ("parameters:\n  components: ${x}\n", []),
        ("parameters:\n  components:\n    1: {version: v}\n    true: {}\n", ["3:5 name", "4:5 name", "4:5 missing"]),
        ("parameters:\n  <<: {components: {x: {}}}\n", ["2:21 missing-version"]),
        ("parameters:\n  components:\n    a: &a {version: v, x: 1}\n    b: *a\n", ["3:24 unknown", "3:24 unknown"]),
        ("classes: [a]\n", []),
    ],
)
def test_shapes(tmp_path: Path, content: str, expected: list[str]) -> None:
    """Wrong shapes were tracebacks."""
    seen = shown(tmp_path, {"a.yml": content})
    assert len(seen) == len(expected)
    assert all(
        finding.startswith(f"a.yml:{other}") for finding, other in zip(sorted(seen), sorted(expected), strict=True)
    ), seen


def test_messages(tmp_path: Path) -> None:
    results = findings(tmp_path, entry("{version: 3, pth: x}"))
    assert [(finding.message, finding.parameter, finding.hint) for finding in results] == [
        (
            "parameters.components.one.version must be a string, it is a number",
            "parameters.components.one.version",
            "write it in quotes: '3'",
        ),
        ("component 'one' has unknown key 'pth'", "parameters.components.one", "did you mean 'path'?"),
    ]
    (nested,) = findings(tmp_path, entry("{version: {a: b}}"))
    assert nested.message.endswith("it is a map")
    assert nested.hint == ""
    (dated,) = findings(tmp_path, {"a.yml": "parameters:\n  packages:\n    2024-01-01: {version: v}\n"})
    assert dated.message == "the name of a package must be a string, 2024-01-01 is a date"


def versions(**entries: str) -> str:
    lines = [f"    {name}: {text}" for name, text in entries.items()]
    return "\n".join(["parameters:", "  components:", *lines, ""])


@pytest.mark.requirement("C30")
def test_a_version_without_a_url(tmp_path: Path) -> None:
    """The URL may stand in another of the linted files."""
    files = {
        "global.yml": versions(argocd="{url: u, version: v1}", vault="{url: u, version: v1}"),
        "tenant.yml": versions(argocd="{version: v2}", valt="{version: v2}"),
    }
    assert shown(tmp_path, files, "missing-url") == ["tenant.yml:4:5 missing-url"]
    (finding,) = findings(tmp_path, files, "missing-url")
    assert (finding.severity, finding.hint) == ("warning", "did you mean 'vault'?")
    assert finding.message == "component 'valt' has a `version` here, but no linted file has its `url`"


@pytest.mark.parametrize(
    "other",
    [
        "",  # the file with the URLs is not linted
        versions(x="{url: u, version: v1}") + "applications:\n- x as one\n",
        versions(x="{url: u, version: v1}", one="{url: '${y}'}"),
        versions(x="{url: u, version: v1}", one="${components:x}"),
        versions(x="{url: u, version: v1}", **{"~one": "{url: u}"}),
        "parameters: {packages: {one: {url: u}}}",
    ],
)
def test_versions_whose_url_may_be_elsewhere(tmp_path: Path, other: str) -> None:
    files = {"a.yml": versions(one="{version: v1}"), "b.yml": other}
    assert shown(tmp_path, files, "missing-url") == []


def test_a_list_that_is_a_reference_may_hold_anything(tmp_path: Path) -> None:
    files = {
        "a.yml": versions(one="{version: v1}", two="{url: u, version: v1}"),
        "b.yml": "parameters:\n  components: ${x}\n",
    }
    assert shown(tmp_path, files, "missing-url") == []
