"""Paths of parameters: parsing, and errors about missing parameters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.errors import InputError, UsageError
from commodore.core.inventory.parameter_path import ParameterPath, format_path, look_up, parse_path

PARAMETERS: dict[Any, Any] = {
    "argocd": {"images": {"argocd": {"tag": "v1"}}, "hosts": ["a", {"b": "c"}], "empty": []},
    "labels": {"example.com/name": "x", "a.b": {"c": 1}, "": "nothing"},
    "ports": {80: "http", True: "yes", None: "no"},
    "facts": {"cloud": None},
}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a", ("a",)),
        ("a.b-c_d/e", ("a", "b-c_d/e")),
        ('a."b.c".d', ("a", "b.c", "d")),
        ("a.'b.c'.d", ("a", "b.c", "d")),
        (r'"a\"b\u00e9"', ('a"bé',)),
        ("a[0]", ("a", 0)),
        ("a[0][12].b", ("a", 0, 12, "b")),
        ('""', ("",)),
        ("it's.a b", ("it's", "a b")),
        ("1.2", ("1", "2")),
    ],
)
def test_texts_that_are_paths(text: str, path: ParameterPath) -> None:
    assert parse_path(text) == path


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("", ""),
        ("a.", ""),
        (".a", ".a"),
        ("a..b", ".b"),
        ("a[", "["),
        ("a[x]", "[x]"),
        ("a[-1]", "[-1]"),
        ("a]", "]"),
        ('a."b', '"b'),
        ('"a"b', "b"),
        ("a[0]b", "b"),
        (r'"\x"', r'"\x"'),
        ("a. b", " b"),
    ],
)
def test_texts_that_are_none_are_refused_with_the_place(text: str, rest: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_path(text)
    assert caught.value.code == "CMD-INV-040"
    place = f"syntax error at {rest!r}" if rest else "it ends too early"
    assert caught.value.message == f"{text!r} is not a valid path of a parameter: {place}"


@given(
    st.tuples(
        st.text(), st.lists(st.one_of(st.text(), st.integers(min_value=0, max_value=999_999_999)), max_size=5)
    ).map(lambda pair: (pair[0], *pair[1]))
)
def test_what_is_written_is_read_back(path: ParameterPath) -> None:
    assert parse_path(format_path(path)) == path


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("argocd.images.argocd.tag", "v1"),
        ("argocd.hosts[1].b", "c"),
        ('labels."example.com/name"', "x"),
        ('labels."a.b".c', 1),
        ('labels.""', "nothing"),
        ("ports.80", "http"),
        ("ports.true", "yes"),
        ("ports.null", "no"),
        ("facts.cloud", None),
    ],
)
def test_values_are_found(text: str, value: object) -> None:
    assert look_up(PARAMETERS, parse_path(text)) == value


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("argcd.images", "the hierarchy has no parameter 'argcd'", "did you mean 'argocd'?"),
        ("argocd.image", "parameter argocd has no key 'image'", "did you mean 'images'?"),
        ("argocd.images.argocd.tag.x", "parameter argocd.images.argocd.tag is text, and has no 'x'", "check"),
        ("argocd.hosts.x", "parameter argocd.hosts is a list, and has no 'x'", "its items are [0] to [1]"),
        ("argocd.hosts[2]", "parameter argocd.hosts has 2 items, and no [2]", "its items are [0] to [1]"),
        ("argocd.empty[0]", "parameter argocd.empty has 0 items, and no [0]", "the list is empty"),
        ("argocd.images[0]", "parameter argocd.images has no item [0]: it is a map", "check argocd.images"),
        ("facts.cloud.x", "parameter facts.cloud is null, and has no 'x'", "check facts.cloud"),
        ("labels.a.b.c", "parameter labels has no key 'a'", 'put a key with dots into quotes: labels."a.b"'),
        ("argocd:images", "the hierarchy has no parameter 'argocd:images'", "join keys by dots: argocd.images"),
        ("parameters.argocd", "the hierarchy has no parameter 'parameters'", "leave out 'parameters.'"),
        ("argocd.zzz", "parameter argocd has no key 'zzz'", "the keys there are 'empty', 'hosts', 'images'"),
    ],
)
def test_a_path_that_leads_nowhere_is_explained(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        look_up(PARAMETERS, parse_path(text))
    assert caught.value.code == "CMD-INV-041"
    assert caught.value.message == message
    assert hint in caught.value.hint
