"""The emitter against PyYAML with Kapitan's dumper, which decides what the right bytes are."""

from __future__ import annotations

import datetime
import enum
import os
import random
import re
import subprocess
import sys
from collections import OrderedDict
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kapitan.utils import PrettyDumper

from commodore.base.errors import InputError
from commodore.base.yaml import Emitter, MultilineStyle, dump, dump_stream

STYLES: list[MultilineStyle] = ["literal", "folded", "double-quotes"]

# How many documents the property tests compare. The long run of a release: COMMODORE_YAML_EXAMPLES=100000.
EXAMPLES = int(os.environ.get("COMMODORE_YAML_EXAMPLES", "150"))


def oracle(document: object, style: str = "literal") -> str:
    return yaml.dump(document, Dumper=PrettyDumper.get_dumper_for_style(style), indent=2, default_flow_style=False)


def oracle_stream(documents: list[Any], style: str = "literal") -> str:
    dumper = PrettyDumper.get_dumper_for_style(style)
    return yaml.dump_all(documents, Dumper=dumper, indent=2, default_flow_style=False)


FRAGMENTS = [
    *" \t\n\r\0\x07\x1b\x7f\x85\xa0\ufeff\u2028\u2029\ud800\ufffe\U0001f389é中",
    *"#,[]{}&*!|>'\"%@`?:-=~<.\\/0123456789eExXobZT+_",
    ": ",
    " #",
    "- ",
    "? ",
    "---",
    "...",
    "  ",
    "   ",
    "\n\n",
    " \n",
    "\n ",
    "\\n",
    "word",
    "another",
    "a-rather-long-word-without-blanks-that-fills-a-line",
    "x" * 79,
]
TYPED = [
    *("", "=", "<<", "~", "null", "Null", "yes", "No", "ON", "off", "y", "n", "true", "FALSE", "True", "tRUE"),
    *("0", "-0", "012", "08", "0o17", "0x1F", "0b11", "1_000", "_1", "1:30", "1:60", "190:20:30.15", "+12", "-1"),
    *("1.20", "1e3", "1.0e3", "1.0e+3", ".5", "5.", "-.5", ".inf", "-.INF", ".nan", ".NaN", "inf", "nan", "1.2.3"),
    *("2020-01-01", "2020-1-1", "2020-01-01T00:00:00Z", "2020-01-01 10:00:00.5 +02:00", "2020-01-01T1:00:00"),
    *("-", "--", "---", "--- a", "...", "...a", "- a", "? a", "?", ":", ":a", "a:", "a: b", "a #b", "a#b", "#a", "*"),
    *(
        "!",
        "&",
        "!a",
        "&a",
        "%a",
        "@a",
        "`a",
        "|",
        ">",
        "'",
        '"',
        "''",
        "'a'",
        "it's",
        'say "hi"',
        "{}",
        "[]",
        "{{ x }}",
    ),
    *(
        "yes\n",
        "1\n",
        "=\n",
        "a\n",
        "\n",
        "\n\n",
        "a\n\n",
        "\na",
        " a\nb",
        "a\n b",
        "a \nb",
        "a\nb ",
        "a\tb\nc",
        " ",
        "  ",
    ),
]
WORDS = st.lists(
    st.sampled_from(["a", "of", "it's", '"q"', "long-words", "x" * 30, "key:", "#", "é", "", "\t"]), max_size=60
)
STRINGS = st.one_of(
    st.sampled_from(TYPED),
    st.text(max_size=30),
    st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join),
    WORDS.map(" ".join),
    st.lists(WORDS.map(" ".join), max_size=4).map("\n".join),
    st.text(st.sampled_from("abcdefgh \\\"\n\té'"), max_size=300),
)
SCALARS = st.one_of(
    STRINGS,
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from([0.0, -0.0, 1e16, 1e-5, 1e300, 10**40, -(10**20), 123456789012345.0, 1.5e-7]),
)


def tame(text: str) -> str:
    """A key that the emitter writes itself. Most must be: one other key sends the whole document to PyYAML."""
    return re.sub("[\n\x85\u2028\u2029]", "_", text)[:122] or "k"


