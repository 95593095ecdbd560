"""Promotions from begin to end, and what they refuse."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.documents import plain
from commodore.base.errors import CommodoreError
from commodore.base.events import Noted, Warned
from commodore.fleet.merging import same
from commodore.fleet.promotion.changing import find_patch
from commodore.fleet.promotion.folding import Overrides
from commodore.fleet.promotion.gates import Conditions
from commodore.fleet.promotion.planning import plan
from commodore.fleet.promotion.promoting import (
    PromoteOptions,
    Step,
    fold_patch,
    load_fleet,
    promote,
    start_patch,
    write_changes,
)
from tests.fleet.conftest import APP, CELLS, WEB, World, charts, manifests, patch

COMMENTED = WEB.replace("targetRevision: v4.17.0", 'targetRevision: "v4.17.0"  # the version')
FIRST = f"{APP}/int/int-1/r1/patch-001.yaml"
VERSION = patch("source: {targetRevision: v4.18.0}")


def step(world: World, approve: bool = True, **options: Any) -> Step:
    result = find_patch(load_fleet(world.root, world.context), "main", "web", "patch-001")
    conditions = Conditions(lambda _: approve, None, False, datetime.now(UTC))
    done = promote(result, PromoteOptions(**options), conditions, world.context)
    write_changes(done.writes, world.root)
    return done


def fold(world: World, overrides: Overrides = "refuse") -> Any:
    done = fold_patch(find_patch(load_fleet(world.root, world.context), "main", "web", "patch-001"), overrides)
    write_changes(done.writes, world.root)
    return done


def places(world: World) -> list[str]:
    return sorted(str(path.parent.relative_to(world.root / APP)) for path in (world.root / APP).rglob("patch-001.yaml"))


@pytest.mark.requirement("F21", "F22")
def test_from_the_first_cell_into_the_base_values(world: World) -> None:
    world.lay(manifests(**{f"{APP}/values.yaml": COMMENTED, FIRST: VERSION}))
    seen = []
    for _ in range(4):
        step(world)
        seen.append(places(world))
    assert seen == [["int/int-1"], ["int"], ["int", "prod/prod-1"], []]
    assert (world.root / APP / "values.yaml").read_text() == COMMENTED.replace("v4.17.0", "v4.18.0")
    assert not (world.root / APP / "int").exists()  # empty folders go
    assert not (world.root / APP / "prod").exists()


def test_region_by_region(world: World) -> None:
    world.lay(charts(**{FIRST: VERSION}))
    placed = [step(world).place for _ in range(5)]
    assert ["/".join(place or ()) for place in placed] == list(CELLS[1:])
    assert places(world) == []


def test_a_definition_starts_at_the_first_cell_in_its_own_form(world: World) -> None:
    world.lay(charts(**{f"{APP}/patches/patch-001.yaml": VERSION}))
    assert step(world).place == tuple(CELLS[0].split("/"))
    assert (world.root / APP / CELLS[0] / "patches/patch-001.yaml").read_text() == VERSION
    step(world)
    assert places(world) == ["int/int-1/patches", "patches"]
    for _ in range(4):
        step(world)
    assert places(world) == []


def test_levels(world: World) -> None:
    world.lay(charts(**{f"{APP}/int/patch-001.yaml": VERSION}))
    assert step(world, level="environments", coalesce=False, fold=False).place == ("prod",)
    assert places(world) == ["int", "prod"]
    with pytest.raises(CommodoreError) as caught:
        step(world, level="zones")
    assert caught.value.code == "CMD-FLT-090"


def test_without_coalescing_and_folding(world: World) -> None:
    world.lay(charts(**{FIRST: VERSION}))
    for _ in range(5):
        step(world, coalesce=False, fold=False)
    assert places(world) == sorted(CELLS)
    done = step(world, fold=False)
    assert (done.place, places(world)) == (None, ["int", "prod"])
    step(world)
    assert places(world) == []


REFUSED = [
    ("CMD-FLT-070", {}, ["patch-001", "web"]),
    ("CMD-FLT-071", {f"{APP}/int/int-2/patch-001.yaml": VERSION}, ["int/int-1/r1, int/int-1/r2"]),
    (
        "CMD-FLT-032",
        {FIRST: VERSION, f"{APP}/int/int-1/r2/patch-001.yaml": patch("project: p")},
        ["source.targetRevision"],
    ),
    ("CMD-FLT-073", {f"{APP}/int/patch-001.yaml": VERSION}, ["prod requires approval (config/config.yaml:10"]),
    ("CMD-FLT-050", {FIRST: patch("project: p", "dependencies: [{/db/ready: true}]")}, ["/db/ready"]),
]


@pytest.mark.requirement("FP13")
@pytest.mark.parametrize(("code", "files", "words"), REFUSED, ids=[code for code, _, _ in REFUSED])
def test_refusals_change_nothing(world: World, code: str, files: dict[str, str], words: list[str]) -> None:
    world.lay(charts(**files))
    before = world.config()
    with pytest.raises(CommodoreError) as caught:
        step(world, approve=False)
    assert caught.value.code == code
    assert [word for word in words if word not in caught.value.message] == [], caught.value.message
    assert caught.value.hint
    assert world.config() == before
    assert caught.value.exit_code == (4 if code == "CMD-FLT-073" else 1)


def test_a_file_that_is_there_already(world: World) -> None:
    """A folder at the path of a new patch, which no reading of patches finds."""
    world.lay(charts(**{FIRST: VERSION, f"{APP}/int/int-1/r2/patch-001.yaml/notes": "x"}))
    before = world.config()
    with pytest.raises(CommodoreError) as caught:
        step(world)
    assert caught.value.code == "CMD-FLT-072"
    assert f"{APP}/int/int-1/r2/patch-001.yaml exists already" in caught.value.message
    assert world.config() == before


def test_placements_of_both_forms_become_one(world: World) -> None:
    world.lay(manifests(**{FIRST: VERSION, f"{APP}/int/int-1/r2/patches/patch-001.yaml": VERSION}))
    step(world)
    assert places(world) == ["int/patches"]


@pytest.mark.requirement("FP11")
def test_coalescing_that_would_lose_is_left_out_and_told(world: World) -> None:
    override = {f"{APP}/int/int-1/r2/override.yaml": patch("source: {targetRevision: v4.16.0}")}
    world.lay(manifests(**{FIRST: VERSION, **override}))
    before = world.merged()[0]
    done = step(world)
    assert places(world) == ["int/int-1/r1", "int/int-1/r2"]
    told = [event for event in world.events if isinstance(event, Warned)]
    assert [item.code for item in told] == ["CMD-FLT-085"]
    assert f"{APP}/int/int-1/r2/override.yaml:3:" in told[0].message
    assert "'v4.18.0', 'v4.16.0'" in told[0].message
    assert done.kept
    after = world.merged()[0]
    changed = [cell for cell in CELLS if before[cell] != after[cell]]
    assert changed == ["int/int-1/r2"]


def lost_fold(world: World) -> None:
    override = {f"{APP}/prod/override.yaml": "# ours\n" + patch("source: {targetRevision: v4.16.0}")}
    files = {f"{APP}/{name}/patch-001.yaml": VERSION for name in ("int", "prod/prod-1")}
    world.lay(manifests(**files, **override))


@pytest.mark.requirement("FP11")
def test_a_fold_that_would_lose_is_refused_after_the_promotion(world: World) -> None:
    lost_fold(world)
    done = step(world)
    assert [problem.code for problem in done.problems] == ["CMD-FLT-086"]
    for word in (f"{APP}/prod/override.yaml:4:", "source.targetRevision", "'v4.18.0', 'v4.16.0'", "3 cells"):
        assert word in done.problems[0].message
    assert "--overrides update" in done.problems[0].hint
    assert places(world) == ["int", "prod"]
    with pytest.raises(CommodoreError) as caught:
        fold(world)
    assert caught.value.code == "CMD-FLT-086"


def test_a_fold_that_would_lose_against_another_patch_does_not_advise_to_update(world: World) -> None:
    """The other one applies after this one, and before its values once they are base values."""
    everywhere = {f"{APP}/{name}/patch-002.yaml": VERSION for name in ("int", "prod")}
    first = {f"{APP}/int/patch-001.yaml": patch("source: {targetRevision: v4.16.0}")}
    world.lay(charts(**everywhere, **first))
    for overrides in ("refuse", "update"):
        with pytest.raises(CommodoreError) as caught:
            fold_patch(find_patch(load_fleet(world.root, world.context), "main", "web", "patch-002"), overrides)
        assert "would lose against other patches at applications.web.source.targetRevision" in caught.value.message
        assert "fold the patches first that write the same" in caught.value.hint
        assert "--overrides update" not in caught.value.hint


@pytest.mark.parametrize(("overrides", "version"), [("update", "v4.18.0"), ("keep", "v4.16.0")])
def test_what_happens_to_overrides(world: World, overrides: Overrides, version: str) -> None:
    lost_fold(world)
    step(world)
    done = fold(world, overrides)
    versions = [item["applications"]["web"]["source"]["targetRevision"] for item in world.merged()[0].values()]
    assert versions == ["v4.18.0"] * 3 + [version] * 3
    assert (world.root / APP / "prod/override.yaml").read_text().startswith("# ours\n")
    assert bool(done.lost) is (overrides == "keep")
    assert places(world) == []


def test_a_patch_that_is_not_everywhere_is_not_folded(world: World) -> None:
    world.lay(charts(**{f"{APP}/int/patch-001.yaml": VERSION}))
    with pytest.raises(CommodoreError) as caught:
        fold(world)
    assert (caught.value.code, "3 of 6 cells" in caught.value.message) == ("CMD-FLT-087", True)


@pytest.mark.parametrize("base", [True, False])
def test_appending_goes_on_when_folded(world: World, base: bool) -> None:
    text = patch("syncPolicy: {syncOptions: [X=true]}", "merge_strategy: {/web/syncPolicy/syncOptions: append}")
    files = {f"{APP}/{name}/patch-001.yaml": text for name in ("int", "prod")}
    if not base:  # the list is that of the defaults
        files[f"{APP}/values.yaml"] = "applications: {web: {source: {repoURL: x}}}"
        options = "defaults: {project: p, destination: {name: x}, syncPolicy: {syncOptions: [Y=true]}}"
        files["config/main/application-defaults.yaml"] = options
    world.lay(charts(**files))
    before = world.merged()[0]
    fold(world)
    assert places(world) == []
    assert same(world.merged()[0], before)


def test_an_app_that_stands_in_its_file_without_section(world: World) -> None:
    bare = "# kept\nweb:\n  source: {repoURL: x, targetRevision: v1}\n"
    files = {f"{APP}/{name}/patch-001.yaml": VERSION for name in ("int", "prod")}
    world.lay(charts(**files, **{f"{APP}/values.yaml": bare}))
    fold(world)
    assert (world.root / APP / "values.yaml").read_text() == bare.replace("v1", "v4.18.0")


NAMES = [("int",), ("int", "int-1"), ("int", "int-1", "r2"), ("prod",), ("prod", "prod-2")]
FIELDS = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(0, 2), min_size=1)


@pytest.mark.requirement("FP11")
@given(
    overrides=st.dictionaries(st.sampled_from(NAMES), FIELDS, max_size=3),
    values=FIELDS,
    style=st.sampled_from([charts, manifests]),
)
def test_no_cell_that_has_the_patch_changes_again(
    tmp_path_factory: pytest.TempPathFactory, overrides: Any, values: Any, style: Any
) -> None:
    """Whatever overrides there are: promoting changes the cells that are reached, coalescing and folding none."""
    files = {
        f"{APP}/{'/'.join(prefix)}/override.yaml": patch(f"syncPolicy: {fields}")
        for prefix, fields in overrides.items()
    }
    world = World(tmp_path_factory.mktemp("any")).lay(style(**files, **{FIRST: patch(f"syncPolicy: {values}")}))
    for _ in range(8):
        before = world.merged()[0]
        done = step(world)
        after = world.merged()[0]
        reached = {
            "/".join(cell) for cell in done.located.fleet.config.cells() if done.place == cell[: len(done.place or "x")]
        }
        assert {cell for cell in CELLS if not same(before[cell], after[cell])} <= reached
        if done.problems or done.folded:
            break
    assert done.folded or done.problems or done.kept


@pytest.mark.requirement("F51")
def test_starting_a_patch_is_safe_to_repeat(world: World) -> None:
    text = patch("project: p", "id: nice-name")
    world.lay(
        charts(
            **{f"{APP}/patches/patch-001.yaml": text, "config/main/db/patches/other.yaml": "patch: {db: {project: p}}"}
        )
    )
    for name in ("nice-name", "patch-001", "main/web/patch-001"):
        fleet = load_fleet(world.root, world.context)
        writes = start_patch(fleet, name, world.context)
        assert bool(writes) is (name == "nice-name")
        write_changes(writes, world.root)
    assert places(world) == ["int/int-1/r1/patches", "patches"]
    assert sum("is started already" in event.message for event in world.events if isinstance(event, Noted)) == 2
    with pytest.raises(CommodoreError) as caught:
        start_patch(load_fleet(world.root, world.context), "nothing", world.context)
    assert caught.value.code == "CMD-FLT-070"
    world.lay({"config/main/db/patches/patch-001.yaml": "patch: {db: {project: p}}"})
    with pytest.raises(CommodoreError) as caught:
        start_patch(load_fleet(world.root, world.context), "patch-001", world.context)
    assert (caught.value.code, "main/db/patch-001 or main/web/patch-001" in caught.value.hint) == ("CMD-FLT-078", True)


def test_a_plan_says_what_promotions_do(world: World) -> None:
    world.lay(charts(**{FIRST: VERSION}))
    before = world.config()
    fleet = load_fleet(world.root, world.context)
    planned = list(plan(find_patch(fleet, "main", "web", "patch-001"), PromoteOptions()))
    assert world.config() == before
    assert [entry.approvals for entry in planned] == [(), (), ("prod",), ("prod/prod-2",), ()]
    assert all(len(entry.cells) == 1 and entry.changes[0][1:] == ("v4.17.0", "v4.18.0", 1) for entry in planned)
    for item in planned:
        assert plain(step(world)) == plain(item.step)
    assert planned[-1].step.folded is not None


def test_writing_new_files_before_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config/a").mkdir(parents=True)
    (tmp_path / "config/a/old").write_text("x")
    order: list[str] = []
    unlink = Path.unlink

    def watched(path: Path, **options: Any) -> None:
        order.append("new is there" if (tmp_path / "config/b/new").exists() else "too early")
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", watched)
    write_changes({tmp_path / "config/a/old": None, tmp_path / "config/b/new": b"y"}, tmp_path)
    assert order == ["new is there"]
    assert not (tmp_path / "config/a").exists()
