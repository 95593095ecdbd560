"""Anything that does not come to an end, or takes whatever the machine has."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import CommodoreError
from commodore.core.confinement import TrustPolicy
from tests.core.engine.world import World, jsonnet

TIME, MEMORY = "CMD-CONF-009", "CMD-CONF-010"
SHORT = TrustPolicy(rendering_seconds=2.0)
SMALL = TrustPolicy(rendering_bytes=512 << 20)
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound memory like this")


def refused(world: World, code: str, policy: TrustPolicy) -> CommodoreError:
    """The one error; another instance is rendered all the same, and so is the next run."""
    world.add("good", jsonnet("good/main.jsonnet"))
    world.write("dependencies/good/main.jsonnet", "{ out: { a: 1 } }")
    error = world.fail_once(policy=policy)
    assert (error.code, error.exit_code) == (code, 4)
    world.jobs[:] = world.jobs[1:]
    world.compile()
    assert world.files() == ["good/out.yaml"]
    return error


@ON_LINUX
@pytest.mark.parametrize(
    "expression",
    [
        "std.length(std.range(1, 1000000000))",
        "std.length(std.repeat('x', 1000000000))",
        "std.length(std.foldl(function(text, _) text + text, std.range(1, 40), 'x'))",
        "std.manifestJsonMinified(std.makeArray(1000000000, function(i) i))",
    ],
)
def test_jsonnet_that_grows(world: World, expression: str) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", "{ out: { a: EXPRESSION } }".replace("EXPRESSION", expression))
    error = refused(world, MEMORY, SMALL)
    assert "'a': compile entry 0 (jsonnet to .)" in error.message
    assert "a/main.jsonnet" in error.message
    assert "raise rendering_bytes in a trust policy or with COMMODORE_LIMITS" in error.hint


@pytest.mark.parametrize("expression", ["local f(x) = f(x + 1); f(1)", "local a = { b: a }; a", "self.a"])
def test_jsonnet_that_calls_itself(world: World, expression: str) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", "{ out: { a: EXPRESSION } }".replace("EXPRESSION", expression))
    assert world.fail_once().code == "CMD-ENG-015"


def test_a_filter_that_grows(world: World) -> None:
    definition = {"type": "jsonnet", "filter": "f.jsonnet", "path": "."}
    world.add("a", commodore={"postprocess": {"filters": [definition]}})
    world.write("dependencies/a/f.jsonnet", "{ out: { a: std.length(std.range(1, 1000000000)) } }")
    assert "filter 0 (f.jsonnet)" in refused(world, MEMORY, SMALL).message


DOUBLING = "local f(n) = if n == 0 then 1 else f(n - 1) + f(n - 1); "
SCHEMA = "std.native('jsonschema_validate')"
ENDLESS: dict[str, tuple[dict[str, Any], str, str]] = {
    "kadet": (
        {"input_type": "kadet", "input_paths": ["a/code"]},
        "code/__init__.py",
        "def main():\n    while 1: pass\n",
    ),
    "external": ({"input_type": "external", "input_paths": ["a/run"]}, "run", "#!/bin/sh\nwhile :; do sleep 1; done\n"),
    "jinja2": (
        {"input_type": "jinja2", "input_paths": ["a/t"]},
        "t",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    ),
    "a pattern": (
        {"input_type": "jinja2", "input_paths": ["a/t"]},
        "t",
        "{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' | regex_search('(a+)+$') }}",
    ),
    "exponential Jsonnet": (jsonnet("a/t.jsonnet"), "t.jsonnet", DOUBLING + "{ out: { a: f(60) } }"),
    "a pattern of a schema": (
        jsonnet("a/t.jsonnet"),
        "t.jsonnet",
        "{ out: " + SCHEMA + """('"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"', '{"pattern": "^(a+)+$"}') }""",
    ),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_does_not_end(world: World, kind: str) -> None:
    entry, path, text = ENDLESS[kind]
    world.add("a", {"output_path": ".", **entry})
    world.write(f"dependencies/a/{path}", text, executable=True)
    error = refused(world, TIME, SHORT)
    assert f"'a': compile entry 0 ({entry['input_type']} to .), " in error.message
    assert "raise rendering_seconds in a trust policy or with COMMODORE_LIMITS" in error.hint


@ON_LINUX
def test_what_was_started_ends_too(world: World, tmp_path: Path) -> None:
    """A child of a child, which has left the group."""
    world.add("a", {"input_type": "external", "input_paths": ["a/run"], "output_path": "."})
    mark = tmp_path / "a-mark-that-no-other-process-has"
    world.write("dependencies/a/run", f"#!/bin/sh\nsh -c 'sleep 600; : {mark}' &\nsleep 600\n", executable=True)
    refused(world, TIME, SHORT)
    assert not list(running(str(mark)))


def running(mark: str) -> list[str]:
    """The processes with this in their command line."""
    results = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if mark.encode() in (entry / "cmdline").read_bytes():
                    results.append(entry.name)
    return results


def bomb(depth: int = 9) -> str:
    """A document that unfolds to 10^depth texts."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]" for number in range(1, depth)]
    return "\n".join(lines) + "\n"


MERGES = "a0: &a0 {x: 1}\n" + "\n".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 9))
MALICIOUS = {
    "aliases": bomb(),
    "merges": MERGES,
    "depth": "[" * 100_000 + "]" * 100_000,
    "deep maps": "{a: " * 99_999,
}


@pytest.mark.parametrize("kind", MALICIOUS)
@pytest.mark.parametrize("read", ["yaml_load", "yaml_load_stream"])
def test_yaml_of_templates(world: World, read: str, kind: str) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/bad.yml", MALICIOUS[kind])
    world.write("dependencies/a/main.jsonnet", f"{{ out: {{ a: std.native('{read}')('a/bad.yml') }} }}")
    error = world.fail_once(policy=SMALL)
    assert (error.code, "bad.yml" in error.message) == ("CMD-ENG-015", True)


@pytest.mark.parametrize("kind", MALICIOUS)
def test_yaml_of_filters(world: World, kind: str) -> None:
    definition = {"type": "jsonnet", "filter": "f.jsonnet", "path": "."}
    world.add("a", commodore={"postprocess": {"filters": [definition]}})
    bad = world.write("dependencies/a/bad.yml", MALICIOUS[kind])
    world.write("dependencies/a/f.jsonnet", f"{{ out: {{ a: std.native('yaml_load')('{bad}') }} }}")
    error = world.fail_once(policy=SMALL)
    assert (error.code, "bad.yml" in error.message) == ("CMD-ENG-047", True)
