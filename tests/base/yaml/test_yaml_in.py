"""The loader: YAML 1.1 as PyYAML's safe loader reads it, and errors with a place."""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from commodore.base.errors import InputError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.yaml import compose, compose_all, dump_stream, load, load_all, load_rendered


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: yes", {"a": True}),
        ("a: y", {"a": "y"}),
        ("a: 012", {"a": 10}),
        ("a: 0o12", {"a": "0o12"}),
        ("a: 1:30", {"a": 90}),
        ("a: 1e3", {"a": "1e3"}),
        ("a: 1.0e+3", {"a": 1000.0}),
        ("a: ~", {"a": None}),
        ("a:", {"a": None}),
        ("a: 2020-01-02", {"a": datetime.date(2020, 1, 2)}),
        ("base: &b {x: 1, y: 1}\nc: {<<: *b, y: 2}", {"base": {"x": 1, "y": 1}, "c": {"x": 1, "y": 2}}),
        ("a: 1\na: 2", {"a": 2}),
        ("- =\n- {a: =}", ["=", {"a": "="}]),
        ("", None),
        ("# nothing\n", None),
        ("---\n", None),
        ("text", "text"),
        ("ü: ü", {"ü": "ü"}),
        (b"\xc3\xbc: 1", {"ü": 1}),
        (b"\xef\xbb\xbfa: 1", {"a": 1}),
        ("a: 1".encode("utf-16"), {"a": 1}),
    ],
)
def test_yaml_1_1(text: str | bytes, value: Any) -> None:
    assert load(text, place="a.yaml") == value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("---\n", [None]),
        ("---\n---\n", [None, None]),
        ("a: 1\n---\n\n---\nb: 2\n", [{"a": 1}, None, {"b": 2}]),
        ("--- null\n...\n--- [1]\n", [None, [1]]),
        ("# only a comment\n", []),
    ],
)
def test_streams(text: str, values: list[Any]) -> None:
    assert load_all(text, place="a.yaml") == values


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("a: [1,\nb", "d/a.yaml:3:1", "did not find expected ',' or ']'"),
        ("a: b: c", "d/a.yaml:1:5", "mapping values are not allowed"),
        ("a: 1\n b: 2", "d/a.yaml:2:3", "mapping values are not allowed"),
        ("a:\n  b: *x", "d/a.yaml:2:6", "undefined alias"),
        ("a: 1\nb: !secret x", "d/a.yaml:2:4", "!secret"),
        ("a: !!python/object/apply:os.getcwd []", "d/a.yaml:1:4", "python/object"),
        ("? [a]\n: b", "d/a.yaml:1:3", "unhashable key"),
        ("a: 1\nb: 2020-13-45", "d/a.yaml:2:4", "cannot be read as timestamp"),
        ("a: !!int x", "d/a.yaml:1:4", "cannot be read as int"),
        ("a: 0x_", "d/a.yaml:1:4", "cannot be read as int"),
        ("a: !!bool x", "d/a.yaml:1:4", "cannot be read as bool"),
        ("a: " + "9" * 5000, "d/a.yaml:1:4", "cannot be read as int"),
        ("a: 1\nb: \x01", "d/a.yaml:2", "control characters are not allowed (at character 8)"),
        (b"a: 1\nb: \xff", "d/a.yaml:2", "invalid leading UTF-8 octet (at byte 8)"),
        ("a: \ud800", "d/a.yaml", "invalid Unicode"),
        ("a: @x", "d/a.yaml:1:4", "found character that cannot start any token"),
    ],
)
def test_an_error_names_its_place(text: str | bytes, place: str, problem: str) -> None:
    for read in (load, load_all):
        with pytest.raises(InputError) as caught:
            read(text, place="d/a.yaml")
        assert caught.value.code == "CMD-YAML-001"
        assert caught.value.message.startswith("d/a.yaml is not valid YAML: ")
        assert problem in caught.value.message
        assert [str(location) for location in caught.value.locations] == [place]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a:\n\tb: 1", "indent with blanks instead of tabs"),
        (b"a:\n\tb: 1", "indent with blanks instead of tabs"),
        ("a: @x", "put text that begins with '@' into quotes"),
        ("a: `x`", "put text that begins with '`' into quotes"),
        ("a: %x", "put text that begins with '%' into quotes"),
        (
            "a: b: c",
            "correct it there or shortly before; text with ': ', ' #', quotes or brackets needs quotes around it",
        ),
        ("a: &a [*a]", "write out its value; a value cannot contain itself"),
        ("a: " + "9" * 5000, "put it into quotes if it is text, or correct it"),
        ("a: \0", "save it as UTF-8, without control characters"),
        (b"a: \xff", "save it as UTF-8, without control characters"),
    ],
)
def test_common_mistakes_get_a_hint(text: str | bytes, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        load(text, place="a.yaml")
    assert caught.value.hint == hint


def test_one_document_only() -> None:
    with pytest.raises(InputError, match="expected a single document") as caught:
        load("a: 1\n---\nb: 1", place="a.yaml")
    assert [str(location) for location in caught.value.locations] == ["a.yaml:2:1"]


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 100_000])
def test_endless_nesting_is_refused(text: str) -> None:
    """libyaml recurses in C: without a limit such a file ends the process."""
    with pytest.raises(InputError) as caught:
        load_all(text, place="a.yaml")
    assert caught.value.code == "CMD-YAML-003"
    assert "a.yaml is nested more than 256 levels deep" in caught.value.message


