"""The order of tasks: slow instances first, and none waits for files that it does not need."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.base.events import Event, StageAdvanced, TaskBegun, TaskEnded
from commodore.core.confinement import TrustPolicy
from commodore.core.engine import Engine
from tests.core.engine.echo import Echo
from tests.core.engine.world import World, jsonnet
from tests.world.context import make_context


def order(world: World) -> list[str]:
    """Compile one instance after another; returns which came when."""
    del world.events[:]
    world.compile(processes=1)
    return [event.item for event in world.events if isinstance(event, StageAdvanced)]


def durations(world: World) -> Path:
    return world.root / ".commodore" / "durations.json"


@pytest.fixture
def several(world: World) -> World:
    for number, name in enumerate("abc"):
        world.add(name, *[jsonnet("main.jsonnet")] * (number + 1))
    world.write("main.jsonnet", "{}")
    return world


def test_the_slowest_instance_comes_first(several: World) -> None:
    several.write(".commodore/durations.json", '{"a": 3, "b": 0.5, "c": 2.5}')
    assert order(several) == ["a", "c", "b"]
    known = json.loads(durations(several).read_text())
    assert sorted(known) == ["a", "b", "c"]
    assert all(0 <= seconds < 100 for seconds in known.values())
    assert known["a"] != 3


def test_new_instances_come_before_known_ones(several: World) -> None:
    several.write(".commodore/durations.json", '{"b": 3, "gone": 7}')
    assert order(several) == ["c", "a", "b"]
    assert sorted(json.loads(durations(several).read_text())) == ["a", "b", "c", "gone"]


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"a": "x", "b": -1, "c": NaN}', '{"a": null, "b": [], "c": 1e999}', "[" * 200_000]
)
def test_damaged_durations_do_not_matter(several: World, content: str) -> None:
    """Of unknown instances, the one with most inputs comes first."""
    several.write(".commodore/durations.json", content)
    assert order(several) == ["c", "b", "a"]
    assert sorted(json.loads(durations(several).read_text())) == ["a", "b", "c"]


def test_durations_that_cannot_be_kept(several: World) -> None:
    durations(several).mkdir(parents=True)
    assert order(several) == ["c", "b", "a"]


def compile_with(world: World, announce: Callable[[Event], None]) -> None:
    with Engine(make_context(announce), processes=1) as engine:
        engine.compile(world.jobs, world.nodes, world.request())


def dependency(echo: Echo, name: str, output: str) -> dict[str, Any]:
    return {"dependencies": [{"type": "http", "source": f"{echo.url}/{name}", "output_path": output}]}


def test_nothing_waits_for_others_dependencies(world: World, echo: Echo) -> None:
    """The server answers no request before instance `b`, which needs nothing, is compiled."""
    echo.may_answer.clear()
    world.add("a", jsonnet("a/main.jsonnet"), kapitan=dependency(echo, "x", "dependencies/a/fetched"))
    world.write("dependencies/a/main.jsonnet", "{ out: { is: import 'fetched' } }")
    world.add("b")

    def listen(event: Event) -> None:
        if isinstance(event, StageAdvanced) and event.item == "b":
            echo.may_answer.set()

    compile_with(world, listen)
    assert world.read("a/out.yaml") == "is: /x\n"


def test_more_is_fetched_at_a_time_than_compiled(world: World, echo: Echo) -> None:
    """One worker compiles, but the second request does not wait for the first one's answer."""
    echo.may_answer.clear()
    echo.answer_from = 4
    for name in "abcd":
        world.add(name, kapitan=dependency(echo, name, f"fetched/{name}"))
    compile_with(world, lambda _: None)
    assert sorted(echo.asked) == ["/a", "/b", "/c", "/d"]


def test_inputs_that_others_fetch_are_waited_for(world: World, echo: Echo) -> None:
    """An instance may compile what another one has fetched, without asking for it itself."""
    world.add("a")
    world.add("b", kapitan=dependency(echo, "text", "charts/sub/x"))
    world.add("c", {"input_type": "copy", "input_paths": ["charts"], "output_path": "."})
    world.compile()
    assert world.read("c/sub/x") == '"/text"'


