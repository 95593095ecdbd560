"""The linter `filters`."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.core.inventory import check_filter
from tests.core.inventory.lint.world import findings, shown

GOOD = "type: jsonnet, path: x, filter: f.jsonnet"


def definition(text: str) -> dict[str, str]:
    return {"a.yml": f"parameters:\n  commodore:\n    postprocess:\n      filters:\n        - {text}\n"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text", "filter 0: it must be a mapping with the keys 'type', 'path' and 'filter'"),
        ("{type: jsonnet, path: x}", "filter 0: the key 'filter' is missing"),
        ("{type: 1, path: x, filter: f}", "filter 0: the value of 'type' is not a string"),
        ("{type: jsonet, path: x, filter: f}", "filter 0: unknown type 'jsonet'; expected 'builtin' or 'jsonnet'"),
        ("{type: builtin, path: x, filter: f}", "filter 0: unknown builtin filter 'f'"),
        ("{type: builtin, path: x, filter: helm_namespace}", "filter 0: a builtin filter needs 'filterargs'"),
        (
            "{type: builtin, path: x, filter: helm_namespace, filterargs: {}}",
            "filter 0: the filter argument 'namespace' is missing or is not a string",
        ),
        (
            "{type: builtin, path: x, filter: helm_namespace, filterargs: {namespace: n, exclude_objects: [1]}}",
            "filter 0: the filter argument 'exclude_objects' is not a list of mappings with the keys 'kind' and 'name'",
        ),
        (f"{{{GOOD}, filterargs: [a]}}", "filter 0: 'filterargs' must be a mapping"),
        (f"{{{GOOD}, filterargs: {{a: 1}}}}", "filter 0: the filter argument 'a' is not a string"),
        (f"{{{GOOD}, enabled: 'no'}}", "filter 0: 'enabled' is 'no'; expected true or false"),
        (
            f"{{{GOOD.replace('path: x', 'path: ../x')}}}",
            "filter 0: the path '../x' leaves the instance's output folder",
        ),
        (f"{{{GOOD.replace('path: x', 'path: /x')}}}", "filter 0: the path '/x' leaves the instance's output folder"),
        (f"{{{GOOD}, filterargs: null}}", "filter 0: 'filterargs' must be a mapping"),
    ],
)
def test_definitions(tmp_path: Path, text: str, message: str) -> None:
    """There was no check of filters."""
    (finding,) = findings(tmp_path, definition(text), "filters")
    assert (finding.rule, finding.line, finding.column) == ("filter-definition", 5, 11)
    assert finding.message == message
    assert finding.parameter == "parameters.commodore.postprocess.filters[0]"


@pytest.mark.parametrize(
    "text",
    [
        f"{{{GOOD}}}",
        f"{{{GOOD}, enabled: false, filterargs: {{a: 1}}}}",
        f"{{{GOOD}, enabled: '${{x}}', filterargs: '${{y}}'}}",
        "{type: '${x}', path: '${x}', filter: '${x}'}",
        "{type: builtin, path: x, filter: '${x}', filterargs: '${x}'}",
        "{=type: builtin, path: x, filter: helm_namespace, filterargs: {namespace: '${x}', exclude_objects: '${x}'}}",
        "{type: builtin, path: x, filter: helm_namespace, filterargs: {~namespace: n, create_namespace: true}}",
        "'${x}'",
    ],
)
def test_what_may_be_right(tmp_path: Path, text: str) -> None:
    """References are only known when they are rendered; markers of keys are no part of their names."""
    assert shown(tmp_path, definition(text), "filters") == []


def test_keys_that_mean_nothing(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, definition(f"{{{GOOD}, enable: true}}"), "filters")
    assert (finding.rule, finding.severity, finding.column) == ("filter-key", "warning", 55)
    assert finding.hint == "did you mean 'enabled'?"


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("commodore: x", "1:25"),
        ("commodore: {postprocess: [x]}", "1:39"),
        ("commodore: {postprocess: {filters: {a: b}}}", "1:49"),
        ("commodore: {postprocess: {filters: text}}", "1:49"),
        ("commodore: null", None),
        ("commodore: {postprocess: null}", None),
        ("commodore: {postprocess: {filters: null}}", None),
        ("commodore: {postprocess: {filters: '${x}'}}", None),
        ("commodore: '${x}'", None),
        ("commodore: {other: 1}", None),
        ("other: 1", None),
    ],
)
def test_what_holds_them(tmp_path: Path, content: str, place: str | None) -> None:
    results = shown(tmp_path, {"a.yml": f"parameters: {{{content}}}\n"}, "filters")
    assert results == ([f"a.yml:{place} filters-not-a-list"] if place else [])


def test_the_engine_refuses_paths_for_safety() -> None:
    problem = check_filter({"type": "jsonnet", "path": "a/../../b", "filter": "f"})
    assert problem is not None
    assert problem.refused
    assert check_filter({"type": "jsonnet", "path": "a/..", "filter": "f"}) is None
