"""The quick way to read YAML gives what PyYAML's nodes give, or leaves the text to them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.yaml import load_all
from commodore.base.yaml._loader import Loader
from commodore.base.yaml._quick import NotPlainError, load_plain
from tests.world.sampling import EXHAUSTIVE

_WORDS = "a|b c|yes|No|~|null|012|0x1f|1_000|1e3|1.5|.nan|-.inf|190:20:30|=|<<|2020-01-02|2020-01-02T03:04:05Z"
_SIGNS = "'¦\"¦'q'¦\"\\u00e9\"¦é¦\u2028¦\ufeff¦#c¦ #c"
_MARKS = " ¦\t¦: ¦:¦- ¦? ¦[¦]¦{¦}¦, ¦\\¦%¦---¦&x ¦*x¦!!str ¦!!int ¦!t ¦! ¦!!set ¦@¦`"
_LINES = "\n¦\n  ¦\n    ¦|\n¦>-\n¦|2+\n¦\n---\n¦\n...\n"
PIECES = [*_WORDS.split("|"), *_SIGNS.split("¦"), *_MARKS.split("¦"), *_LINES.split("¦"), "!!binary "]


def by_nodes(text: str | bytes) -> list[Any]:
    """Everything that PyYAML makes of a text by its nodes."""
    loader = Loader(text)
    documents = []
    try:
        while loader.check_data():  # type: ignore[no-untyped-call]
            documents.append(loader.get_data())
    finally:
        loader.dispose()
    return documents


def check(text: str | bytes) -> None:
    try:
        plain = load_plain(text)
    except NotPlainError:
        return
    assert repr(plain) == repr(by_nodes(text))  # NaN is not equal to itself; 1, 1.0 and True are equal


@settings(max_examples=1500 if EXHAUSTIVE else 400)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@example("a: 1\na: 2\nb: {c: [d, ~], ? e : f}\n--- |\n  x\n...\n---\n")
@example("- =\n- a: =\n  =: b\n")
def test_any_text(text: str) -> None:
    check(text)


@settings(max_examples=300 if EXHAUSTIVE else 100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
        ),
        max_leaves=20,
    )
)
def test_what_pyyaml_writes(value: Any) -> None:
    import yaml

    for flow in (True, False, None):
        check(yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True))


@pytest.mark.parametrize(
    "text",
    [
        *("&x a", "[&x [1], *x]", "*x", "!!str 1", "! 1", "{<<: {a: 1}}", "<<", "? [a]\n: b", "{{a: 1}: 2}", "a: ]"),
        *("'", "a: b: c", "9999-99-99", "\x00", "- 08:61\n- 1999-13-13", "[" * 300 + "]" * 300),
    ],
)
def test_what_is_left_to_pyyaml(text: str) -> None:
    with pytest.raises(NotPlainError):
        load_plain(text)


def test_the_depth_at_which_it_is_left_to_pyyaml() -> None:
    """Nothing that PyYAML's reader refuses as too deep gets through."""
    for depth in range(DEFAULT_LIMITS.yaml_depth - 4, DEFAULT_LIMITS.yaml_depth + 2):
        for inside in ("", "a"):
            check("[" * depth + inside + "]" * depth)


@pytest.mark.parametrize("text", ["", "# nothing", "---", "a\n", "--- a\n--- b\n", "\ufeffa: 1".encode("utf-16")])
def test_documents(text: str | bytes) -> None:
    assert load_plain(text) == by_nodes(text) == load_all(text, place="text")
