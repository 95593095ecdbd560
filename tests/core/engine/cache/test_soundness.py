"""A result that is used is what rendering would give now: random templates, random inventories, random changes."""

from __future__ import annotations

import copy
import itertools
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commodore.core.engine import Batch, BatchOutcome, Engine, InstanceJob
from tests.core.engine.world import PACKAGE, Kept, World, jsonnet, node
from tests.world.context import make_context
from tests.world.sampling import EXHAUSTIVE

NAMES = ("app", "other", "facts", "a_b", "inventory")
FIELDS = ("x", "y", "name", "parameters", "app")

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.sampled_from(["", "a", "é", "?", "1"])
    | st.floats(-2, 2, width=16),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3),
    max_leaves=6,
)
# Mostly maps with all fields, so that most templates find what they read.
maps = st.fixed_dictionaries(dict.fromkeys(FIELDS, values))
parameters = st.fixed_dictionaries(dict.fromkeys(NAMES, maps | maps | maps | values))

# How a template gets at an inventory, and what it then calls it. All of these mean the same object.
SOURCES = (
    "local inv = kap.inventory(); BODY",
    "local inv = (kap.inventory()); BODY",
    "local a = 1, inv = kap.inventory(target='app'), b = 2; BODY",
    "local inv = com.inventory(); BODY",
    "local inv = (import 'lib/kapitan.libjsonnet').inventory(); BODY",
    "local inv = (import 'handed.libsonnet'); BODY",
    "local inv = (import 'holder.libsonnet').inv; BODY",
    "local get = (import 'holder.libsonnet').get; local inv = get(); BODY",
    "local inv = kap.inventory_global()['app']; BODY",
    "local inv = kap['inventory'](); BODY",
    "local inv = kap['inv\\u0065ntory'](); BODY",
    "local f(inv) = BODY; f(kap.inventory())",
    "local f(inv=kap.inventory()) = BODY; f()",
    "local f(inv) = { r: BODY }; f(kap.inventory()).r",
    "(function(inv) BODY)(kap.inventory()) tailstrict",
    "{ local inv = kap.inventory(), r: BODY }",
    "{ inv:: kap.inventory(), r: local inv = self.inv; BODY }",
    "{ inv:: kap.inventory(), r: { local inv = $.inv, r: BODY } }",
    "{ inv:: kap.inventory() } + { local inv = super.inv, r: BODY }",
    "[BODY for inv in [kap.inventory()]]",
    "local inv = if true then kap.inventory() else {}; BODY",
    "local inv = kap.inventory() { more: 1 }; BODY",
    "local inv = kap.inventory(); local inv2 = inv; { a: BODY, b: std.length(inv2) }",
    "local nat = std.native; local inv = nat('inventory')('app', null); BODY",
    "local inv = std.native('inventory')(null, null).app; BODY",
)
# How it gets at one parameter, and at all of them.
ONE = (
    "inv.parameters.KEY",
    "inv.parameters['KEY']",
    "inv['parameters'].KEY",
    'inv["par" + "ameters"].KEY',
    "(inv.parameters).KEY",
    "inv /* ' */ . parameters // ||| \n . KEY",
    "std.get(inv.parameters, 'KEY', 'none')",
    "(inv.parameters { KEY+: {} }).KEY",
    "(inv { parameters+: { KEY: super.KEY } }).parameters.KEY",
    "({ p:: inv.parameters } + { r:: super.p.KEY }).r",
)
ALL = (
    "inv.parameters",
    "std.objectFields(inv.parameters)",
    "std.objectFieldsAll(inv['parameters'])",
    "std.length(inv.parameters)",
    "std.objectHas(inv.parameters, 'KEY')",
    "('KEY' in inv.parameters)",
    "[name for name in std.objectFields(inv.parameters) if name != 'KEY']",
    "{ [name + 's']: 1 for name in std.objectFields(inv.parameters) }",
    "(inv.parameters == { KEY: 1 })",
    "std.md5(std.toString(inv.parameters))",
    "'%s' % [inv.parameters]",
    "std.manifestJsonEx(inv.parameters, ' ')",
    "std.mapWithKey(function(k, v) k, inv.parameters)",
    "std.mergePatch(inv.parameters, { KEY: null })",
    "std.objectHas(inv.parameters + {}, 'KEY')",
    "(import 'other.libsonnet').names(inv)",
    "std.objectKeysValues(inv.parameters)",
    "std.foldl(function(a, k) a + k, std.objectFields(inv.parameters), '')",
    "inv.classes",
    "inv.applications",
    "std.objectFields(inv)",
)
# What it does with the one.
USES = (
    "ONE",
    "std.type(ONE)",
    "std.length(std.toString(ONE))",
    "(ONE == {})",
    "local p = ONE; if std.isObject(p) then std.objectFields(p) else p",
    "local p = ONE; if std.isObject(p) && 'FIELD' in p then p.FIELD else 'no'",
    "local p = ONE; if std.isObject(p) then std.objectHas(p, 'FIELD') else 0",
    "local p = ONE; if std.isObject(p) then std.get(p, 'FIELD', 'default') else 0",
    "local p = ONE; if std.isObject(p) then p { FIELD+: {} } else 0",
    "local p = ONE; if std.isObject(p) then { [k]: 1 for k in std.objectFields(p) if k != 'FIELD' } else 0",
    "local p = ONE; if std.isObject(p) then std.objectValues(p) else 0",
    "ONE.FIELD",
    "ONE['FIELD']",
    "{ assert std.isObject(ONE) || true, r: 1 }",
    "{ r: 1, unread:: ONE }",
    "com.getValueOrDefault(ONE, 'FIELD', 0)",
    "std.prune(ONE)",
    "local f(x, d=ONE) = d; f(1)",
    "|||\n    FIELD inv.parameters ' %s\n  ||| % std.toString(ONE)",
)
HEAD = "local kap = import 'lib/kapitan.libjsonnet'; local com = import 'lib/commodore.libjsonnet';\n"
LIBRARY_PATHS = (PACKAGE,)
LIBRARIES = {
    "handed": "(import 'lib/kapitan.libjsonnet').inventory()",
    "holder": "local kap = import 'lib/kapitan.libjsonnet'; { inv: kap.inventory(), get():: self.inv }",
    "other": "{ names(i):: std.objectFields(i.parameters) }",
}


