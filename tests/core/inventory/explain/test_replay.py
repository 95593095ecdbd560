"""Replaying a chain gives what reclass-rs renders: for generated hierarchies, odd ones, and the example world."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from commodore.base.errors import CommodoreError
from commodore.core.inventory import compiled_preview, compiled_targets
from commodore.core.inventory.explain import Explaining
from commodore.core.inventory.explain.model import agrees
from tests.core.inventory.explain.examples import write_example_inventory
from tests.core.inventory.explain.hierarchies import every_path, write
from tests.world.context import make_context
from tests.world.sampling import EXHAUSTIVE

pytestmark = pytest.mark.tools

# The first letter of a key determines its type, so that most hierarchies can be rendered: map, list, or scalar.
MAPS, LISTS, SCALARS = ("m", "mm"), ("l", "ll"), ("s", "ss")


# The first class, so that most references lead somewhere.
INNER = {"m": {"s": 1}, "mm": {"l": [1]}, "l": [2], "ll": [], "s": 3, "ss": "t"}
BASE = {"m": INNER, "mm": {**INNER, "m": {"m": {"s": 4}}}, "l": [5], "ll": [6], "s": "u", "ss": None}


def reference(last: tuple[str, str]) -> st.SearchStrategy[str]:
    steps = st.lists(st.sampled_from(MAPS), max_size=2)
    defaults = {LISTS: ["", "::[]", "::[7]"], SCALARS: ["", "::7", "::"], MAPS: ["", "::m: {}", "::s: ${s}"]}
    return st.builds(
        lambda above, key, default: "${" + ":".join([*above, key]) + default + "}",
        steps,
        st.sampled_from(last),
        st.sampled_from(defaults[last]),
    )


def value(key: str, depth: int) -> st.SearchStrategy[Any]:
    if key in MAPS:
        inner = parameters(depth + 1) if depth < 3 else st.just({})
        return st.one_of(inner, inner, inner, reference(MAPS), st.none())
    if key in LISTS:
        item = st.one_of(st.integers(0, 3), reference(SCALARS), st.fixed_dictionaries({"s": reference(SCALARS)}))
        return st.one_of(st.lists(item, max_size=2), st.lists(item, max_size=2), reference(LISTS), st.none())
    plain = st.sampled_from([1, 1.5, True, None, "text", r"\${s}", r"\\${s::2}", "${${ss::s}::3}"])
    embedded = st.builds("x{}y".format, reference(SCALARS) | reference(LISTS) | reference(MAPS))
    return st.one_of(plain, plain, reference(SCALARS), embedded)


@st.composite
def parameters(draw: st.DrawFn, depth: int = 0) -> dict[str, Any]:
    explanation = {}
    for key in draw(st.lists(st.sampled_from(MAPS + LISTS + SCALARS), max_size=4, unique=True)):
        mark = draw(st.sampled_from(["", "", "", "", "", "~", "="]))
        explanation[mark + key] = draw(value(key, depth))
    return explanation


@settings(max_examples=30 if EXHAUSTIVE else 10)
@given(st.lists(parameters(), min_size=1, max_size=4))
def test_made_up_hierarchies(classes: list[dict[str, Any]]) -> None:
    """For every parameter of a hierarchy, and every reference that was followed."""
    with tempfile.TemporaryDirectory() as folder:
        preview = write(Path(folder), [yaml.safe_dump(part) for part in (BASE, *classes)])
        try:
            explaining = Explaining.of(preview, make_context())
        except CommodoreError:
            assume(False)
        for path in every_path(explaining.parameters):
            for explanation in explaining.explain(path).everything():
                assert explanation.complete, (explanation, classes)
                assert agrees(explanation)


@pytest.mark.parametrize(
    "classes",
    [
        # Keys that are marked, or repeated, within one map.
        ["a: {b: [0]}", "a: {b: [1], ~b: [2]}"],
        ["a: {b: [0]}", "a: {~b: [2], b: [1]}"],
        ["a: {l: [0]}", "a: '${x}'\nx: {l: [1]}", "x: {~l: [2]}", "x: {l: [3]}"],
        ["a: {=b: 1}", "~a: {b: 2}", "a: {b: 3}"],
        ["a: {=~b: [1], ~~c: 1}"],
        ["a: {<<: {p: [1]}, ~p: [2]}", "a: {<<: [{q: 1}, {q: 2, r: 3}]}"],
        # References that lead into maps which references bring, and back.
        ["f: '${a:b:x:y}'\na: {b: '${a:c}', c: '${d}'}\nd: '${e}'\ne: {x: {y: 1}}"],
        ["s: '${l:x}'\nl: {x: 1}", "l: {y: '${s}'}"],
        ["c: {x: 1, y: '${c:x}', z: '${c:y}'}\ni: {}", "i: {x: '${i:k}', k: 8}", "c: '${i}'"],
        ["a: {b: '${no:such}'}", "a: {b: 2}"],
        ["a: '${x}'\nx: null", "a: {c: 2}"],
        # Values in texts.
        ["a: {x: '${q}', z: 1}\nq: 1\ns: 'z${a}'", "a: {y: '${q}'}\nt: 'z${q}'\nb: {k: '${q}'}\nu: 'z${b}'"],
        ["s: 'p${a}'\na: [1, 2.5, 1.0e-7, 1.0e+20, null, true, 'q\"', {y: 1, x: é}]"],
        ["s: 'p${a}${b}${c}${d}'\na: 1.0\nb: true\nc: null\nd: 1.0e+20"],
        [r"s: '\${a}'", r"t: '\\\${a} $[x] \$[x] $x }'" + "\na: 1"],
        # The values of YAML.
        [
            "a: [yes, True, tRue, Null, ~, 012, 0o17, 0x1F, 0X1f, 0b11, +1, -012, 1_000]",
            "a: [1., .5, 1e3, 1e400, .inf, -.Inf]",
        ],
        ["a: [2020-01-01, 1:30, '1', !!str 1, !!int '3', !!float 1, 18446744073709551615, -0, 0.1e, '', e1, +.5]"],
        ['a: |\n  text\n  of lines\nb: >-\n  folded\n  text\nc: "\\x41"\n"\\x64": 1'],
        ["a: .nan"],
    ],
)
def test_corners(classes: list[str], tmp_path: Path) -> None:
    """Behaviour of reclass-rs for unusual and for usual classes."""
    explaining = Explaining.of(write(tmp_path, classes), make_context())
    paths = list(every_path(explaining.parameters))
    assert len(paths) > 6, "the parameters of reclass-rs and some more"
    assert [path for path in paths if not explaining.explain(path).complete] == []


def test_all_parameters_of_the_example_world(tmp_path: Path) -> None:
    """Every target, every parameter, every reference."""
    workspace = write_example_inventory(tmp_path)
    checked = 0
    for target in compiled_targets(workspace):
        explaining = Explaining.of(compiled_preview(workspace, target), make_context())
        for path in every_path(explaining.parameters):
            explanation = explaining.explain(path)
            assert explanation.chain, path
            assert [contribution.path for contribution in explanation.everything() if not contribution.complete] == []
            checked += 1
    assert checked > 500
