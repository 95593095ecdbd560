"""The next place of a patch: pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.limits import DEFAULT_LIMITS
from commodore.fleet.patches import covered, gaps
from commodore.fleet.promotion.next_place import coalesced, entered, is_foldable, left, next_prefix
from commodore.fleet.repository.config import FleetConfig, Prefix, covers, read_config
from tests.fleet.conftest import CONFIG
from tests.world.folders import write_files


def config_of(folder: Path, text: str = CONFIG) -> FleetConfig:
    write_files(folder, {"config/config.yaml": text})
    return read_config(folder, DEFAULT_LIMITS)


def path(text: str) -> Prefix:
    return tuple(text.split("/"))


@pytest.mark.requirement("F21")
@pytest.mark.parametrize(
    ("placements", "depth", "expected"),
    [
        ([], 2, "int/int-1/r1"),
        (["int/int-1/r1"], 2, "int/int-1/r2"),
        (["int/int-1/r1", "int/int-1/r2"], 2, "int/int-2"),
        (["int/int-1"], 2, "int/int-2"),
        (["int"], 2, "prod/prod-1"),
        (["int"], 1, "prod"),
        (["int"], 3, "prod/prod-1/r1"),
        (["int", "prod/prod-1"], 2, "prod/prod-2"),
        (["int", "prod"], 1, None),
        (["int/int-1/r1"], 3, "int/int-1/r2"),
    ],
)
def test_the_next_place(tmp_path: Path, placements: list[str], depth: int, expected: str | None) -> None:
    prefix = next_prefix(config_of(tmp_path), [path(placement) for placement in placements], depth)
    assert prefix == (path(expected) if expected else None)


@pytest.mark.parametrize(
    ("placements", "place", "expected"),
    [
        (["int/int-1/r1"], "int/int-1/r2", ["int/int-1/r2"]),
        (["int"], "prod/prod-1", ["prod", "prod/prod-1"]),
        (["int", "prod/prod-1"], "prod/prod-2", ["prod/prod-2"]),
        ([], "int/int-1/r1", ["int", "int/int-1", "int/int-1/r1"]),
    ],
)
def test_the_nodes_that_are_entered(tmp_path: Path, placements: list[str], place: str, expected: list[str]) -> None:
    result = entered(config_of(tmp_path), [path(placement) for placement in placements], path(place))
    assert ["/".join(node.prefix) for node in result] == expected


def test_the_nodes_that_are_left(tmp_path: Path) -> None:
    result = left(config_of(tmp_path), [path("int/int-1/r1"), path("int/int-1/r2")], path("int/int-2"))
    assert ["/".join(node.prefix) for node in result] == ["int/int-1", "int/int-1/r2"]


@pytest.mark.parametrize(
    ("placements", "expected"),
    [
        (["int/int-1/r1", "int/int-1/r2"], {"int/int-1": ["int/int-1/r1", "int/int-1/r2"]}),
        (["int/int-1", "int/int-2"], {"int": ["int/int-1", "int/int-2"]}),
        (["int/int-1/r1", "int/int-1/r2", "int/int-2"], {"int": ["int/int-1/r1", "int/int-1/r2", "int/int-2"]}),
        (["int"], {}),
    ],
)
def test_full_places_become_one_the_outermost_first(tmp_path: Path, placements: list[str], expected: Any) -> None:
    result = coalesced(config_of(tmp_path), [path(placement) for placement in placements], lambda *_: True)
    assert {"/".join(to): ["/".join(item) for item in those] for to, those in result} == expected


def test_what_is_not_allowed_is_tried_further_in(tmp_path: Path) -> None:
    placements = [path("int/int-1/r1"), path("int/int-1/r2"), path("int/int-2/r1")]
    result = coalesced(config_of(tmp_path), placements, lambda prefix, _: len(prefix) > 1)
    assert [to for to, _ in result] == [("int", "int-1"), ("int", "int-2")]


TREES = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=3), min_size=1, max_size=3)


@given(tree=TREES, depth=st.integers(1, 3), coalesce=st.booleans())
def test_repeated_promotion_reaches_every_cell_once(
    tmp_path_factory: pytest.TempPathFactory, tree: list[list[int]], depth: int, coalesce: bool
) -> None:
    environments = [
        {
            "name": f"e{a}",
            "sectors": [{"name": f"s{b}", "regions": [f"r{c}" for c in range(size)]} for b, size in enumerate(value)],
        }
        for a, value in enumerate(tree)
    ]
    text = {"dimensions": ["environments", "sectors", "regions"], "sequence": {"environments": environments}}
    config = config_of(tmp_path_factory.mktemp("any"), json.dumps({**text, "cluster_types": ["main"]}))
    placements: list[Prefix] = []
    reached: list[Prefix] = []
    while (place := next_prefix(config, placements, depth)) is not None:
        new = [cell for cell in config.cells() if covers(place, cell)]
        assert not set(new) & set(reached)
        reached += new
        before = set(covered(config, placements))
        placements.append(place)
        placements = finished(config, placements) if coalesce else placements
        assert before < set(covered(config, placements)) == set(reached)
        assert gaps(config, placements) == ()
    assert tuple(reached) == config.cells()
    if coalesce:
        assert is_foldable(config, placements)


def finished(config: FleetConfig, placements: Sequence[Prefix]) -> list[Prefix]:
    current = list(placements)
    for to, those in coalesced(config, placements, lambda *_: True):
        before = covered(config, current)
        current = [*(item for item in current if item not in those), to]
        assert covered(config, current) == before
    return sorted(current, key=config.prefixes().index)
