"""Health, soak and live dependencies."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import CommodoreError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.fleet.promotion.changing import find_patch
from commodore.fleet.promotion.gates import Conditions, check_gates, placed_since
from commodore.fleet.promotion.promoting import load_fleet
from commodore.fleet.promotion.status_file import FleetState, read_states
from tests.fleet.conftest import APP, CONFIG, World, charts, patch

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
FIRST = {f"{APP}/int/int-1/r1/patch-001.yaml": patch("source: {targetRevision: v5.0.0}")}
GOOD = {"health": "Healthy", "sync": "Synced", "revision": "v5.0.0"}
PLACE = ("int", "int-1", "r2")


def states(path: Path, cells: Any) -> FleetState:
    path.write_text(json.dumps({"cells": cells}))
    return read_states([str(path)], 900, DEFAULT_LIMITS)


def judge(world: World, state: FleetState | None, place: tuple[str, ...] = PLACE, health: bool = True) -> str:
    result = find_patch(load_fleet(world.root, world.context), "main", "web", "patch-001")
    try:
        check_gates(result, place, Conditions(lambda _: True, state, health, NOW), world.context)
    except CommodoreError as error:
        return f"{error.code}: {error.message}"
    return ""


@pytest.mark.requirement("F56", "F57")
@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"web": GOOD}, ""),
        ({"web": {**GOOD, "health": "Degraded"}}, "web (Degraded, Synced, at v5.0.0)"),
        ({"web": {**GOOD, "sync": "OutOfSync"}}, "web (Healthy, OutOfSync"),
        ({"web": {**GOOD, "revision": "v4.17.0"}}, "at v4.17.0"),
        ({"db": GOOD}, "web (state unknown)"),
        ({}, "state unknown"),
    ],
)
def test_health_of_the_cells_that_have_it(world: World, state: Any, said: str) -> None:
    world.lay(charts(**FIRST))
    result = judge(world, states(world.root / "s.json", {"main/int/int-1/r1": state}))
    assert (result == "") is (said == "")
    assert said in result
    assert judge(world, None, health=False) == ""
    assert judge(world, None).startswith("CMD-FLT-074: not healthy in main/int/int-1/r1")


@pytest.mark.requirement("F56")
@pytest.mark.parametrize(
    ("state", "code"),
    [
        ({**GOOD, "health": "Progressing"}, "CMD-FLT-068"),
        ({**GOOD, "health": "Missing"}, "CMD-FLT-068"),
        ({**GOOD, "sync": "OutOfSync"}, "CMD-FLT-068"),
        ({**GOOD, "revision": "v4.17.0"}, "CMD-FLT-068"),
        ({**GOOD, "health": "Degraded"}, "CMD-FLT-074"),
        ({**GOOD, "health": "Unknown"}, "CMD-FLT-074"),
        ({**GOOD, "sync": "Unknown"}, "CMD-FLT-074"),
        ({}, "CMD-FLT-074"),
    ],
)
def test_what_is_on_its_way_is_waited_for_and_what_is_broken_or_unknown_is_an_error(
    world: World, state: Any, code: str
) -> None:
    world.lay(charts(**FIRST))
    result = judge(world, states(world.root / "s.json", {"main/int/int-1/r1": {"web": state}}))
    assert result.startswith(code)


@pytest.mark.parametrize(("since", "ready"), [(59, ""), (29, "2026-01-31T12:01:00Z"), (61, "")])
def test_soak(world: World, since: int, ready: str) -> None:
    config = CONFIG.replace("{name: r1}", "{name: r1, soak: 30m}")
    world.lay(charts(**FIRST, **{"config/config.yaml": config}))
    healthy = (NOW - timedelta(minutes=since)).isoformat()
    result = judge(world, states(world.root / "s.json", {"main/int/int-1/r1": {"web": {**GOOD, "since": healthy}}}))
    assert (result == "") is (ready == "")
    if ready:
        assert result.startswith("CMD-FLT-075: int/int-1/r1 is healthy since 2026-01-31T11:31:00Z and soaks for 30m")
        assert ready in result


def git(root: Path, *words: str, at: datetime = NOW) -> None:
    dates = {"GIT_AUTHOR_DATE": at.isoformat(), "GIT_COMMITTER_DATE": at.isoformat()}
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, env={**os.environ, **dates})


def test_soak_by_the_commit_that_placed_the_patch_through_coalescing(world: World) -> None:
    world.lay(charts())
    git(world.root, "init", "-q")
    steps: list[tuple[dict[str, str | None], int]] = [
        ({f"{APP}/int/int-1/r1/patch-001.yaml": patch("project: old")}, 90),
        ({f"{APP}/int/int-1/r1/patch-001.yaml": None}, 80),
        ({f"{APP}/int/int-1/r1/patch-001.yaml": patch("project: p")}, 50),
        ({f"{APP}/int/int-1/r2/patch-001.yaml": patch("project: p")}, 40),
        (
            {
                **{f"{APP}/int/int-1/{name}/patch-001.yaml": None for name in ("r1", "r2")},
                f"{APP}/int/int-1/patch-001.yaml": patch("project: p"),
            },
            10,
        ),
    ]
    for files, minutes in steps:
        for path, text in files.items():
            if text is None:
                (world.root / path).unlink()
            else:
                world.lay({path: text})
        git(world.root, "add", "-A")
        git(world.root, "commit", "-qm", "x", at=NOW - timedelta(minutes=minutes))
    result = find_patch(load_fleet(world.root, world.context), "main", "web", "patch-001")
    assert {
        "/".join(cell): (NOW - time).total_seconds() / 60 for cell, time in placed_since(result, world.context).items()
    } == {
        "int/int-1/r1": 50,
        "int/int-1/r2": 40,
    }


def test_without_git_nothing_is_known(world: World) -> None:
    world.lay(charts(**FIRST))
    assert (
        placed_since(find_patch(load_fleet(world.root, world.context), "main", "web", "patch-001"), world.context) == {}
    )


@pytest.mark.parametrize(("state", "code"), [(None, "CMD-FLT-050"), ({}, "CMD-FLT-074"), ({"db": GOOD}, "CMD-FLT-068")])
def test_live_dependencies_are_judged_where_the_patch_goes(world: World, state: Any, code: str) -> None:
    text = patch("source: {targetRevision: v5.0.0}", "dependencies: [{/db/ready: true}]")
    world.lay(charts(**{f"{APP}/int/int-1/r1/patch-001.yaml": text}))
    given = None if state is None else states(world.root / "s.json", {"main/int/int-1/r2": state})
    assert judge(world, given, health=False).startswith(code)
    right = {"db": {**GOOD, "revision": "v1.13.3"}}
    assert judge(world, states(world.root / "s.json", {"main/int/int-1/r2": right}), health=False) == ""