def test_tasks_are_told_for_traces(world: World, echo: Echo) -> None:
    """Each task begins and ends once, and is distinct from all others; a fetch names all instances that need it."""
    world.add("a", kapitan=dependency(echo, "x", "fetched/x"))
    world.add("b", kapitan=dependency(echo, "x", "fetched/x"))
    world.add("c", jsonnet("main.jsonnet"), kapitan=dependency(echo, "y", "fetched/y"))
    world.write("main.jsonnet", "{ out: {} }")
    collected: list[Event] = []
    compile_with(world, collected.append)
    begun = {(event.task, event.item, event.place): event for event in collected if isinstance(event, TaskBegun)}
    ended = [event for event in collected if isinstance(event, TaskEnded)]
    assert sorted((event.task, event.item, event.place) for event in ended) == sorted(begun)
    assert len(begun) == len(ended) == 3 + 2 + 3
    fetches = {
        item: [name for _, name in event.instances] for (task, item, _), event in begun.items() if task == "fetch"
    }
    assert fetches == {f"{echo.url}/x": ["a", "b"], f"{echo.url}/y": ["c"]}
    assert [event.failed for event in ended] == [False] * 8
    compiled = next(event for event in ended if event.task == "compile" and event.item == "c")
    parts = dict(compiled.parts)
    assert {"render", "filter"} <= set(parts)
    assert sum(parts.values()) <= compiled.seconds


def test_credentials_of_sources_are_not_told(world: World, echo: Echo) -> None:
    source = f"{echo.url}/x".replace("http://", "http://user:secret@")
    world.add("a", kapitan={"dependencies": [{"type": "http", "source": source, "output_path": "fetched/x"}]})
    collected: list[Event] = []
    compile_with(world, collected.append)
    assert [event for event in collected if isinstance(event, TaskBegun) and event.task == "fetch"]
    assert "secret" not in str(collected)


def test_new_instances_that_run_commands_come_first(world: World) -> None:
    """Their fetches are slow: all others here wait for the second of them."""
    wait = f"i=0; while [ ! -e {world.root}/go ]; do i=$((i + 1)); [ $i -lt 600 ] || exit 1; sleep 0.05; done"
    world.tool("helm", f"{wait}; while [ $# -gt 1 ]; do shift; done")
    world.write("charts/one/Chart.yaml", "name: one\n")
    for name, command in (("y", wait), ("z", f"touch {world.root}/go")):
        world.write(f"dependencies/{name}/run", f"#!/bin/sh\n{command}\n", executable=True)
        world.add(name, {"input_type": "external", "input_paths": [f"{name}/run"], "output_path": "."})
    chart = {"input_type": "helm", "input_paths": ["charts/one"], "output_path": ".", "helm_params": {"name": "x"}}
    for name in ("a", "b"):
        world.add(name, chart)
    assert [compiled.name for compiled in world.compile(processes=2, policy=TrustPolicy(isolated=False))] == [
        "y",
        "z",
        "a",
        "b",
    ]


def test_instances_that_run_commands_do_not_take_all_places(world: World) -> None:
    """Three commands wait for what only a fourth instance does; two workers compile, and one
    command runs in addition.
    """
    world.tool("helm", f"touch {world.root}/go; while [ $# -gt 1 ]; do shift; done")
    world.write("charts/one/Chart.yaml", "name: one\n")
    command = f"i=0; while [ ! -e {world.root}/go ]; do i=$((i + 1)); [ $i -lt 600 ] || exit 1; sleep 0.05; done"
    for name in ("a", "b", "c"):
        world.write(f"dependencies/{name}/wait", f"#!/bin/sh\n{command}\n", executable=True)
        world.add(name, {"input_type": "external", "input_paths": [f"{name}/wait"], "output_path": "."})
    world.add(
        "d", {"input_type": "helm", "input_paths": ["charts/one"], "output_path": ".", "helm_params": {"name": "x"}}
    )
    assert [compiled.name for compiled in world.compile(processes=2)] == ["a", "b", "c", "d"]


def test_instances_that_wait_for_commands_leave_room_for_others(world: World) -> None:
    """Two commands wait for what only a third instance does; with two workers that would wait for ever."""
    world.tool("helm", f"touch {world.root}/go; while [ $# -gt 1 ]; do shift; done")
    world.write("charts/one/Chart.yaml", "name: one\n")
    command = f"i=0; while [ ! -e {world.root}/go ]; do i=$((i + 1)); [ $i -lt 600 ] || exit 1; sleep 0.05; done"
    for name in ("a", "b"):
        world.write(f"dependencies/{name}/wait", f"#!/bin/sh\n{command}\n", executable=True)
        world.add(name, {"input_type": "external", "input_paths": [f"{name}/wait"], "output_path": "."})
    world.add(
        "c", {"input_type": "helm", "input_paths": ["charts/one"], "output_path": ".", "helm_params": {"name": "x"}}
    )
    assert [compiled.name for compiled in world.compile(processes=2)] == ["a", "b", "c"]
