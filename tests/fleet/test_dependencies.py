"""Dependencies of patches: paths, expected values, order."""

from __future__ import annotations

from typing import Any

import pytest

from commodore.base.errors import InputError, Location
from commodore.fleet.dependencies import Dependency, unmet
from commodore.fleet.paths import strategy_path, value_at
from tests.fleet.conftest import APP, CELLS, CONFIG, World, charts, codes, manifests, patch

VALUES: dict[str, Any] = {
    "applications": {
        "certs": {"source": {"targetRevision": "v1.13.3"}, "ready": "true", "on": True, "one": 1, "list": [{"a": [1]}]},
        "many": {"sources": [{"repoURL": "x"}, {"chart": "c", "targetRevision": "2.0.0"}]},
        "two": {"sources": [{"chart": "c", "targetRevision": "1.0.0"}, {"chart": "d", "targetRevision": "2.0.0"}]},
        "none": {},
    },
    "applicationsets": {"set": {"goTemplate": True}},
}


def dependency(path: str, expected: Any) -> Dependency:
    steps = () if path.startswith("$") else strategy_path(path, ())
    return Dependency(path, steps, path.startswith("$"), expected, Location("f", 1, 1))


@pytest.mark.requirement("F24", "F25", "F26", "F27")
@pytest.mark.parametrize(
    ("path", "expected", "met"),
    [
        ("/certs/source/targetRevision", "v1.13.3", True),
        ("certs/source/targetRevision", "v1.13.3", True),
        ("/applications/certs/source/targetRevision", "v1.13.3", True),
        ("/applicationsets/set/goTemplate", True, True),
        ("/certs/version", "v1.13.3", True),
        ("/certs/version", ">=v1.13.0", True),
        ("/certs/version", ">=v1.13.0,<v2", True),
        ("/certs/version", ">=1.13.0, <1.13.3", False),
        ("/certs/version", "==1.13.3", True),
        ("/certs/version", "=1.13.3", True),
        ("/certs/version", "!=1.13.3", False),
        ("/certs/version", ">1.13.3", False),
        ("/certs/version", "<=1.13.3", True),
        ("/certs/version", "v1.14.0", False),
        ("/many/version", "2.0.0", True),
        ("/none/version", ">=1", False),
        ("/certs/on", True, True),
        ("/certs/on", "true", False),
        ("/certs/on", 1, False),
        ("/certs/one", 1, True),
        ("/certs/one", True, False),
        ("/certs/one", "1", False),
        ("/certs/list", [{"a": [1]}], True),
        ("/certs/list/0/a/0", 1, True),
        ("/certs/list/7", 1, False),
        ("/certs/nothing", None, False),
        ("$.applications.certs.one", 1, True),
        ("$.applications[*].one", 1, True),
        ("$.applications[*].source.targetRevision", ">=1", True),
        ("$..nothing", 1, False),
    ],
)
def test_met_or_not(path: str, expected: Any, met: bool) -> None:
    assert (unmet(dependency(path, expected), VALUES) is None) is met


@pytest.mark.parametrize(("style", "code"), [(manifests, []), (charts, ["CMD-FLT-046"])])
def test_a_jsonpath_may_ask_for_the_dimensions_if_they_are_values(world: World, style: Any, code: list[str]) -> None:
    needs = "dependencies: [{$.cluster.sector: int-2}]"
    merged, report = world.lay(style(**{f"{APP}/int/patch-1.yaml": patch("project: p", needs)})).merged()
    assert [item.code for item in report.added("error")] == code
    if not code:
        patched = [cell for cell, values in merged.items() if values["applications"]["web"]["project"] == "p"]
        assert patched == ["int/int-2/r1"]
        assert all("cluster" not in values for values in merged.values())


def test_the_hint_tells_that_only_the_type_differs() -> None:
    lack = unmet(dependency("/certs/ready", True), VALUES)
    assert lack is not None
    assert (lack.in_words, lack.hint) == ("/certs/ready is 'true', not true", "text, not true")