@st.composite
def templates(draw: st.DrawFn) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        part = draw(st.sampled_from(ALL)) if draw(st.integers(0, 2)) == 0 else draw(st.sampled_from(USES))
        part = part.replace("ONE", draw(st.sampled_from(ONE)))
        part = part.replace("KEY", draw(st.sampled_from(NAMES))).replace("FIELD", draw(st.sampled_from(FIELDS)))
        if draw(st.booleans()):
            part = part.replace("inv.parameters", "inv['parameters']")
        parts.append(f"({part})")
    return HEAD + f"{{ out: {{ r: {draw(st.sampled_from(SOURCES)).replace('BODY', '[' + ', '.join(parts) + ']')} }} }}"


@st.composite
def changes(draw: st.DrawFn) -> list[tuple[str, str, Any]]:
    """Steps that make another inventory: which parameter, which field of it (none for all of it), and what is there
    afterwards (none for nothing).
    """
    step = st.tuples(
        st.sampled_from(NAMES), st.sampled_from(("", *FIELDS)), st.none() | values.map(lambda value: [value])
    )
    return draw(st.lists(step, min_size=1, max_size=4))


def changed(parameters: dict[str, Any], steps: list[tuple[str, str, Any]]) -> dict[str, Any]:
    result = copy.deepcopy(parameters)
    for key, field, value in steps:
        owner = result
        if field and isinstance(result.get(key), dict):
            owner, key = result[key], field
        if value is None:
            owner.pop(key, None)
        else:
            owner[key] = value[0]
    return result


@pytest.fixture(scope="module")
def plain(clean_session: None) -> Iterator[Engine]:
    """An engine that keeps nothing."""
    with Engine(make_context(), processes=1) as engine:
        yield engine


numbers = itertools.count()
MANY = 40
EXAMPLES = 8 if EXHAUSTIVE else 3  # each renders some hundred templates


def settings_of(turn: int, *, filters: bool) -> dict[str, Any]:
    """The settings that render a template. As a filter, together with an entry that differs each time."""
    if not filters:
        return {"kapitan": {"vars": {"target": "app"}, "compile": [jsonnet("app/main.jsonnet", output_type="json")]}}
    return {
        "kapitan": {"vars": {"target": "app", "turn": turn}, "compile": []},
        "commodore": {"postprocess": {"filters": [{"type": "jsonnet", "path": ".", "filter": "main.jsonnet"}]}},
    }


def outcomes(
    engine: Engine, world: World, inventories: list[dict[str, Any]], *, filters: bool = False
) -> list[list[str]]:
    """The output of each template with each inventory in turn; the code of the error if it fails."""
    results = []
    for turn, inventory in enumerate(inventories):
        batches = []
        for job in world.jobs:
            nodes = {"app": node({**inventory, **settings_of(turn, filters=filters)})}
            paths = (job.directory.parent, *LIBRARY_PATHS)
            request = world.request(
                output=job.directory / "output", search_paths=paths, filter_search_paths=paths if filters else ()
            )
            batches.append(Batch([InstanceJob("app", "app", job.directory)], nodes, request))
        compiled = engine.compile_batches(batches)
        results.append([text(batch, outcome) for batch, outcome in zip(batches, compiled, strict=True)])
    return results


