"""Patterns that repositories bring are compared with texts in time that does not multiply."""

from __future__ import annotations

import random
import re

import pytest

from commodore.base.values import patterns
from commodore.base.values.globs import doublestar, go_path, matches, pathspec
from commodore.base.values.patterns import fits, steps

ENDLESS = [
    ("*a" * 60 + "b", "a" * 200),
    ("{a,aa}" * 60 + "b", "a" * 200),
    ("{a,b}*{a*,*a}" * 20 + "b", "a" * 200),
    ("**/*" * 40 + "b", "a/" * 100),
    ("[!b]*?" * 40 + "b", "a" * 200),
]


@pytest.mark.parametrize(("pattern", "text"), ENDLESS)
def test_globs_that_would_go_back_and_forth(pattern: str, text: str) -> None:
    for separator in ("", "/"):
        assert not matches(pattern, text, separator=separator)
    for kind in (doublestar, go_path, pathspec):
        compiled = kind(pattern)
        assert compiled is None or not fits(compiled, text)


@pytest.mark.parametrize(
    "expression",
    ["(a|aa)" * 40 + "$", "a?" * 40 + "a" * 40, "[ab]{0,3}" * 40 + "$", "(a*){0,9}" * 9, "(.*)" * 400, "(a+)+$"],
)
def test_what_may_take_long_is_seen(expression: str) -> None:
    assert steps(re.compile(expression), 5000) > patterns.MANY_STEPS


def test_both_ways_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(3)
    pieces = ["*", "**", "?", "a", "b", "/", "{a,b*}", "{a/b,[!a]}", "[ab]", "[!a-b]", ".", "**/", "{,a}", r"\*"]
    compared = 0
    for _ in range(3000):
        text = "".join(generator.choice("ab/.*") for _ in range(generator.randrange(9)))
        glob = "".join(generator.choice(pieces) for _ in range(generator.randrange(6)))
        for compiled in (doublestar(glob), go_path(glob), pathspec(glob)):
            if compiled is not None:
                monkeypatch.setattr(patterns, "MANY_STEPS", -1)
                assert fits(compiled, text) is (compiled.fullmatch(text) is not None), (glob, text)
                compared += compiled.fullmatch(text) is not None
    assert compared > 300
