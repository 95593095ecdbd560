"""Code that can see the names of parameters."""

from __future__ import annotations

import pytest

from commodore.core.engine.cache.name_exposure import Exposure, find_exposure

KAP = "local kap = import 'lib/kapitan.libjsonnet';\n"
INV = KAP + "local inv = kap.inventory();\n"
NOTHING = Exposure()
EVERYTHING = Exposure(everything=True, any_key=True)
UNKNOWN = Exposure(everything=True, any_key=True, place=True)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{}", NOTHING),
        (INV + "inv.parameters.app.name", NOTHING),
        (INV + "inv . parameters /* c */ . app // d\n .name", NOTHING),
        (INV + "local params = inv.parameters.app; params", Exposure(keys=frozenset({"app"}))),
        (INV + "inv.parameters.app { a: 1 }", Exposure(keys=frozenset({"app"}))),
        (INV + "inv.parameters['app'].x", Exposure(any_key=True)),
        (INV + "inv.parameters[name].x", Exposure(any_key=True)),
        (INV + "std.objectFields(inv.parameters)", EVERYTHING),
        (INV + "'x' in inv.parameters", EVERYTHING),
        (INV + "inv.parameters == {}", EVERYTHING),
        (INV + "inv.parameters { a: 1 }", EVERYTHING),
        (INV + "inv['parameters']", EVERYTHING),
        (INV + "f(inv)", EVERYTHING),
        (INV + "inv { a: 1 }", EVERYTHING),
        (INV + "local other = inv; other.parameters.app.x", EVERYTHING),
        (INV + "{ inv: inv }", EVERYTHING),
        (INV + "{ inv: inv.applications }", NOTHING),
        (KAP + "kap.inventory().parameters.app.x", NOTHING),
        (KAP + "kap.inventory(target='a').parameters.app.x", NOTHING),
        (KAP + "f(kap.inventory())", EVERYTHING),
        (KAP + "f(a, inv=kap.inventory())", EVERYTHING),
        (KAP + "f(a, inv=kap.inventory(), b)", EVERYTHING),
        (KAP + "{ inv: kap.inventory() }", EVERYTHING),
        (KAP + "local get = kap.inventory; get().parameters", EVERYTHING),
        (KAP + "kap['inventory']()", EVERYTHING),
        (KAP + "local k = kap; k.x", EVERYTHING),
        (KAP + "local a = 1, inv = kap.inventory(), b = 2; inv.parameters.app.x", NOTHING),
        ("{ local inv = (import 'lib/kapitan.libjsonnet').inventory(), a: inv.parameters.app.x }", NOTHING),
        ("{ kap: import 'lib/kapitan.libjsonnet' }", EVERYTHING),
        ("import 'lib/kapitan.libjsonnet'", EVERYTHING),
        ("local com = import 'lib/commodore.libjsonnet'; local inv = com.inventory(); inv.parameters.a.b", NOTHING),
        ("std.native('commodore_fields')('a', true, 'parameters', null)", UNKNOWN),
        (INV + "'inv' + \"inv.parameters\" + @'inv''' // inv\n # inv\n /* inv */", NOTHING),
        (INV + "|||\n  inv\n  ||| inv\n|||", NOTHING),
        (INV + "|||\n  text\n||| + inv", EVERYTHING),
        (INV + "|||\n\n    a ' quote\n\n  |||\n+ std.length(inv)", EVERYTHING),
        ("{ parameters: { a: 1 }, parameters+: {} }", NOTHING),
        ("function(x) x.parameters", EVERYTHING),
        ("function(inventory) inventory", EVERYTHING),
        (INV + "local f(i) = i.x; { a: f(kap.inventory()).b }", EVERYTHING),
        ("local f(i) = i.x; { a: (f)(import 'lib/kapitan.libjsonnet').b }", EVERYTHING),
        ("local i = ((import 'lib/kapitan.libjsonnet').inventory()); i.parameters.app.x", NOTHING),
        (INV + "local inv2 = inv tailstrict; 1", EVERYTHING),
        (INV + "'%(a)s' % inv.parameters", EVERYTHING),
        (INV + "'%(a)s' % inv.parameters.app", Exposure(keys=frozenset({"app"}))),
        (INV + "{ assert std.length(inv.parameters) > 1 }", EVERYTHING),
        (INV + "{ ['x' + n]: 1 for n in std.objectFields(inv.parameters) }", EVERYTHING),
        (INV + "function(i=inv) 1", EVERYTHING),
        (INV + "{ x:: inv, y: self.x }", EVERYTHING),
        ("local kap = import 'lib/kapitan.libj\\u0073onnet'; kap['inv' + 'entory']()", UNKNOWN),
        ("local k = import @'lib/kapitan.libjsonnet'; k.inventory().parameters", EVERYTHING),
        ("importstr ('lib/kapitan.libjsonnet')", UNKNOWN),
        ("local s = std; s['nat' + 'ive']('inv' + 'entory')", UNKNOWN),
        ("std['native']('inv' + 'entory')", UNKNOWN),
        ("std . native('inv' + 'entory')", UNKNOWN),
        ("local n = std.native; n('x')", UNKNOWN),
        ("std.native('sha256_string')('x')", NOTHING),
        ("'std' + std.length('native')", NOTHING),
        ("{ at: std.thisFile }", Exposure(place=True)),
        (INV + "{ at: std.thisFile, p: inv.parameters }", UNKNOWN),
        (INV + "// \r std.length(inv)", EVERYTHING),
        (INV + "|||\r\n  text\r\n||| + std.length(inv)", EVERYTHING),
        (INV + "|||-\n  text\n||| + std.length(inv)", EVERYTHING),
        (INV + "|||\n        \n   ||| + std.length(inv) + |||\n   x\n |||", EVERYTHING),
        (INV + "|||\n  text", UNKNOWN),
    ],
)
def test_what_escapes(source: str, expected: Exposure) -> None:
    assert find_exposure(source.encode()) == expected


def test_escapes_of_several_files_add_up() -> None:
    first, two = Exposure(keys=frozenset({"a"})), Exposure(any_key=True, keys=frozenset({"b"}))
    assert first | two == Exposure(any_key=True, keys=frozenset({"a", "b"}))


@pytest.mark.parametrize(
    "source",
    [
        INV + "|||x + inv",
        KAP + "f(kap.inventory(",
        "inventory = 1",
        "inv = (import 'lib/kapitan.libjsonnet').inventory(), inv.parameters",
    ],
    ids=["a block without a line", "a call without an end", "a name without a local", "an inventory without a local"],
)
def test_text_that_is_no_jsonnet_can_see_everything_it_names(source: str) -> None:
    assert find_exposure(source.encode()).everything


def test_an_end_without_a_beginning() -> None:
    assert find_exposure(b"a).inventory().parameters.app.x") == NOTHING