def test_deep_nesting_is_read_up_to_the_limit_and_written_again() -> None:
    depth = DEFAULT_LIMITS.yaml_depth - 1
    documents = load_all("[" * depth + "1" + "]" * depth, place="a.yaml")
    assert load_all(dump_stream(documents), place="a.yaml") == documents


def test_the_loaders_of_others_stay_as_they_are() -> None:
    code = (
        "import yaml; from commodore.base.yaml import load; assert load('a: =', place='x') == {'a': '='}\n"
        "for loader in (yaml.SafeLoader, yaml.CSafeLoader):\n"
        "    assert 'tag:yaml.org,2002:value' not in loader.yaml_constructors"
    )
    subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}, check=True)


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(st.characters(codec="utf-8"))
    ),
    lambda children: st.one_of(
        st.lists(children, max_size=4), st.dictionaries(st.text(st.characters(codec="utf-8")), children, max_size=4)
    ),
    max_leaves=15,
)


@settings(max_examples=200, deadline=None)
@given(st.lists(VALUES, max_size=3))
def test_what_is_written_is_read_again(documents: list[Any]) -> None:
    assert load_all(dump_stream(documents), place="a.yaml") == documents


@settings(max_examples=300, deadline=None)
@given(st.text("ab:- \n\t#'\"{}[]&*!|>%@=<~?.,01\\", max_size=40))
def test_any_text_is_read_as_pyyaml_reads_it_or_refused(text: str) -> None:
    try:
        expected = list(yaml.load_all(text, yaml.CSafeLoader))
    except Exception as error:
        if "2002:value" not in str(error):
            with pytest.raises(InputError):
                load_all(text, place="a.yaml")
    else:
        assert repr(load_all(text, place="a.yaml")) == repr(expected)


def test_compose_gives_nodes_with_their_places() -> None:
    """Merge keys stay as they are written."""
    (root,) = compose("a: &a {b: 1}\nc: {<<: *a, b: 2}\n", place="x.yml")
    assert [key.value for key, _ in root.value] == ["a", "c"]
    assert [key.value for key, _ in root.value[1][1].value] == ["<<", "b"]
    assert (root.value[1][0].start_mark.line, root.value[1][0].start_mark.column) == (1, 0)


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("# x\n", 0), ("---\n", 1), ("a\n---\nb\n", 2), ("a\n---\nb\n---\n{", 2)]
)
def test_compose_looks_at_two_documents(text: str, count: int) -> None:
    assert len(compose(text, place="x.yml")) == count


@pytest.mark.parametrize(
    "text", ["a: {", "a: !x 1", "a: 2001-99-99", "? {a: b}\n: c", b"\xff", "a: &a {<<: 1}", "[" * 300]
)
def test_compose_refuses_what_load_refuses(text: str | bytes) -> None:
    with pytest.raises(InputError) as loading:
        load(text, place="x.yml")
    with pytest.raises(InputError) as composing:
        compose(text, place="x.yml")
    assert str(composing.value) == str(loading.value)
    assert composing.value.locations == loading.value.locations


@pytest.mark.parametrize("read", [load, load_all, load_rendered, compose, compose_all])
@pytest.mark.parametrize(("text", "line"), [("a: &a [*a]", 1), ("x: 1\ny: &y\n  z: &z {y: *y, z: 1}\n", 2)])
def test_an_alias_that_leads_into_itself(read: Callable[..., Any], text: str, line: int) -> None:
    """Everything that it stands for has no end, and cannot be written."""
    with pytest.raises(InputError) as caught:
        read(text, place="f.yaml")
    assert caught.value.code == "CMD-YAML-001"
    assert caught.value.message == "f.yaml is not valid YAML: an alias refers to itself"
    assert [place.line for place in caught.value.locations] == [line]
