"""Differences between the parameters of two clusters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.documents import plain
from commodore.base.errors import InputError
from commodore.core.inventory import compare_parameters, render_difference

LEFT: dict[str, Any] = {
    "_reclass_": {"name": "one"},
    "_instance": "one",
    "facts": {"cloud": "a", "region": "r"},
    "gone": {"x": 1},
    "list": [1, {"a": 2}],
    "same": {"deep": [1, None, 1.5]},
    "script": "first\nsecond\nthird\n",
}
RIGHT: dict[str, Any] = {
    "_reclass_": {"name": "two"},
    "_instance": "two",
    "facts": {"cloud": "b", "region": "r", "x.y/z": True},
    "list": [1, {"a": "2"}],
    "same": {"deep": [1, None, 1.5]},
    "script": "first\nchanged\nthird\n",
}


def test_every_parameter_that_differs_once_and_sorted() -> None:
    assert plain(compare_parameters(LEFT, RIGHT)) == [
        {"path": "facts.cloud", "change": "changed", "left": "a", "right": "b"},
        {"path": 'facts."x.y/z"', "change": "added", "right": True},
        {"path": "gone", "change": "removed", "left": {"x": 1}},
        {"path": "list", "change": "changed", "left": [1, {"a": 2}], "right": [1, {"a": "2"}]},
        {"path": "script", "change": "changed", "left": LEFT["script"], "right": RIGHT["script"]},
    ]


def lines(left: Any, right: Any) -> list[str]:
    return [line.text for difference in compare_parameters(left, right) for line in render_difference(difference)]


def test_differences_as_text() -> None:
    """Texts of several lines are compared line by line."""
    assert lines(LEFT, RIGHT) == [
        *["@@ facts.cloud @@", "-a", "+b"],
        *['@@ facts."x.y/z" added @@', "+true"],
        *["@@ gone removed @@", "-x: 1"],
        *["@@ list @@", " - 1", "-- a: 2", "+- a: '2'"],
        *["@@ script @@", " first", "-second", "+changed", " third"],
    ]


def test_only_what_is_near_a_change_is_shown() -> None:
    numbers = [str(number) for number in range(20)]
    changed = [*numbers[:10], "x", *numbers[11:]]
    shown = lines({"a": "\n".join(numbers)}, {"a": "\n".join(changed)})
    assert shown == ["@@ a @@", " …", " 7", " 8", " 9", "-10", "+x", " 11", " 12", " 13"]


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, True), (1, 1.0), (1, "1"), (None, "null"), ([], {}), ([1], [True]), ({}, None), ([{}], [[]])],
)
def test_types_count(left: Any, right: Any) -> None:
    (difference,) = compare_parameters({"a": left}, {"a": right})
    assert (difference.path, difference.change) == (("a",), "changed")


def test_keys_of_different_types_are_different_keys() -> None:
    differences = compare_parameters({1: "a", "b": 0}, {"1": "a", "b": 0, None: 1, True: 2})
    assert [(difference.path, difference.change) for difference in differences] == [
        (("1",), "removed"),
        (("1",), "added"),
        (("null",), "added"),
        (("true",), "added"),
    ]


def test_what_is_no_number_equals_itself() -> None:
    assert compare_parameters({"a": float("nan")}, {"a": float("nan")}) == []


def test_one_parameter_only() -> None:
    assert [difference.path for difference in compare_parameters(LEFT, RIGHT, ("facts",))] == [
        ("facts", "cloud"),
        ("facts", "x.y/z"),
    ]
    assert [difference.change for difference in compare_parameters(LEFT, RIGHT, ("gone",))] == ["removed"]
    assert [difference.change for difference in compare_parameters(RIGHT, LEFT, ("gone", "x"))] == ["added"]
    assert plain(compare_parameters(LEFT, RIGHT, ("list", 1))) == [
        {"path": "list[1].a", "change": "changed", "left": 2, "right": "2"}
    ]
    assert [difference.right for difference in compare_parameters(LEFT, RIGHT, ("_instance",))] == ["two"]
    assert compare_parameters(LEFT, RIGHT, ("facts", "region")) == []
    with pytest.raises(InputError) as caught:
        compare_parameters(LEFT, RIGHT, ("fact",))
    assert caught.value.hint == "did you mean 'facts'?"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
MAPS = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)


@given(MAPS, MAPS)
def test_both_directions_tell_the_same(left: dict[str, Any], right: dict[str, Any]) -> None:
    opposite = {"added": "removed", "removed": "added", "changed": "changed"}
    there = compare_parameters(left, right)
    back = compare_parameters(right, left)
    assert [
        (difference.path, opposite[difference.change], difference.right, difference.left) for difference in there
    ] == [(difference.path, difference.change, difference.left, difference.right) for difference in back]
    assert bool(there) == (repr(sorted(left.items())) != repr(sorted(right.items()))) or left == right
    assert compare_parameters(left, left) == []
