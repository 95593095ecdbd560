"""The inventory that is fetched piece by piece is, in every way that templates have to look at it, Kapitan's own.

`std.native('inventory')` still gives what Kapitan gives, all at once: both are looked at in the same ways.
"""

from __future__ import annotations

import json
import shutil
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commodore.core.engine import Batch, InstanceJob
from tests.core.engine.world import PACKAGE, World, jsonnet, node

KEYS = (
    "app",
    "a_b",
    "a-b",
    "",
    "ü",
    "$",
    "self",
    "1",
    "kapitan_",
    "super long key with blanks",
    "%(x)s",
    "'\"\\",
    "parameters",
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
    | st.sampled_from(["1.0", "null", "true", "|||", "?{", "${x:y}", "a\nb\n", "\u2028", "\U0001f600"])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=10,
)
inventories = st.dictionaries(st.sampled_from(KEYS), values, max_size=6)

# Ways to look at an inventory or a part of it. LOOK is the object.
LOOKS = (
    "LOOK",
    "std.objectFields(LOOK)",
    "std.objectFieldsAll(LOOK)",
    "std.length(LOOK)",
    "std.toString(LOOK)",
    "std.manifestJsonEx(LOOK, '  ')",
    "std.manifestYamlDoc(LOOK)",
    "std.type(LOOK)",
    "std.isObject(LOOK)",
    "std.prune(LOOK)",
    "LOOK == LOOK",
    "LOOK == OTHER",
    "OTHER == LOOK",
    "LOOK != OTHER",
    "LOOK + { app: 1 }",
    "LOOK { app+: { x: 1 } }.app.x",
    "{ app: 'none', mine: 1 } + LOOK",
    "LOOK { seen: std.objectFields(super) }",
    "LOOK { keys:: std.objectFields(self), n: std.length(self.keys) }",
    "std.mergePatch(LOOK, { app: null })",
    "std.mergePatch({ app: { x: 1 } }, LOOK)",
    "std.objectHas(LOOK, 'KEY')",
    "std.objectHasAll(LOOK, 'KEY')",
    "'KEY' in LOOK",
    "std.get(LOOK, 'KEY', 'default')",
    "std.get(LOOK, 'KEY', 'default', false)",
    "std.objectValues(LOOK)",
    "std.objectKeysValues(LOOK)",
    "std.mapWithKey(function(k, v) [k, v], LOOK)",
    "[[k, LOOK[k]] for k in std.objectFields(LOOK)]",
    "{ [k + '!']: LOOK[k] for k in std.objectFields(LOOK) }",
    "std.foldl(function(a, k) a + k, std.objectFields(LOOK), '')",
    "std.setMember('KEY', std.objectFields(LOOK))",
    "std.get(LOOK, 'KEY') == std.get(OTHER, 'KEY')",
    "std.md5(std.manifestJsonMinified(LOOK))",
    "std.equals(LOOK, OTHER)",
    "std.objectRemoveKey(LOOK, 'KEY')",
    "'%s' % [LOOK]",
    "local f(x) = x; f(LOOK) tailstrict",
    "(LOOK { KEYFIELD: 2 }) == (OTHER { KEYFIELD: 2 })",
    "LOOK['KEY']",  # an error without such a target
    "LOOK.app.x",
    "LOOK['KEY'] { x+: 1 }",
)
PARTS = (
    "inv",
    "inv.parameters",
    "inv.parameters['KEY']",
    "all.app",
    "all.app.parameters",
    "all['two'].parameters['KEY']",
)
PAIRS = {
    "lazy": "local inv = kap.inventory(), all = kap.inventory_global();",
    "eager": "local inv = std.native('inventory')('app', null), all = std.native('inventory')(null, null);",
}


@st.composite
def looks(draw: st.DrawFn) -> str:
    part = draw(st.sampled_from(PARTS))
    key = draw(st.sampled_from([key for key in KEYS if "\\" not in key and "'" not in key]))
    look = draw(st.sampled_from(LOOKS)).replace("LOOK", part)
    look = look.replace(
        "OTHER", part.replace("inv", "one", 1) if part.startswith("inv") else part.replace("all", "every", 1)
    )
    return look.replace("KEYFIELD", json.dumps(key)).replace("KEY", key)


def template(kind: str, look: str) -> str:
    """Both kinds also see the other's objects, to compare with."""
    other = PAIRS["eager" if kind == "lazy" else "lazy"].replace("inv =", "one =").replace("all =", "every =")
    return f"local kap = import 'lib/kapitan.libjsonnet'; {PAIRS[kind]} {other} {{ out: {{ r: {look} }} }}"


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(sources=st.lists(looks(), min_size=5, max_size=12), first=inventories, second=inventories)
def test_it_is_kapitans_own(world: World, sources: list[str], first: dict[str, Any], second: dict[str, Any]) -> None:
    """C-engine: fields, names, sums, equality, manifesting, missing fields: the same values, and errors alike."""
    shutil.rmtree(world.root)
    settings = {"vars": {"target": "app"}, "compile": [jsonnet("main.jsonnet", output_type="json")]}
    nodes = {"app": node({**first, "kapitan": settings}), "two": node({**second, "kapitan": {"vars": {}}})}
    batches = []
    for number, (look, kind) in enumerate((look, kind) for look in sources for kind in PAIRS):
        folder = world.root / str(number)
        world.write(f"{number}/main.jsonnet", template(kind, look))
        request = world.request(output=folder, search_paths=(folder, PACKAGE), fetch=False)
        batches.append(Batch([InstanceJob("app", "app", folder)], nodes, request))
    texts = []
    for batch, outcome in zip(batches, world.engine.compile_batches(batches), strict=True):
        file = batch.request.output / "compiled/app/out.json"
        texts.append(file.read_text() if outcome.error is None else outcome.error.message)
    for number, look in enumerate(sources):
        assert texts[2 * number] == texts[2 * number + 1], look
