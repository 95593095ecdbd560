"""Which Jsonnet engine evaluates what, when go-jsonnet takes over, and what a check finds."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commodore.base.errors import EnvironmentFault, InputError, PolicyError
from commodore.base.events import Noted, TaskEnded, Warned
from commodore.core.engine import Engine, check_jsonnet_engine
from commodore.core.engine.jsonnet import go as _jsonnet
from commodore.core.engine.jsonnet import jrsonnet as _jrsonnet
from commodore.core.engine.jsonnet.evaluator import CHECK, GO, JRSONNET, engine_of, first_difference
from commodore.core.engine.worker.pool import worker_pool
from tests.core.engine.world import Kept, World, jsonnet, node
from tests.world.context import make_context

# What both engines evaluate, and evaluate to the same.
SHARED = {
    "numbers": "{ out: [0.1 + 0.2, 1e21, 1e-7, 1.0, -0.0, 3.0e10, 1 / 3, 123456789012345678, 7 % 3, std.pow(2, 0.5)] }",
    "texts": "{ out: ['é👍', 'a' + 1, std.escapeStringJson('\"'), std.format('%5.2f|%05d', [1.5, 7])] }",
    "objects": "local a = { x: 1, y:: self.x + 1, z+: { w: 1 } }; { out: a { x: 2, v: super.y, z+: { q: 1 } } }",
    "loops": "{ ['k%d' % i]: [i * j for j in std.range(1, i) if j != 2] for i in std.range(1, 4) }",
    "library": "{ out: [std.sort(['b', 'A']), std.mergePatch({ a: { b: 1 } }, { a: { b: null } })] }",
    "yaml": "{ out: { text: std.manifestYamlDoc({ a: 'yes', b: '1', c: [1, { d: 'x\\ny\\n' }], e: {} }) } }",
    "imports": "{ out: [import 'one.libsonnet', importbin 'lines.txt', (import 'sub/two.libsonnet').up] }",
    "external variable": "{ out: [std.extVar('target')] }",
    "natives": """
        {
          loaded: std.parseJson(std.native('yaml_load')('values.yaml')),
          all: std.parseJson(std.native('yaml_load_stream')('values.yaml')),
          dumped: [std.native('yaml_dump')(std.manifestJson({ a: 1, b: [0.5, null, true], c: 'x' }))],
          more: [
            std.native('sha256_string')('a'),
            std.native('file_read')('lines.txt'),
            std.native('file_exists')('nothing').exists,
          ],
        }
    """,
    "inventory": """
        local kap = import 'lib/kapitan.libjsonnet';
        local inv = kap.inventory();
        {
          out: [inv.parameters.size, kap.inventory('other').parameters.size],
          keys: std.objectFields(inv.parameters),
          all: std.objectFields(kap.inventory_global()),
          plain: [std.native('inventory')('other', null).parameters.size],
        }
    """,
    "library of commodore": """
        local com = import 'lib/commodore.libjsonnet';
        { out: [com.inventory().parameters.size, com.renderArray(['a', 'b', '~a'])] }
    """,
}


def fill(world: World, text: str, **parameters: Any) -> None:
    """An instance with one Jsonnet file, and what it may import."""
    folder = "dependencies/a"
    world.add("a", jsonnet("a/main.jsonnet"), size={"x": [1, 2.5, None, True, "é"]}, **parameters)
    world.nodes["other"] = node({"_instance": "other", "kapitan": {"vars": {"target": "other"}}, "size": 7})
    world.write(f"{folder}/main.jsonnet", textwrap.dedent(text))
    world.write(f"{folder}/one.libsonnet", "{ one: 1, two: (import 'sub/two.libsonnet').two }")
    world.write(f"{folder}/sub/two.libsonnet", "{ two: 2, up: importstr '../lines.txt' }")
    world.write(f"{folder}/lines.txt", "one\r\ntwo\n")
    world.write("values.yaml", "a: [1, 0.5, x]\nb: {c: yes}\n")
    world.write("lines.txt", "lines\n")


def compiled(world: World, engine: str) -> dict[str, str]:
    world.compile(jsonnet_engine=engine)
    return {file: world.read(f"a/{file}") for file in world.files("a")}


def notes(world: World, level: int) -> list[str]:
    return [event.message for event in world.events if isinstance(event, Noted) and event.level == level]


def facts(world: World) -> Mapping[str, Any]:
    (found,) = [dict(event.facts) for event in world.events if isinstance(event, TaskEnded) and event.facts]
    return found


@pytest.mark.parametrize("text", SHARED.values(), ids=SHARED)
def test_both_engines_give_the_same_files(world: World, text: str) -> None:
    fill(world, text)
    record = compiled(world, GO)
    assert facts(world)["jsonnet engine"] == GO
    assert record
    world.events.clear()
    assert compiled(world, JRSONNET) == record
    assert (facts(world)["jsonnet engine"], facts(world)["jsonnet files"]) == (JRSONNET, 1)
    assert facts(world)["jsonnet fallbacks"] == 0
    assert "go-jsonnet CPU seconds" not in facts(world)
    assert notes(world, 1)[-1] == "Jsonnet: 1 of 1 files evaluated with jrsonnet"
    world.events.clear()
    assert compiled(world, CHECK) == record
    assert notes(world, 0) == ["Jsonnet: 1 of 1 files evaluated with jrsonnet; compared with go-jsonnet, none differ"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{ out: [std.trim(' a ')] }", "no such field: trim"),
        ("{ out: [std.thisFile != ''] }", "thisFile"),
    ],
)
def test_what_jrsonnet_lacks_is_done_with_go_jsonnet(world: World, text: str, reason: str) -> None:
    fill(world, text)
    record = compiled(world, GO)
    world.events.clear()
    assert compiled(world, JRSONNET) == record
    found, total = notes(world, 1)
    assert found.startswith(f"instance 'a': {world.root}/dependencies/a/main.jsonnet is evaluated with go-jsonnet; ")
    assert reason in found
    assert total == (
        "Jsonnet: 0 of 1 files evaluated with jrsonnet, "
        "1 with go-jsonnet only (jrsonnet cannot; -v shows which and why)"
    )
    assert facts(world)["jsonnet fallbacks"] == 1
    world.events.clear()
    assert compiled(world, CHECK) == record


@pytest.mark.parametrize(
    "text",
    [
        "{ out: error 'no' }",
        "{ out: 1,, }",
        "{ out: import 'nowhere' }",
        "{ out: std.native('yaml_load')('nowhere.yaml') }",
        "{ out: std.extVar('nothing') }",
        "{ out: [1e1000] }",
        "local f(x) = f(x) + 1; { out: f(1) }",
        "{ out: function(x) x }",
    ],
)
@pytest.mark.parametrize("chosen", [JRSONNET, CHECK])
def test_a_failure_is_told_with_the_words_of_go_jsonnet(world: World, text: str, chosen: str) -> None:
    fill(world, text)
    record, found = world.fail_once(), world.fail_once(jsonnet_engine=chosen)
    assert (found.code, found.message, found.locations) == (record.code, record.message, record.locations)


def test_what_only_jrsonnet_evaluates_fails_in_a_check(world: World) -> None:
    """The engine of record has the last word: jrsonnet does not look at a variable that nobody reads."""
    fill(world, "local x = nothing; { out: { a: 1 } }")
    record = world.fail_once()
    assert "Unknown variable: nothing" in record.message
    assert world.fail_once(jsonnet_engine=CHECK).message == record.message
    assert compiled(world, JRSONNET) == {"out.yaml": "a: 1\n"}


def test_a_check_finds_a_number_that_is_written_differently(world: World) -> None:
    fill(world, "{ same: { a: 0.1 }, out: { a: ['x', 'is ' + 0.1] } }")
    record = compiled(world, GO)
    error = world.fail_once(jsonnet_engine=CHECK)
    assert (error.code, error.exit_code) == ("CMD-ENG-055", 1)
    assert error.message == (
        "instance 'a': jrsonnet evaluates a Jsonnet file to something else: "
        "at $.out.a[1] 'is 0.1' in place of go-jsonnet's 'is 0.10000000000000001'"
    )
    assert [place.place for place in error.locations] == [f"{world.root}/dependencies/a/main.jsonnet"]
    assert notes(world, 0)[-1] == "Jsonnet: 1 of 1 files evaluated with jrsonnet; compared with go-jsonnet, 1 differ"
    assert {file: world.read(f"a/{file}") for file in world.files("a")} == record
    assert compiled(world, JRSONNET)["out.yaml"] == "a:\n  - x\n  - is 0.1\n"


def test_a_check_tells_the_files_of_all_instances(world: World) -> None:
    for name in ("a", "b"):
        world.add(name, jsonnet(f"{name}/main.jsonnet"))
        world.write(f"dependencies/{name}/main.jsonnet", "{ out: { a: '%s' % 0.1 } }")
    errors = world.fail(jsonnet_engine=CHECK)
    assert [error.message.split(":")[0] for error in errors] == ["instance 'a'", "instance 'b'"]


def test_filters_are_evaluated_alike(world: World) -> None:
    filters = [{"type": "jsonnet", "filter": "f.jsonnet", "path": ".", "filterargs": {"word": "w"}}]
    fill(world, "{ out: { a: 1 } }", commodore={"postprocess": {"filters": filters}})
    world.write(
        "dependencies/a/f.jsonnet",
        """
        local load = std.native('yaml_load');
        local file = std.extVar('output_path') + '/out.yaml';
        { out: load(file) + { word: std.extVar('word'), size: std.native('commodore_inventory')().parameters.size },
          list: std.native('list_dir')(std.extVar('output_path'), true) }
        """,
    )
    record = compiled(world, GO)
    assert "word: w" in record["out.yaml"]
    assert compiled(world, JRSONNET) == record
    world.events.clear()
    assert compiled(world, CHECK) == record
    assert facts(world)["jsonnet files"] == 2


def test_a_parameter_of_the_instance_comes_first(world: World) -> None:
    fill(world, "{ out: { a: '%s' % 0.1 } }", commodore={"jsonnet": {"engine": JRSONNET}})
    assert compiled(world, GO)["out.yaml"] == "a: '0.1'\n"
    world.nodes["a"]["parameters"]["commodore"]["jsonnet"]["engine"] = GO
    assert compiled(world, JRSONNET)["out.yaml"] == "a: '0.10000000000000001'\n"
    assert compiled(world, CHECK)["out.yaml"] == "a: '0.10000000000000001'\n"


def test_a_parameter_that_names_no_engine(world: World) -> None:
    fill(world, "{ out: {} }", commodore={"jsonnet": {"engine": "jsonet"}})
    error = world.fail_once()
    assert (error.code, error.exit_code) == ("CMD-ENG-053", 1)
    assert "parameters.commodore.jsonnet.engine is 'jsonet'" in error.message


@pytest.mark.parametrize(
    "commodore", [None, 5, [], {"jsonnet": None}, {"jsonnet": "go"}, {"jsonnet": {"engine": None}}, {}]
)
def test_other_shapes_of_the_parameter_choose_nothing(commodore: Any) -> None:
    assert engine_of(JRSONNET, "a", node({"commodore": commodore})) == JRSONNET


@pytest.mark.parametrize("value", [5, True, {}, "check"])
def test_other_values_of_the_parameter_are_refused(value: Any) -> None:
    with pytest.raises(InputError, match="which is no Jsonnet engine"):
        engine_of(GO, "a", node({"commodore": {"jsonnet": {"engine": value}}}))


def test_a_worker_that_dies_of_deep_recursion(world: World) -> None:
    """go-jsonnet, which has no such trouble, renders the instance; the others are not touched."""
    fill(world, "local f(n) = if n == 0 then 1 else f(n - 1) tailstrict; { out: { a: f(100000) } }")
    world.add("b", jsonnet("b/main.jsonnet"))
    world.write("dependencies/b/main.jsonnet", "{ out: { a: '%s' % 0.1 } }")
    world.compile(jsonnet_engine=JRSONNET)
    assert (world.read("a/out.yaml"), world.read("b/out.yaml")) == ("a: 1\n", "a: '0.1'\n")
    (warning,) = [event for event in world.events if isinstance(event, Warned)]
    assert warning.code == "CMD-ENG-056"
    assert warning.message.startswith("instance 'a': ")


def test_a_policy_error_stays_one(world: World) -> None:
    filters = [{"type": "jsonnet", "filter": "f.jsonnet", "path": "."}]
    fill(world, "{ out: {} }", commodore={"postprocess": {"filters": filters}})
    world.write("dependencies/a/f.jsonnet", "{ '../../x': {} }")
    assert isinstance(world.fail_once(jsonnet_engine=JRSONNET), PolicyError)


def test_kept_results_know_their_engine(kept: Kept, tmp_path: Path) -> None:
    """What jrsonnet has made is not taken for go-jsonnet's, whoever has chosen it; a check renders."""
    world = kept.world(tmp_path / "work")
    fill(world, "{ out: { a: '%s' % 0.1 } }")

    def reused(engine: str) -> tuple[bool, str]:
        (one,) = world.compile(jsonnet_engine=engine)
        return one.reused, world.read("a/out.yaml")

    plain, short = "a: '0.10000000000000001'\n", "a: '0.1'\n"
    assert [reused(GO), reused(JRSONNET), reused(GO), reused(JRSONNET)] == [
        (False, plain),
        (False, short),
        (True, plain),
        (True, short),
    ]
    assert world.fail_once(jsonnet_engine=CHECK).code == "CMD-ENG-055"
    world.nodes["a"]["parameters"]["commodore"] = {"jsonnet": {"engine": GO}}
    assert reused(JRSONNET) == (False, plain)
    assert reused(CHECK) == (False, plain)
    world.nodes["a"]["parameters"]["commodore"] = {"jsonnet": {"engine": JRSONNET}}
    assert reused(GO) == (False, short)


