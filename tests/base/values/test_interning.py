"""Equal parts of plain data exist once, and nothing else changes."""

from __future__ import annotations

import marshal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.values.interning import Branch, InternTable

KEYS = st.one_of(st.sampled_from(["a", "b", "1", "true"]), st.integers(0, 1), st.booleans())
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.0, -0.0, 1.0, float("nan")]), st.text(max_size=3)
)
VALUES = st.recursive(
    SCALARS,
    lambda children: st.one_of(st.lists(children, max_size=3), st.dictionaries(KEYS, children, max_size=3)),
    max_leaves=20,
)


def exact(value: Any) -> bytes:
    """Tells 1 from True and 1.0, and one order of keys from another."""
    return marshal.dumps(value, 2)


@given(values=st.lists(VALUES, max_size=6), depth=st.integers(0, 4))
def test_everything_stays_what_it_is(values: list[Any], depth: int) -> None:
    """The order of keys, the types of keys and numbers; and so it is for what was shared already."""
    table, again = InternTable(depth), InternTable(depth)
    shared = [table.share(value) for value in values]
    assert list(map(exact, shared)) == list(map(exact, values))
    assert list(map(exact, map(again.share, shared))) == list(map(exact, values))
    assert list(map(exact, map(table.share, shared))) == list(map(exact, values))


@given(value=VALUES, depth=st.integers(0, 4))
def test_equal_values_are_one_object(value: Any, depth: int) -> None:
    table = InternTable(depth)
    item, other = (table.share(marshal.loads(exact(value))) for _ in range(2))
    assert item is other
    assert table.add(value) == table.add(item)


def test_parts_are_found_in_maps_that_differ() -> None:
    table = InternTable(2)
    item = table.share({"p": {"same": ["x" * 100], "own": 1}})
    other = table.share({"p": {"same": ["x" * 100], "own": 2}, "more": {}})
    assert item["p"]["same"] is other["p"]["same"]
    assert (item["p"]["own"], other["p"]["own"]) == (1, 2)


def test_records_name_each_value_once() -> None:
    table = InternTable(1)
    number = table.add({"a": [1], "b": [1]})
    assert table.records == [[1], Branch({"a": 0, "b": 0})]
    assert table.value(number) == {"a": [1], "b": [1]}


def test_plain_data_only() -> None:
    with pytest.raises(ValueError, match="unmarshallable"):
        InternTable(2).add({"a": object()})