def text(batch: Batch, outcome: BatchOutcome) -> str:
    if outcome.error is not None:
        return outcome.error.code
    (file,) = (batch.request.output / "compiled/app").iterdir()
    return file.read_text()


# What shows names that no field was read of, each in a way of its own.
SEEN = (
    "std.objectFields(inv.parameters)",
    "std.objectFields(inv['parameters'])",
    "std.objectFields(inv.parameters.app)",
    "std.objectHas(inv['parameters'].app, 'new')",
    "std.length(inv['par' + 'ameters']['app'])",
    "inv.parameters.app",
)


def seen_in(sources: Sequence[str]) -> list[tuple[str, str]]:
    """Each way to an inventory with two of the ways to see names in it, in turn, or with all of them."""
    number = len(SEEN) if EXHAUSTIVE else 2
    return [(source, SEEN[(at + more) % len(SEEN)]) for at, source in enumerate(sources) for more in range(number)]


def test_names_are_seen_on_every_way(keeping: Kept, plain: Engine, tmp_path: Path) -> None:
    """Each way to an inventory with each way to see names in it, and a change of names alone."""
    ways = seen_in(SOURCES)
    ways += [(SOURCES[0], part.replace("KEY", "app")) for part in ALL]
    for number, use in enumerate(USES):
        for field in (ONE[number % len(ONE)], ONE[(number + 3) % len(ONE)]):
            ways.append((SOURCES[0], use.replace("ONE", field).replace("KEY", "app").replace("FIELD", "new")))
    sources = [f"{HEAD}{{ out: {{ r: {source.replace('BODY', f'[{part}]')} }} }}" for source, part in ways]
    first = {"app": {"x": 1, "y": {"z": 2}}, "other": {"x": 1}}
    second = {"app": {"x": 1, "y": {"z": 2}, "new": 3}, "other": {"x": 1}, "newcomer": {}}
    compare(keeping, plain, tmp_path, sources, [first, second])


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    sources=st.lists(templates(), min_size=8, max_size=20),
    first=parameters,
    steps=st.lists(changes(), min_size=2, max_size=3),
)
def test_a_result_is_what_rendering_would_give(
    keeping: Kept, plain: Engine, tmp_path: Path, sources: list[str], first: dict[str, Any], steps: list[Any]
) -> None:
    compare(keeping, plain, tmp_path, sources, [first, *(changed(first, step) for step in steps), first])


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    sources=st.lists(templates(), min_size=8, max_size=20),
    first=parameters,
    steps=st.lists(changes(), min_size=2, max_size=3),
)
def test_a_filter_is_what_it_would_give(
    keeping: Kept, plain: Engine, tmp_path: Path, sources: list[str], first: dict[str, Any], steps: list[Any]
) -> None:
    """Its own record says whether it holds: the instance is another one each time."""
    inventories = [first, *(changed(first, step) for step in steps), first]
    compare(keeping, plain, tmp_path, sources, inventories, filters=True)


def test_filters_see_names_on_every_way(keeping: Kept, plain: Engine, tmp_path: Path) -> None:
    ways = seen_in([source for source in SOURCES if "native" not in source])
    sources = [f"{HEAD}{{ out: {{ r: {source.replace('BODY', f'[{part}]')} }} }}" for source, part in ways]
    first = {"app": {"x": 1, "y": {"z": 2}}, "other": {"x": 1}}
    second = {"app": {"x": 1, "y": {"z": 2}, "new": 3}, "other": {"x": 1}, "newcomer": {}}
    compare(keeping, plain, tmp_path, sources, [first, second, first], filters=True)


def compare(
    keeping: Kept,
    plain: Engine,
    tmp_path: Path,
    sources: list[str],
    inventories: list[dict[str, Any]],
    *,
    filters: bool = False,
) -> None:
    def spelt(text: str) -> str:  # filters have another library, with fewer functions
        return text.replace("kap.", "com.").replace("lib/kapitan", "lib/commodore") if filters else text

    root = tmp_path / str(next(numbers))
    worlds = [World(root / name, engine, []) for name, engine in (("kept", keeping.engine), ("plain", plain))]
    for world in worlds:
        for number, template in enumerate(sources):
            folder = world.root / f"{number}/app"
            world.jobs.append(InstanceJob("app", "app", folder))
            world.write(f"{number}/app/main.jsonnet", spelt(template))
            for name, content in LIBRARIES.items():
                world.write(f"{number}/{name}.libsonnet", spelt(content))
    ours, expected = (outcomes(world.engine, world, inventories, filters=filters) for world in worlds)
    for number, template in enumerate(sources):
        assert [texts[number] for texts in ours] == [texts[number] for texts in expected], template
    assert any(not text.startswith("CMD-") for text in itertools.chain(*expected)) or len(sources) < MANY
    shutil.rmtree(root)
