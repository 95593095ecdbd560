"""`--dynamic-fact KEY=VALUE`, case by case."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.events import Event, Warned, ignore
from commodore.core.lieutenant import parse_dynamic_facts
from tests.world.context import make_context


def parse(*entries: str) -> tuple[dict[str, Any], list[str]]:
    """The facts, and the codes of the warnings."""
    collected: list[Event] = []
    facts = parse_dynamic_facts(entries, make_context(announce=collected.append))
    return facts, [event.code for event in collected if isinstance(event, Warned)]


@pytest.mark.parametrize(
    ("entry", "facts"),
    [
        ("k=v", {"k": "v"}),
        ("k=a=b", {"k": "a=b"}),
        ("k= ", {"k": " "}),
        ("k=5", {"k": "5"}),
        ('k=json:""', {"k": ""}),
        ("k=json:5", {"k": 5}),
        ('k=json:{"a": [1, null]}', {"k": {"a": [1, None]}}),
        ("k=JSON:5", {"k": "JSON:5"}),
        ("a.b.c=v", {"a": {"b": {"c": "v"}}}),
        ("k=json:null", {}),
        ("a.b=json:null", {}),
        ("a..b=json:null", {}),
    ],
)
def test_what_an_entry_makes(entry: str, facts: dict[str, Any]) -> None:
    assert parse(entry) == (facts, [])


@pytest.mark.parametrize("entry", ["k", "=v", "k=", "=", ""])
def test_half_an_entry_is_left_out(entry: str) -> None:
    assert parse(entry) == ({}, ["CMD-API-030"])


def test_the_hint_shows_how_to_write_an_empty_text() -> None:
    collected: list[Event] = []
    parse_dynamic_facts(["k="], make_context(announce=collected.append))
    assert collected == [
        Warned("CMD-API-030", "dynamic fact left out: 'k=' is not KEY=VALUE", hint='for an empty text write k=json:""')
    ]


@pytest.mark.parametrize("text", ["{", "", "NaN", "-Infinity", "'a'", "[" * 100_000])
def test_bad_json_is_left_out_and_makes_no_parents(text: str) -> None:
    assert parse(f"a.b=json:{text}") == ({}, ["CMD-API-031"])


@pytest.mark.parametrize("key", ["a..b", "a.", ".a", "."])
def test_an_empty_part_of_a_key_is_left_out(key: str) -> None:
    assert parse(f"{key}=v") == ({}, ["CMD-API-032"])


@pytest.mark.parametrize("first", ["a.b=v", "a.b=json:[]", "a.b=json:false"])
def test_a_value_has_no_keys(first: str) -> None:
    facts, warnings = parse(first, "a.b.c=w", "a.b.c.d=w")
    assert facts == parse(first)[0]
    assert warnings == ["CMD-API-033", "CMD-API-033"]


def test_a_later_entry_wins_and_says_so() -> None:
    collected: list[Event] = []
    assert parse_dynamic_facts(["a.b=x", "a.c=y", "a.b=json:[1]"], make_context(announce=collected.append)) == {
        "a": {"b": [1], "c": "y"}
    }
    assert collected == [
        Warned(
            "CMD-API-034", "dynamic fact 'a.b' is given more than once: \"x\" is replaced by [1]", hint="give it once"
        ),
    ]


def test_keys_can_be_added_to_a_json_object() -> None:
    assert parse('a=json:{"x": 1}', "a.y=2") == ({"a": {"x": 1, "y": "2"}}, [])


@given(st.lists(st.text()))
def test_nothing_that_is_given_is_an_error(entries: list[str]) -> None:
    assert isinstance(parse_dynamic_facts(entries, make_context(announce=ignore)), dict)
