"""Expressions that repositories bring end, whatever they are."""

from __future__ import annotations

import random
import sys

import pytest

from commodore.base.gotemplate import CallProblem, Template, search_regexp
from commodore.base.gotemplate.functions import regexps
from commodore.base.gotemplate.functions.re2 import compiled

pytestmark = pytest.mark.tools

ENDLESS = [
    ("(a+)+$", "a" * 60 + "!"),
    ("^(a|a)*$", "a" * 60 + "!"),
    ("(a?b?)*c", "ab" * 60),
    ("(.*)(.*)(.*)(.*)(.*)x", "a" * 5000),
    ("(([a-z])+.)+[A-Z]([a-z])+$", "a" * 60),
    ("^" + "(a|aa)" * 40 + "$", "a" * 90),
    ("^" + "[ab]{0,3}" * 40 + "$", "a" * 60 + "!"),
    ("(.*)" * 90 + "x", "a" * 5000),
]


@pytest.fixture(params=["re2", "process"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "re2":
        pytest.importorskip("re2")
    else:
        monkeypatch.setitem(sys.modules, "re2", None)
        monkeypatch.setattr(regexps, "SECONDS", 0.2)
    return str(request.param)


@pytest.mark.parametrize(("expression", "text"), ENDLESS)
def test_catastrophic_expressions(expression: str, text: str, way: str) -> None:
    if way == "re2":
        assert search_regexp(expression, text) is None
    else:
        with pytest.raises(CallProblem, match="takes longer"):
            search_regexp(expression, text)


def test_both_find_what_python_finds(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same places, also after characters of several bytes, of groups that take no part, and from the middle."""
    monkeypatch.setattr(regexps, "SECONDS", 60.0)
    generator = random.Random(7)
    expressions = ["(a|é)+(b)?", "(?P<x>[a-c]+)-(y)*", "^(-?[a-zé]+)*$", r"\b(é|b)+\b", "(?i)(A(b|c)*)+", ""]
    for number in range(60 if way == "re2" else 6):
        expression = expressions[number % len(expressions)]
        text = "".join(generator.choice("aAbcé-y \n") for _ in range(40))
        at = generator.choice((0, 0, 5))
        expected = compiled(expression).search(text, at)
        result = regexps._slow(expression, compiled(expression), text, at)
        got = None if result is None else [tuple(item) for item in result]
        assert got == (None if expected is None else [expected.span(n) for n in range(expected.re.groups + 1)])


def test_small_ones_need_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regexps, "_slow", lambda *_: pytest.fail("it is a plain one"))
    for expression, text in (("^[a-z]+-[0-9]+$", "web-1" * 8), ("[^a-z]", "a" * 3000), ("(a|b)c", "c" * 200)):
        search_regexp(expression, text)


def test_templates_use_it(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regexps, "SECONDS", 60.0)
    template = Template('{{ regexReplaceAll "(a|b)+(-)" .x "${2}$1$9" }} {{ regexFindAll "(?P<n>b|c)+" .x -1 }}')
    assert template.render({"x": "aab-cc-abc-bcbcbcbc"}) == "-bcc-abc-bcbcbcbc [b cc bc bcbcbcbc]"
    assert way
