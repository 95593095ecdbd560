"""Several compiles at once: what they share, and what never touches another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from commodore.base.errors import Findings, InternalError
from commodore.core.engine import Batch, BatchOutcome
from tests.core.engine.echo import Echo
from tests.core.engine.world import World, jsonnet, node


@pytest.fixture
def cases(world: World) -> World:
    """A component whose test cases are to be compiled."""
    world.add("c", jsonnet("c/main.jsonnet"))
    world.write(
        "dependencies/c/main.jsonnet",
        "local inv = (import 'lib/kapitan.libjsonnet').inventory(); { out: inv.parameters.out }",
    )
    return world


def case(world: World, name: str, *dependencies: dict[str, Any], **parameters: Any) -> Batch:
    """A test case: the instance with other parameters, into a folder of its own."""
    kapitan = {"compile": [jsonnet("c/main.jsonnet")], "dependencies": list(dependencies)}
    nodes = {"c": node({"kapitan": kapitan, **parameters})}
    return Batch(world.jobs, nodes, world.request(output=world.root / "cases" / name))


def texts(outcomes: tuple[BatchOutcome, ...]) -> list[str | None]:
    """The output of each batch, or the code of its error."""
    return [
        outcome.error.code if outcome.error else (outcome.compiled[0].directory / "out.yaml").read_text()
        for outcome in outcomes
    ]


def test_batches_share_an_instances_name(cases: World) -> None:
    batches = [case(cases, str(number), out={"n": number}) for number in range(4)]
    assert texts(cases.engine.compile_batches(batches)) == [f"n: {number}\n" for number in range(4)]
    assert list((cases.root / ".commodore").iterdir()) == []
    assert cases.engine.compile_batches([]) == ()


def test_errors_stay_in_their_batch(cases: World) -> None:
    """If the inventory, the dependencies or the rendering fails, other batches go on and lose nothing."""
    good = case(cases, "good", out={"n": 1})
    missing = Batch(cases.jobs, {}, cases.request(output=cases.root / "cases" / "missing"))
    no_plain_data = Batch(cases.jobs, {"c": node({"x": object()})}, replace(good.request, output=cases.root / "x"))
    unknown_field = case(cases, "unknown", {"type": "git", "source": "s", "output_path": "o", "typo": 1})
    outside = case(cases, "outside", {"type": "git", "source": "s", "output_path": "/nowhere"})
    broken = case(cases, "broken")
    old = cases.write("cases/broken/compiled/c/old.yaml", "old")
    outcomes = cases.engine.compile_batches([missing, good, no_plain_data, unknown_field, outside, broken])
    codes = ["CMD-ENG-003", "n: 1\n", "CMD-ENG-001", "CMD-ENG-008", "CMD-ENG-033", "CMD-ENG-015"]
    assert texts(outcomes) == codes
    assert old.read_text() == "old"


def test_a_dependency_of_several_batches_is_fetched_once(cases: World, echo: Echo) -> None:
    """For one place and for several; if it fails, each of them gets an error about its own instance."""
    good = {"type": "http", "source": f"{echo.url}/good", "output_path": str(cases.root / "fetched")}
    bad = {"type": "http", "source": f"{echo.url}/missing", "output_path": "fetched"}
    batches = [case(cases, str(number), good, out={"n": number}) for number in range(2)]
    batches.append(case(cases, "elsewhere", {**good, "output_path": "fetched"}, out={"n": 2}))
    batches += [case(cases, f"bad{number}", bad, out={}) for number in range(2)]
    outcomes = cases.engine.compile_batches(batches)
    assert texts(outcomes) == ["n: 0\n", "n: 1\n", "n: 2\n", "CMD-ENG-028", "CMD-ENG-028"]
    assert sorted(echo.asked) == ["/good", "/missing"]
    assert (cases.root / "fetched").read_text() == '"/good"'
    assert (cases.root / "cases" / "elsewhere" / "fetched").read_text() == '"/good"'
    for outcome in outcomes[3:]:
        assert not isinstance(outcome.error, Findings)
        assert str(outcome.error).startswith("CMD-ENG-028: instance 'c': cannot fetch the http dependency")


def test_batches_that_fetch_different_things_to_one_place(cases: World, echo: Echo) -> None:
    """As if they were compiled one after another: each finds what it asked for."""
    cases.write("dependencies/c/main.jsonnet", "{ out: { is: import 'fetched' } }")
    place = str(cases.root / "dependencies" / "c" / "fetched")
    batches = [
        case(cases, str(number), {"type": "http", "source": f"{echo.url}/{number % 2}", "output_path": place})
        for number in range(4)
    ]
    assert texts(cases.engine.compile_batches(batches)) == [f"is: /{number % 2}\n" for number in range(4)]
    assert echo.asked == ["/0", "/1"]


def test_an_output_twice(cases: World) -> None:
    with pytest.raises(InternalError) as caught:
        cases.engine.compile_batches([case(cases, "same"), case(cases, "same")])
    assert caught.value.code == "CMD-ENG-050"


def test_batches_that_write_to_their_component_follow_each_other(cases: World) -> None:
    """Files for kustomize are often generated into the component's folder, which all test cases share."""
    generated = cases.root / "dependencies" / "c" / "generated"
    script = 'sleep 0.2; cp "$FROM/out.yaml" "$1/out.yaml"'
    cases.write("copy.sh", f"#!/bin/sh\n{script}\n", executable=True)
    external = {
        "input_type": "external",
        "input_paths": ["copy.sh"],
        "output_path": ".",
        "args": ["${compiled_target_dir}"],
        "env_vars": {"FROM": str(generated)},
    }
    entries = [jsonnet("c/main.jsonnet", str(generated)), external]
    batches = []
    for number in range(4):
        batch = case(cases, str(number), out={"n": number})
        batches.append(replace(batch, nodes={"c": node({"kapitan": {"compile": entries}, "out": {"n": number}})}))
    assert texts(cases.engine.compile_batches(batches)) == [f"n: {number}\n" for number in range(4)]
