"""YAML as Kubernetes reads it."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from commodore.base.errors import InputError, Location
from commodore.base.yaml.kube_scalars import scalar_text
from commodore.base.yaml.kube_yaml import DocumentLocation, Problem, read_documents, read_json, read_placed_documents


def read(text: str | bytes, problems: list[Problem] | None = None) -> Any:
    (value,) = read_documents(f"v: {text}" if isinstance(text, str) else text, place="a.yaml", problems=problems)
    return value["v"]


@pytest.mark.requirement("D6")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((word, True) for word in ("y", "Y", "yes", "Yes", "YES", "on", "On", "true", "True", "TRUE")),
        *((word, False) for word in ("n", "N", "no", "No", "NO", "off", "Off", "false", "False", "FALSE")),
        ("tRUE", "tRUE"),
        *((word, None) for word in ("~", "null", "Null", "")),
        ("012", 10),
        ("0o12", 10),
        ("0x1F", 31),
        ("0b11", 3),
        ("09", 9),
        ("-7", -7),
        ("1_000", 1000),
        ("1e3", 1000),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.0", 1),
        ("2024-01-02", "2024-01-02"),
        ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"),
        ("12:30:45", "12:30:45"),
        ("1:20", "1:20"),
        ("1e309", "1e309"),
        ("18446744073709551615", 18446744073709551615),
        ("9007199254740993", 9007199254740993),
        ('"yes"', "yes"),
        ("!!str 12", "12"),
        ("!!binary aGVsbG8=", "hello"),
        ("!mine x", "x"),
        ("=", "="),
        ('{"a": [1, 2.0]}', {"a": [1, 2]}),
    ],
)
def test_what_scalars_mean(text: str, value: Any) -> None:
    result = read(text)
    assert (result, type(result)) == (value, type(value))


@pytest.mark.requirement("D6")
def test_keys_are_texts() -> None:
    assert list(read_documents("true: a\n1: b\n1.5: c\nyes: d\n", place="a")) == [{"true": "d", "1": "b", "1.5": "c"}]


@pytest.mark.parametrize(
    "text",
    [
        "null: a",
        "v: .inf",
        "v: .nan",
        "? [a]\n: b",
        "v: !!int x",
        "v: *none",
        "v:\n\t- a",
        "<<: [[{a: 1}]]",
        "v: !!binary '*'",
    ],
)
def test_what_json_cannot_say_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        list(read_documents(text, place="a.yaml"))
    assert caught.value.code == "CMD-YAML-001"
    assert caught.value.locations[0].place == "a.yaml"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("<<: {a: 1}\na: 2", {"a": 2}),
        ("a: 2\n<<: {a: 1, b: 3}", {"a": 1, "b": 3}),
        ("a: {p: 2}\n<<: {a: {q: 1}}\na: {r: 3}", {"a": {"r": 3}}),
        ("<<: {a: 1}\n<<: {a: 5}", {"a": 5}),
        ("<<: [{a: 1}, {a: 2, b: 3}]", {"a": 1, "b": 3}),
        ("<<: {<<: {a: 1}, b: 2, a: 7}", {"a": 7, "b": 2}),
        ("!!merge <<: {a: 1}\nb: 2", {"a": 1, "b": 2}),
        ('!!merge "<<": {a: 1}', {"a": 1}),
        ('"<<": {a: 1}', {"<<": {"a": 1}}),
        ("!!str <<: {a: 1}", {"<<": {"a": 1}}),
        ("!!merge z: {a: 1}", {"z": {"a": 1}}),
        ("3.14159265: pi", {"3.1415927": "pi"}),
        ("18446744073709551616: more", {"1.8446744e+19": "more"}),
    ],
)
def test_keys_and_merges(text: str, value: object) -> None:
    """As sigs.k8s.io/yaml 1.6 reads them."""
    assert list(read_documents(text, place="a")) == [value]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (True, "true"),
        (20240101, "20240101"),
        (0.1, "0.1"),
        (3.14159265, "3.1415927"),
        (123456.5, "123456.5"),
        (1e-7, "1e-07"),
        (1e300, "+Inf"),
    ],
)
def test_scalars_where_texts_belong(number: int | float, text: str) -> None:
    """As sigs.k8s.io/yaml 1.6 makes texts of them."""
    assert scalar_text(number) == text


@pytest.mark.requirement("D6")
def test_an_anchor_may_be_set_anew() -> None:
    """An alias means what bore the anchor last, in its document; what precedes a mistake is given."""
    text = "a: &x 1\n---\nb: &x 2\nc: *x\nd: &x [3]\ne: *x\n---\n- &y 4\n- &y 5\n- *x\n"
    documents = read_placed_documents(text, place="a")
    assert [next(documents), next(documents)] == [({"a": 1}, 1), ({"b": 2, "c": 2, "d": [3], "e": [3]}, 3)]
    with pytest.raises(InputError, match="found undefined alias 'x'"):
        next(documents)


def test_aliases_are_copies() -> None:
    (value,) = read_documents("a: &a {x: 1}\nb: *a\n", place="a")
    value["a"]["x"] = 2
    assert value["b"] == {"x": 1}


def test_a_key_that_stands_twice_is_told() -> None:
    problems: list[Problem] = []
    assert list(read_documents("a: 1\nb: 2\na: 3\n", place="a", problems=problems)) == [{"a": 3, "b": 2}]
    assert problems == [("the key 'a' is set twice", 3)]


def test_documents_with_their_lines() -> None:
    text = "---\n# nothing\n---\na: 1\n---\n\nb: 2\n"
    assert list(read_placed_documents(text, place="a")) == [({"a": 1}, 4), ({"b": 2}, 7)]


def test_what_precedes_a_mistake_is_given() -> None:
    documents = read_documents("a: 1\n---\nb: [\n", place="a")
    assert next(documents) == {"a": 1}
    with pytest.raises(InputError):
        next(documents)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks(encoding: str) -> None:
    assert read("v: ü".encode(encoding)) == "ü"


def test_aliases_that_multiply_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(InputError) as caught:
        list(read_documents("\n".join(lines), place="a"))
    assert caught.value.code == "CMD-YAML-004"


@pytest.mark.requirement("D75")
def test_aliases_that_multiply_are_counted_and_not_resolved() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 9)}]" for number in range(1, 10)]
    text = "\n".join(rows)
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            list(read_documents(text, place="a"))
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        list(read_documents("[" * 100_000, place="a"))
    assert caught.value.code == "CMD-YAML-003"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("", 4),
        ("metadata.name", 5),
        ("spec.sources", 7),
        ("spec.sources[1]", 9),
        ("spec.sources[1].path", 10),
        ("spec.sources.second.path", 10),
        ("spec.sources[7].path", 7),
        ("spec.missing.path", 6),
        ("missing", 4),
    ],
)
def test_lines_of_fields(path: str, line: int) -> None:
    """A field that is not there is where the nearest one above it is."""
    stream = "# first\na: 1\n---\nkind: A\nmetadata: {name: a}\nspec:\n  sources:\n  - name: first\n"
    stream += "  - name: second\n    path: x\n---\nspec: {}\n"
    assert DocumentLocation("x.yaml", 4, content=stream.encode()).at(path) == Location("x.yaml", line)
    if path.startswith("spec."):
        below = DocumentLocation("x.yaml", 4, content=stream.encode()).below("spec")
        assert InputError("CMD-YAML-001", "", locations=[below]).locations == (Location("x.yaml", 6),)
        assert below.at(path.removeprefix("spec.")).line == line


def test_json() -> None:
    assert read_json('{"a": 1.0, "b": 1.5}', place="a") == {"a": 1, "b": 1.5}
    for text in ("{", "[NaN]", "{} {}"):
        with pytest.raises(InputError) as caught:
            read_json(text, place="a.json")
        assert caught.value.code == "CMD-YAML-001"