def test_live_state_is_asked_only_where_it_is_given() -> None:
    live = dependency("/none/ready", True)
    assert unmet(live, VALUES) is None
    assert unmet(live, VALUES, lambda name, what, _: (name, what) == ("none", "ready")) is None
    assert unmet(live, VALUES, lambda *_: False) is not None
    assert (
        unmet(dependency("/certs/ready", "true"), VALUES, lambda *_: False) is None
    )  # a key of that name counts first


@pytest.mark.parametrize(
    ("path", "expected", "code"),
    [
        ("/certs/on", ">=1", "CMD-FLT-049"),
        ("/certs/version", ">=latest", "CMD-FLT-049"),
        ("/two/version", ">=1", "CMD-FLT-045"),
        ("$.applications.certs[/x]", 1, "CMD-FLT-045"),
        ("$.applications.two.sources[?(@.chart =~ '(')]", 1, "CMD-FLT-045"),
    ],
)
def test_what_cannot_be_compared(path: str, expected: object, code: str) -> None:
    with pytest.raises(InputError) as caught:
        unmet(dependency(path, expected), VALUES)
    assert caught.value.code == code
    assert path in caught.value.message


def test_keys_that_are_numbers() -> None:
    assert value_at({"a": {1: {"b": 2}}}, ("a", "1", "b")) == 2


def dependent(path: str, expected: str) -> str:
    return patch("project: p", f"dependencies:\n  - {path}: {expected}")


@pytest.mark.requirement("F28", "F29", "F63")
def test_an_unmet_dependency_leaves_the_patch_out_and_is_told_once(world: World) -> None:
    files = {
        f"{APP}/int/patch-001.yaml": dependent("/db/version", "'>=v1.14.0'"),
        "config/main/db/int/int-2/values.yaml": "applications: {db: {source: {targetRevision: v1.14.1}}}",
    }
    merged, report = world.lay(charts(**files)).merged()
    assert [merged[cell]["applications"]["web"]["project"] for cell in CELLS[:3]] == ["default", "default", "p"]
    assert codes(report) == ["CMD-FLT-047"]
    assert report.added("warning")[0].message == (
        "the patch main/web/patch-001 is not applied in 2 cells (int/int-1/r1, int/int-1/r2): "
        "/db/version is 'v1.13.3', not '>=v1.14.0'"
    )


@pytest.mark.requirement("F23")
@pytest.mark.parametrize("style", [charts, manifests])
def test_a_patch_comes_after_what_it_depends_on(world: World, style: Any) -> None:
    files = {
        f"{APP}/int/patch-001.yaml": dependent("/web/version", "v5.0.0"),
        f"{APP}/int/patch-002.yaml": patch("source: {targetRevision: v5.0.0}"),
    }
    merged, report = world.lay(style(**files)).merged()
    assert merged[CELLS[0]]["applications"]["web"]["project"] == "p"
    assert codes(report) == []


def test_by_level_a_patch_cannot_wait_for_a_later_level(world: World) -> None:
    files = {
        f"{APP}/int/patch-001.yaml": dependent("/db/version", "v2.0.0"),
        "config/main/db/int/int-1/patch-002.yaml": "applications: {db: {source: {targetRevision: v2.0.0}}}",
    }
    assert codes(world.lay(manifests(**files)).merged()[1]) == ["CMD-FLT-047"]
    said = {"config/config.yaml": CONFIG + "generator: {patches: last}\n"}
    _, report = world.lay(said).merged()
    assert [item.message for item in report.added("warning")] == [
        "the patch main/web/patch-001 is not applied in 1 cell (int/int-2/r1): /db/version is 'v1.13.3', not 'v2.0.0'"
    ]


@pytest.mark.requirement("F59")
def test_a_circle_is_an_error(world: World) -> None:
    files = {
        f"{APP}/int/patch-001.yaml": dependent("/db/project", "q"),
        "config/main/db/int/patch-002.yaml": "metadata: {dependencies: {/web/project: p}}\n"
        "applications: {db: {project: q}}",
    }
    _, report = world.lay(charts(**files)).merged()
    circles = [error for error in report.added("error") if error.code == "CMD-FLT-048"]
    assert len(circles) == 1
    for word in (f"{APP}/int/patch-001.yaml (needs /db/project)", "db/int/patch-002.yaml (needs /web/project)"):
        assert word in circles[0].message
