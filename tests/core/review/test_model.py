"""The change model: it says everything that differs, whichever side comes first, in whatever order objects come."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from commodore.core.review import PlacedObject, compare, field_changes
from commodore.core.review.values import identity, is_same
from tests.core.review.applying import apply_changes, apply_comparison, mirrored, mirrored_field

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([0.0, 1.0, -1.5]),
    st.sampled_from(["", "a", "b", "a: 1\n", "a: 2\nb: [1]\n", '{"a": 1}', '{"a": 2}', "line\nother\n"]),
)
KEYS = st.sampled_from(["name", "key", "ports", "env", "containers", "port", "protocol", "data", "x.y", "spec", "type"])


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(KEYS, inner, max_size=3).flatmap(
        lambda rest: st.builds(lambda name: {**rest, "name": name}, st.sampled_from("abcd"))
    )
    return st.one_of(
        st.lists(inner, max_size=4),
        st.lists(named, max_size=4, unique_by=lambda item: item["name"]),
        st.dictionaries(KEYS, inner, max_size=4),
    )


VALUES = st.recursive(SCALARS, containers, max_leaves=12)
OBJECTS = st.builds(
    lambda version, kind, name, namespace, rest: {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        **rest,
    },
    st.sampled_from(["v1", "apps/v1", "apps/v2"]),
    st.sampled_from(["ConfigMap", "Deployment"]),
    st.sampled_from("abc"),
    st.sampled_from("mn"),
    st.dictionaries(st.sampled_from(["spec", "data"]), VALUES, max_size=2),
)
PLACED = st.lists(st.builds(PlacedObject, OBJECTS, st.sampled_from(["a.yaml", "b.yaml"])), max_size=6)


def as_set(objects: list[PlacedObject]) -> list[bytes]:
    return sorted(identity([item.file, sort_keys(item.content)]) for item in objects)


def sort_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: sort_keys(value[key]) for key in sorted(value)}
    return [sort_keys(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=100)
@given(VALUES, VALUES)
def test_applied_to_the_old_value_it_gives_the_new_one(old: Any, new: Any) -> None:
    assert is_same(apply_changes(old, field_changes(old, new)), new)


@settings(max_examples=100)
@given(VALUES, VALUES)
def test_swapped_sides_give_the_mirror_image(old: Any, new: Any) -> None:
    result = sorted(repr(mirrored_field(change)) for change in field_changes(old, new))
    assert result == sorted(map(repr, field_changes(new, old)))


@settings(max_examples=60)
@given(PLACED, PLACED)
def test_applied_to_the_old_objects_it_gives_the_new_ones(old: list[PlacedObject], new: list[PlacedObject]) -> None:
    assert as_set(apply_comparison(old, compare(old, new))) == as_set(new)


@settings(max_examples=60)
@given(PLACED, PLACED)
def test_swapped_sets_give_the_mirror_image(old: list[PlacedObject], new: list[PlacedObject]) -> None:
    assert mirrored(compare(old, new)) == compare(new, old)


@settings(max_examples=100)
@given(PLACED, PLACED, st.randoms(use_true_random=False))
def test_the_order_of_objects_does_not_matter(
    old: list[PlacedObject], new: list[PlacedObject], chance: random.Random
) -> None:
    shuffled = compare(chance.sample(old, len(old)), chance.sample(new, len(new)))
    assert shuffled == compare(old, new)
