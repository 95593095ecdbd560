"""The merged values of cells: the order of overrides and patches in both styles."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from commodore.base.limits import DEFAULT_LIMITS
from tests.fleet.conftest import APP, CELLS, CONFIG, WEB, World, charts, codes, manifests, patch
from tests.fleet.made_up import MadeUp

TAG = "source: {helm: {valuesObject: {image: {tag: %s}}}}"


def tags(world: World) -> dict[str, Any]:
    merged, _ = world.merged()
    return {
        cell: values["applications"]["web"]["source"]["helm"]["valuesObject"]["image"]["tag"]
        for cell, values in merged.items()
    }


@pytest.mark.requirement("F3", "F4", "F31", "FP5")
def test_every_cell_is_reached_in_the_order_of_the_sequence(world: World) -> None:
    merged, report = world.lay(charts()).merged()
    assert tuple(merged) == CELLS
    assert codes(report) == []


@pytest.mark.requirement("F9", "F12", "F33")
def test_defaults_come_first_and_lowest(world: World) -> None:
    both = {"config/application-defaults.yaml": "defaults: {revisionHistoryLimit: 3, project: other}"}
    merged, _ = world.lay(charts(**both)).merged()
    web = merged[CELLS[0]]["applications"]["web"]
    assert list(web) == ["revisionHistoryLimit", "project", "destination", "source", "syncPolicy"]
    assert web["project"] == "default"
    assert merged[CELLS[0]]["applications"]["db"]["revisionHistoryLimit"] == 3


@pytest.mark.requirement("F10")
def test_no_defaults_are_built_in(world: World) -> None:
    merged, _ = world.lay(charts(**{"config/main/application-defaults.yaml": None})).merged()
    assert list(merged[CELLS[0]]["applications"]["db"]) == ["source"]


@pytest.mark.requirement("F13", "F14", "F15", "F16")
def test_overrides_of_all_levels_narrow_ones_last(world: World) -> None:
    files = {
        f"{APP}/int/values.yaml": patch(TAG % "env"),
        f"{APP}/int/int-1/override.yaml": patch(TAG % "sector"),
        f"{APP}/int/int-1/r2/values.yaml": patch(TAG % "region"),
        f"{APP}/prod/values.yaml": "",
    }
    assert tags(world.lay(charts(**files))) == dict(zip(CELLS, ["sector", "region", "env", "a", "a", "a"], strict=True))


def test_the_flat_form_applies_just_before_the_nested_one(world: World) -> None:
    files = {
        f"{APP}/r1/values.yaml": patch(TAG % "flat"),
        f"{APP}/int/values.yaml": patch(TAG % "env"),
        f"{APP}/prod/prod-1/r1/values.yaml": patch(TAG % "nested"),
    }
    assert tags(world.lay(charts(**files))) == dict(
        zip(CELLS, ["flat", "env", "flat", "nested", "flat", "a"], strict=True)
    )


@pytest.mark.requirement("FP10")
def test_an_item_that_only_an_override_adds_gets_the_defaults(world: World) -> None:
    added = {f"{APP}/prod/values.yaml": "applications: {extra: {source: {repoURL: x}}}"}
    merged, _ = world.lay(charts(**added)).merged()
    assert merged[CELLS[3]]["applications"]["extra"] == {
        "project": "default",
        "destination": {"name": "in-cluster"},
        "source": {"repoURL": "x"},
    }
    assert "extra" not in merged[CELLS[0]]["applications"]


def worked_example() -> dict[str, str]:
    return {
        f"{APP}/int/override.yaml": patch("source: {helm: {valuesObject: {cpu: 2}}}"),
        f"{APP}/int/patch-001.yaml": patch("source: {helm: {valuesObject: {image: {tag: v4.18}, cpu: 3}}}"),
        f"{APP}/int/patch-002.yaml": patch(TAG % "v4.18-hotfix"),
        f"{APP}/int/int-1/override.yaml": patch(TAG % "v4.16.9"),
    }


@pytest.mark.requirement("F20", "F32", "F61")
@pytest.mark.parametrize(("style", "tag"), [("by-level", "v4.16.9"), ("last", "v4.18-hotfix")])
def test_the_precedence_of_patches(world: World, style: str, tag: str) -> None:
    files = (manifests if style == "by-level" else charts)(**worked_example())
    merged, report = world.lay(files).merged()
    values = merged[CELLS[0]]["applications"]["web"]["source"]["helm"]["valuesObject"]
    assert values == {"cpu": 3, "image": {"tag": tag}}
    assert merged[CELLS[3]]["applications"]["web"]["source"]["helm"]["valuesObject"] == {
        "cpu": 1,
        "image": {"tag": "a"},
    }
    expected = ["CMD-FLT-040"] + (["CMD-FLT-041"] * 2 if style == "by-level" else [])
    assert codes(report) == expected
    conflict = report.added("warning")[0].message
    assert f"{APP}/int/patch-001.yaml" in conflict
    assert "in 3 cells: 'v4.18', 'v4.18-hotfix'; the latter wins" in conflict
    if style == "by-level":
        place = f"{APP}/int/int-1/override.yaml:3:"
        assert all("2 cells" in note.message and place in note.message for note in report.added("info"))


def test_the_choice_can_be_made_alone(world: World) -> None:
    said = {"config/config.yaml": CONFIG + "generator: {patches: by-level}\n"}
    assert tags(world.lay(charts(**worked_example(), **said)))[CELLS[0]] == "v4.16.9"


@pytest.mark.parametrize(("names", "last"), [(("100", "20"), "20"), (("1", "1-hotfix"), "1")])
def test_patches_of_one_level_go_by_file_name_as_text(world: World, names: tuple[str, str], last: str) -> None:
    """With its ending: `patch-1-hotfix.yaml` comes before `patch-1.yaml`."""
    files = {f"{APP}/int/patch-{name}.yaml": patch(TAG % f"v{name}") for name in names}
    assert tags(world.lay(manifests(**files)))[CELLS[0]] == f"v{last}"


@pytest.mark.requirement("F17", "F18", "F19")
@pytest.mark.parametrize(
    "path", ["/web/syncPolicy/syncOptions", "web/syncPolicy/syncOptions", "applications/web/syncPolicy/syncOptions"]
)
def test_appending(world: World, path: str) -> None:
    text = patch("syncPolicy: {syncOptions: [X=true]}", f"merge_strategy: {{{path}: append}}")
    merged, report = world.lay(charts(**{f"{APP}/int/patch-001.yaml": text})).merged()
    assert merged[CELLS[0]]["applications"]["web"]["syncPolicy"]["syncOptions"] == [
        "CreateNamespace=true",
        "ServerSideApply=true",
        "X=true",
    ]
    assert codes(report) == []


@pytest.mark.parametrize("key", ["8080", "true", "null", "a/b"])
def test_appending_below_keys_that_are_no_texts(world: World, key: str) -> None:
    text = patch(f"source: {{helm: {{valuesObject: {{{key}: [new]}}}}}}", "merge_strategy:\n  PATH: append")
    text = text.replace("PATH", "/web/source/helm/valuesObject/" + key.replace("/", "~1"))
    base = WEB.replace("cpu: 1", f"{key}: [old]")
    merged, report = world.lay(charts(**{f"{APP}/values.yaml": base, f"{APP}/int/patch-001.yaml": text})).merged()
    values = merged[CELLS[0]]["applications"]["web"]["source"]["helm"]["valuesObject"]
    assert next(iter(values.values())) == ["old", "new"]
    assert codes(report) == []


def test_copies_may_write_paths_and_forms_differently(world: World) -> None:
    path, fields = "web/syncPolicy/syncOptions", "syncPolicy: {syncOptions: [X=true]}"
    plain = patch(fields, f"merge_strategy: {{/{path}: append}}\ndependencies: [{{/db/version: v1.13.3}}]")
    wrapped = (
        f"metadata: {{merge_strategy: {{applications/{path}: append}}, dependencies: {{db/version: v1.13.3}}}}\n"
        f"patch: {{web: {{{fields}}}}}\n"
    )
    files = {f"{APP}/int/int-1/patch-001.yaml": plain, f"{APP}/int/int-2/patches/patch-001.yaml": wrapped}
    assert codes(world.lay(charts(**files)).merged()[1]) == []


@pytest.mark.parametrize("place", ["int/patch-001.yaml", "int/patches/any.yaml"])
@pytest.mark.parametrize(
    "text",
    [
        "metadata: {id: x}\napplications: {web: {project: p}}",
        "metadata: {id: x}\npatch: {web: {project: p}}",
        "patch: {applications: {web: {project: p}}}",
    ],
)
def test_every_form_of_a_patch_in_every_place(world: World, place: str, text: str) -> None:
    merged, report = world.lay(charts(**{f"{APP}/{place}": text})).merged()
    projects = [values["applications"]["web"]["project"] for values in merged.values()]
    assert projects == ["p"] * 3 + ["default"] * 3
    assert codes(report) == []


def test_a_definition_is_active_nowhere(world: World) -> None:
    merged, report = world.lay(charts(**{f"{APP}/patches/p.yaml": patch("project: p")})).merged()
    assert {values["applications"]["web"]["project"] for values in merged.values()} == {"default"}
    assert codes(report) == ["CMD-FLT-042"]
    assert "commodore fleet promote main web p" in report.added("info")[0].hint


def test_a_patch_applies_once_whatever_covers_the_cell(world: World) -> None:
    text = patch("syncPolicy: {syncOptions: [X=true]}", "merge_strategy: {/web/syncPolicy/syncOptions: append}")
    files = {f"{APP}/int/patch-001.yaml": text, f"{APP}/int/int-1/patch-001.yaml": text}
    merged, report = world.lay(charts(**files)).merged()
    assert merged[CELLS[0]]["applications"]["web"]["syncPolicy"]["syncOptions"].count("X=true") == 1
    assert codes(report) == ["CMD-FLT-039"]


@pytest.mark.parametrize("second", ["append", "append-unique"])
def test_two_appends_to_one_list_are_no_conflict(world: World, second: str) -> None:
    path = "/web/syncPolicy/syncOptions"
    files = {
        f"{APP}/int/patch-001.yaml": patch("syncPolicy: {syncOptions: [X]}", f"merge_strategy: {{{path}: append}}"),
        f"{APP}/int/patch-002.yaml": patch("syncPolicy: {syncOptions: [X]}", f"merge_strategy: {{{path}: {second}}}"),
    }
    merged, report = world.lay(charts(**files)).merged()
    assert merged[CELLS[0]]["applications"]["web"]["syncPolicy"]["syncOptions"].count("X") == (
        2 if second == "append" else 1
    )
    assert codes(report) == []


def test_equal_values_of_two_patches_are_a_note(world: World) -> None:
    files = {f"{APP}/int/patch-{number}.yaml": patch("project: p") for number in (1, 2)}
    assert codes(world.lay(charts(**files)).merged()[1]) == ["CMD-FLT-043"]


@pytest.mark.requirement("FP14")
def test_a_path_below_another_is_a_conflict(world: World) -> None:
    files = {
        f"{APP}/int/patch-1.yaml": patch("syncPolicy: null"),
        f"{APP}/int/patch-2.yaml": patch("syncPolicy: {automated: {prune: true}}"),
    }
    _, report = world.lay(charts(**files)).merged()
    assert codes(report) == ["CMD-FLT-040"]
    (warning,) = report.added("warning")
    assert "applications.web.syncPolicy and applications.web.syncPolicy.automated.prune" in warning.message


def test_null_is_a_value(world: World) -> None:
    merged, _ = world.lay(charts(**{f"{APP}/int/values.yaml": patch("syncPolicy: null")})).merged()
    assert merged[CELLS[0]]["applications"]["web"]["syncPolicy"] is None


def test_an_apps_own_name_as_root(world: World) -> None:
    files = {
        "config/main/db/values.yaml": "db: {source: {repoURL: x}}",
        "config/main/db/int/values.yaml": "db: {project: p}",
    }
    merged, report = world.lay(charts(**files)).merged()
    assert merged[CELLS[0]]["applications"]["db"]["project"] == "p"
    assert merged[CELLS[5]]["applications"]["db"]["source"] == {"repoURL": "x"}
    assert codes(report) == ["CMD-FLT-024", "CMD-FLT-024"]


@pytest.mark.requirement("F30")
def test_several_types_have_their_own_applications(world: World) -> None:
    files = charts(
        **{
            "config/config.yaml": CONFIG.replace("- main", "- main\n  - {name: other, applications: [web]}"),
            "config/other/web/values.yaml": "applications: {web: {source: {repoURL: other}}}",
            "config/other/application-defaults.yaml": "defaults: {project: o}",
        }
    )
    report_of = world.lay(files)
    from commodore.base.diagnostics import Diagnostics
    from commodore.fleet.cells import merge_fleet
    from commodore.fleet.repository.apps import read_fleet

    report = Diagnostics()
    fleet = read_fleet(report_of.root, report, DEFAULT_LIMITS)
    cells = merge_fleet(fleet, fleet.config.cells()[:1], ["main", "other"], report)
    assert [(cell.type, sorted(cell.values["applications"])) for cell in cells] == [
        ("main", ["db", "web"]),
        ("other", ["web"]),
    ]
    assert cells[1].values["applications"]["web"]["project"] == "o"


@pytest.mark.requirement("F16", "F33")
@pytest.mark.parametrize("seed", range(30))
def test_made_up_fleets(world: World, seed: int) -> None:
    """Any number of dimensions; overrides, flat ones too; patches in several places, which append, or wait for others:
    the values of each cell are those of the plainest reading of the rules, in the same order.
    """
    fleet = MadeUp(random.Random(seed))
    merged, report = world.lay(fleet.files).merged()
    assert report.added("error") == []
    assert json.dumps(merged) == json.dumps(fleet.expected())