UNUSUAL_KEYS = st.one_of(
    STRINGS,
    st.sampled_from(["", "-", "? a", "k" * 122, "k" * 123, "é" * 122, "a" * 200, "two\nlines"]),
)
KEYS = st.integers(0, 19).flatmap(lambda roll: STRINGS.map(tame) if roll else UNUSUAL_KEYS)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda children: st.one_of(st.lists(children, max_size=5), st.dictionaries(KEYS, children, max_size=5)),
    max_leaves=25,
)
COMPARED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@COMPARED
@given(DOCUMENTS)
def test_any_document_has_the_bytes_of_pyyaml(document: Any) -> None:
    assert dump(document) == oracle(document)
    assert dump([document]) == oracle([document])


@COMPARED
@given(st.lists(DOCUMENTS, max_size=4))
def test_any_stream_has_the_bytes_of_pyyaml(documents: list[Any]) -> None:
    assert dump_stream(documents) == oracle_stream(documents)


@COMPARED
@given(STRINGS, st.integers(0, 45), st.sampled_from(STYLES))
def test_any_string_at_any_depth_has_the_bytes_of_pyyaml(text: str, depth: int, style: MultilineStyle) -> None:
    document: Any = {text[:100] or "k": text, "list": [text, [text]]}
    for level in range(depth):
        document = {"n": document} if level % 2 else [document]
    assert dump(document, style) == oracle(document, style)


def random_document(dice: random.Random, depth: int = 0) -> Any:
    roll = dice.random()
    if depth < 6 and roll < 0.3:
        keys = [random_text(dice) for _ in range(dice.randrange(6))]
        return {key if dice.random() < 0.01 else tame(key): random_document(dice, depth + 1) for key in keys}
    if depth < 6 and roll < 0.45:
        return [random_document(dice, depth + 1) for _ in range(dice.randrange(5))]
    if roll < 0.9:
        return random_text(dice)
    return dice.choice([None, True, False, 0, -1, 10**20, dice.random(), dice.random() * 10 ** dice.randrange(-20, 30)])


def random_text(dice: random.Random) -> str:
    roll = dice.random()
    if roll < 0.15:
        return dice.choice(TYPED)
    if roll < 0.4:
        return "".join(dice.choice(FRAGMENTS) for _ in range(dice.randrange(10)))
    if roll < 0.7:
        blank = dice.choice([" ", " ", " ", "  ", "\n", " \n"])
        return blank.join(
            dice.choice(["a", "of", "it's", '"q"', "x" * 30, "é", "-", "\t"]) for _ in range(dice.randrange(40))
        )
    return "".join(dice.choice("abc:#- 'é\"\n\\") for _ in range(dice.randrange(40)))


def test_thousands_of_random_documents_have_the_bytes_of_pyyaml() -> None:
    """Quicker per document than hypothesis, so that a long run can compare many of them."""
    for seed in range(EXAMPLES * 3):
        document = {"root": random_document(random.Random(seed))}
        assert dump(document) == oracle(document), f"seed {seed}"


@pytest.mark.parametrize("text", TYPED)
@pytest.mark.parametrize("style", STYLES)
def test_text_with_a_meaning_in_yaml(text: str, style: MultilineStyle) -> None:
    document = {text: text, "list": [text, {text: text}]}
    assert dump(document, style) == oracle(document, style)
    assert dump(text, style) == oracle(text, style)


def test_the_form_of_a_catalog_file() -> None:
    document = {
        "z": [{"b": 1, "a": None}, [], {}, ["nested", "twice"]],
        "a": {"script": "set -e\necho 'hi'\n", "keep": "text\n\n"},
        "octal": "012",
        "ü": "ü",
    }
    assert dump(document) == (
        "a:\n  keep: |+\n    text\n\n  script: |\n    set -e\n    echo 'hi'\n"
        "octal: '012'\n"
        "z:\n  - a: null\n    b: 1\n  - []\n  - {}\n  - - nested\n    - twice\n"
        '"\\xFC": "\\xFC"\n'
    )


