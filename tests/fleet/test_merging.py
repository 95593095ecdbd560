"""Deep merging: maps merge, everything else is replaced, nothing is shared."""

from __future__ import annotations

import copy as copying
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.fleet.merging import copy, leaves, merge, overlap, same

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
KEYS = st.sampled_from("abcd")
TREES = st.recursive(SCALARS | st.lists(SCALARS, max_size=3), lambda inner: st.dictionaries(KEYS, inner, max_size=4))
MAPS = st.dictionaries(KEYS, TREES, max_size=4)
ONLY_MAPS = st.recursive(st.integers(), lambda inner: st.dictionaries(KEYS, inner, min_size=1, max_size=4))


@pytest.mark.requirement("F34", "F35", "F36")
def test_maps_merge_and_the_rest_is_replaced() -> None:
    base = {"a": {"x": 1, "y": [1, 2]}, "b": 1, "c": {"d": 1}}
    over = {"e": 0, "a": {"y": [3]}, "b": {"z": 1}, "c": None}
    merged = merge(base, over)
    assert merged == {"a": {"x": 1, "y": [3]}, "b": {"z": 1}, "c": None, "e": 0}
    assert list(merged) == ["a", "b", "c", "e"]  # replaced keys keep their place, new ones go to the end


@pytest.mark.requirement("F19")
@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ({}, [2, 3]),
        ({"append": ...}, [1, 2, 2, 2, 3]),
        ({"append-unique": ...}, [1, 2, 2, 3]),
        ({"replace": ...}, [2, 3]),
    ],
)
def test_lists_follow_their_strategy(strategy: dict[str, Any], expected: list[int]) -> None:
    words = {("a", "l"): next(iter(strategy))} if strategy else {}
    assert merge({"a": {"l": [1, 2, 2]}}, {"a": {"l": [2, 3]}}, words) == {"a": {"l": expected}}


def test_appending_where_there_is_no_list_sets_it() -> None:
    assert merge({}, {"a": [1, 1]}, {("a",): "append"}) == {"a": [1, 1]}
    assert merge({"a": None}, {"a": [1]}, {("a",): "append"}) == {"a": [1]}
    assert merge({}, {"a": [1, 1]}, {("a",): "append-unique"}) == {"a": [1, 1]}
    assert merge({}, {"a": {"b": [1, 1]}}, {("a", "b"): "append-unique"}) == {"a": {"b": [1, 1]}}


def test_changes_of_kind_are_told() -> None:
    collected: list[tuple[Any, ...]] = []
    merge(
        {"a": {"b": {"c": 1}}, "n": None, "s": 1},
        {"a": {"b": "x"}, "n": {}, "s": "t"},
        changed=lambda *item: collected.append(item),
    )
    assert collected == [(("a", "b"), {"c": 1}, "x")]


@pytest.mark.requirement("F37")
@given(MAPS, MAPS)
def test_merging_changes_nothing_and_shares_nothing(base: Any, over: Any) -> None:
    before = copying.deepcopy((base, over))
    merged = merge(base, over)
    assert (base, over) == before
    ours = {id(part) for part in parts(merged)}
    assert not ours & {id(part) for item in (base, over) for part in parts(item)}


def parts(value: Any) -> list[Any]:
    """All maps and lists in a value."""
    if not isinstance(value, (dict, list)):
        return []
    inner = value.values() if isinstance(value, dict) else value
    return [value, *(part for item in inner for part in parts(item))]


@given(MAPS)
def test_a_map_merged_with_itself_or_nothing_is_itself(value: Any) -> None:
    assert same(merge(value, value), value)
    assert same(merge(value, {}), value)
    assert same(merge({}, value), value)
    assert same(copy(value), value)


@given(st.dictionaries(KEYS, ONLY_MAPS), st.dictionaries(KEYS, ONLY_MAPS), st.dictionaries(KEYS, ONLY_MAPS))
def test_merging_is_associative_where_kinds_agree(a: Any, b: Any, c: Any) -> None:
    changes: list[Any] = []
    left = merge(merge(a, b, changed=lambda *item: changes.append(item)), c, changed=lambda *item: changes.append(item))
    right = merge(
        a, merge(b, c, changed=lambda *item: changes.append(item)), changed=lambda *item: changes.append(item)
    )
    assert changes or left == right


def test_equality_counts_types() -> None:
    assert not same(True, 1)
    assert not same(1, 1.0)
    assert not same("1", 1)
    assert not same({"a": [True]}, {"a": [1]})
    assert same({"a": [1, None]}, {"a": [1, None]})


def test_paths() -> None:
    assert list(leaves({"a": {"b": 1, "c": {}}, "d": [1]})) == [(("a", "b"), 1), (("a", "c"), {}), (("d",), [1])]
    assert overlap(("a",), ("a", "b"))
    assert overlap(("a", "b"), ("a", "b"))
    assert not overlap(("a", "b"), ("a", "c"))