def test_the_binding_is_loaded_by_those_alone_who_choose_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A module of that name that raises stands for a binding that cannot be loaded."""
    monkeypatch.setattr(
        "commodore.core.engine.engine.worker_pool", worker_pool
    )  # kept workers may have loaded it before
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "rjsonnet.py").write_text("raise ImportError('loaded')")
    monkeypatch.syspath_prepend(tmp_path / "path")
    with Engine(make_context(), processes=1) as engine:
        world = World(tmp_path, engine, [])
        fill(world, "{ out: { a: 1 } }")
        world.compile()
        events: list[Any] = []
        with Engine(make_context(events.append), processes=1) as other:
            replace(world, engine=other).compile(jsonnet_engine=JRSONNET)
    assert next(event.message for event in events if isinstance(event, Noted)).endswith("jrsonnet: loaded")


def test_an_engine_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    """Who asks for it is told; a component that would like it does without."""
    monkeypatch.setattr(_jrsonnet, "is_installed", lambda: False)
    check_jsonnet_engine(GO)
    for engine in (JRSONNET, CHECK):
        with pytest.raises(EnvironmentFault) as caught:
            check_jsonnet_engine(engine)
        assert caught.value.code == "CMD-ENG-054"
        assert "commodore-catalog[jrsonnet]" in caught.value.hint
    assert engine_of(GO, "a", node({"commodore": {"jsonnet": {"engine": JRSONNET}}})) == GO
    fill(world, "{ out: {} }")
    assert world.fail_once(jsonnet_engine=JRSONNET).code == "CMD-ENG-054"


@pytest.mark.parametrize(
    ("record", "other", "difference"),
    [
        ({"a": 1, "b": [1.5]}, {"b": [1.50], "a": 1}, ""),
        (1, 1.0, "at $ 1.0 in place of go-jsonnet's 1"),
        (1, True, "at $ true in place of go-jsonnet's 1"),
        ({"a": 1}, {"b": 1}, 'at $ fields ["b"] in place of go-jsonnet\'s ["a"]'),
        ([[1, 2]], [[1]], "at $[0] length 1 in place of go-jsonnet's 2"),
        ({"a": None}, {"a": {}}, "at $.a {} in place of go-jsonnet's null"),
        ("x" * 90 + "a", "x" * 90 + "b", f"at $ '{'x' * 20}b' in place of go-jsonnet's '{'x' * 20}a'"),
        ("a", "ab", "at $ 'ab' in place of go-jsonnet's 'a'"),
    ],
)
def test_how_a_difference_is_told(record: Any, other: Any, difference: str) -> None:
    assert first_difference(record, other) == difference


# Random snippets: values, and operations that both engines know.

_NUMBERS = st.integers(-(2**40), 2**40) | st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))
_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=12,
)
_LITERALS = _VALUES.map(lambda value: json.dumps(value, ensure_ascii=False))
_EXPRESSIONS = st.recursive(
    _LITERALS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: f"[{two[0]}] + [{two[1]}]"),
        st.tuples(inner, inner).map(lambda two: f"({{ a: {two[0]} }} + {{ a+: {{}}, b: {two[1]} }}).b"),
        st.tuples(inner, inner).map(lambda two: f"(if {two[0]} == {two[1]} then 'same' else 'other')"),
        inner.map(lambda one: f"std.prune([{one}, null])"),
        inner.map(lambda one: f"(local x = {one}; [x, std.type(x), {{ y: x }}.y])"),
        inner.map(lambda one: f"std.parseJson(std.manifestJsonEx({one}, '  '))"),
        inner.map(lambda one: f"std.sort(std.objectFields({{ z: 1, b: {one}, 'Ä': 2 }}))"),
        inner.map(lambda one: f"[[k, {one}] for k in std.range(0, 2) if k != 1]"),
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(_EXPRESSIONS)
def test_random_snippets_evaluate_alike(tmp_path_factory: pytest.TempPathFactory, expression: str) -> None:
    file = tmp_path_factory.getbasetemp() / "snippet.jsonnet"
    file.write_text(expression, encoding="utf-8")
    record, other = (
        engine.evaluate(str(file), file.read_text(), importer=_no_imports, natives={}, ext_vars={})
        for engine in (_jsonnet, _jrsonnet)
    )
    assert first_difference(json.loads(record), json.loads(other)) == ""


def _no_imports(folder: str, wanted: str) -> tuple[str, bytes]:
    raise AssertionError(wanted)