@pytest.mark.parametrize(
    "documents",
    [
        [],
        [None],
        [None, None],
        [{}, [], {}],
        [{"a": 1}, None, {"b": 2}],
        ["text"],
        [{"a": 1}, "text", {"b": 2}],
        [{"a": "open\n\n"}],
        [{"a": "open\n\n"}, {"b": "open\n\n"}, {"c": 1}],
        [["open\n\n"], None],
        ["open\n\n", {"a": 1}],
        [1, 1.5, True, datetime.date(2020, 1, 1)],
        [[1], ["a", ["b"]], [[]], [{}]],
    ],
)
def test_streams_with_documents_of_every_kind(documents: list[Any]) -> None:
    assert dump_stream(documents) == oracle_stream(documents)


SHARED: dict[str, Any] = {"a": 1}
EMPTY_MAP: dict[str, Any] = {}
EMPTY_LIST: list[Any] = []
CYCLE: dict[str, Any] = {}
CYCLE["self"] = CYCLE


@pytest.mark.parametrize(
    "document",
    [
        {"one": SHARED, "two": SHARED},
        {"one": EMPTY_MAP, "two": EMPTY_MAP},
        [EMPTY_LIST, EMPTY_LIST],
        [EMPTY_LIST, {"x": EMPTY_LIST, "y": [[SHARED], SHARED]}],
        CYCLE,
        {1: "int", 2: "key"},
        {1: "mixed", "a": "keys"},
        {None: 1},
        {True: 1},
        {("a", "b"): 1},
        {"": 1},
        {"two\nlines": 1},
        {"long" * 50: {"a": [1]}},
        {"date": datetime.date(2020, 1, 1), "time": datetime.datetime(2020, 1, 1, 12, 30)},  # noqa: DTZ001
        {"tuple": (1, 2), "empty": (), "set": {"a"}, "bytes": b"abc"},
        {"after\x85": 1, "\ufeff": 2},
    ],
)
def test_the_unusual_goes_to_pyyaml(document: Any) -> None:
    assert dump(document) == oracle(document)
    stream = [{"first": 1}, document, {"last": ["x\n\n"]}]
    assert dump_stream(stream) == oracle_stream(stream)


def test_one_object_in_two_documents_needs_no_anchor() -> None:
    assert dump_stream([SHARED, SHARED]) == "a: 1\n---\na: 1\n"


class Text(str):
    __slots__ = ()


class Colour(enum.StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    "document",
    [
        {"a": object()},
        {"a": Text("x")},
        {Text("red"): 1},
        {Colour.RED: 1},
        {"a": OrderedDict(a=1)},
        object(),
    ],
)
def test_values_without_a_yaml_form_are_refused(document: Any) -> None:
    dump({"red": "x", "a": 1})  # the same strings are in the cache already
    with pytest.raises(InputError, match="cannot be written as YAML") as caught:
        dump(document)
    assert caught.value.code == "CMD-YAML-002"


def test_a_number_python_does_not_print_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        dump({"a": 10**6000})
    assert caught.value.code == "CMD-YAML-002"


def test_endless_nesting_is_refused() -> None:
    document: list[Any] = []
    for _ in range(100_000):
        document = [document]
    with pytest.raises(InputError) as caught:
        dump(document)
    assert caught.value.code == "CMD-YAML-003"


def test_an_emitter_stays_right_when_its_cache_is_full() -> None:
    emitter = Emitter()
    document = {f"key{number}": f"value {number}" for number in range(25_000)}
    assert emitter.dump(document) == emitter.dump(document)
    assert emitter.dump({"key1": "yes", "key2": "value 2"}) == "key1: 'yes'\nkey2: value 2\n"


def test_the_cache_does_not_depend_on_the_column() -> None:
    """A string that fits at one place must still be broken at another, and a key is not written as a value."""
    text = "several words " * 5
    document = {"short": text, "long" * 20: text, "x": [[[text]]], text: 1, "yes": "yes", "a": "yes\n"}
    emitter = Emitter()
    assert emitter.dump(document) == emitter.dump(document) == oracle(document)


def test_pyyaml_is_not_imported_for_ordinary_documents() -> None:
    code = (
        "import sys; from commodore.base.yaml import dump; dump({'a': ['b', 1, 'c\\nd', '\\u00e9']});"
        "sys.exit('yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": os.pathsep.join(sys.path)}).returncode == 0
