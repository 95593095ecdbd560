"""Jsonnet files of instances: what they may ask for, and what a trace of a run says about them."""

from __future__ import annotations

import textwrap
from typing import Any

import yaml

from commodore.base.events import TaskEnded
from tests.core.engine.world import World, jsonnet, node

TEXT = """
    local kap = import 'lib/kapitan.libjsonnet';
    local com = import 'lib/commodore.libjsonnet';
    { out: {
      numbers: [0.1 + 0.2, 1e21, 1.0, 1 / 3, 'is ' + 0.1, std.pow(2, 0.5)],
      texts: ['é👍', std.trim(' a '), std.format('%5.2f|%05d', [1.5, 7]), std.manifestYamlDoc({ a: 'yes' })],
      imports: [import 'one.libsonnet', std.length(importbin 'lines.txt')],
      loaded: std.parseJson(std.native('yaml_load')('values.yaml')),
      there: std.native('file_exists')('nothing').exists,
      sizes: [kap.inventory().parameters.size, com.inventory().parameters.size, kap.inventory('other').parameters.size],
      targets: std.objectFields(kap.inventory_global()),
    } }
"""
MADE = {
    "numbers": [0.30000000000000004, 10**21, 1, 1 / 3, "is 0.10000000000000001", 2**0.5],
    "texts": ["é👍", "a", " 1.50|00007", '"a": "yes"'],
    "imports": [{"one": 1, "up": "one\ntwo\n"}, 8],
    "loaded": {"a": [1, 0.5]},
    "there": False,
    "sizes": [5, 5, 7],
    "targets": ["a", "other"],
}


def fill(world: World, text: str, **parameters: Any) -> None:
    """An instance with one Jsonnet file, and what it may import."""
    world.add("a", jsonnet("a/main.jsonnet"), size=5, **parameters)
    world.nodes["other"] = node({"_instance": "other", "kapitan": {"vars": {"target": "other"}}, "size": 7})
    world.write("dependencies/a/main.jsonnet", textwrap.dedent(text))
    world.write("dependencies/a/one.libsonnet", "{ one: 1, up: importstr 'lines.txt' }")
    world.write("dependencies/a/lines.txt", "one\r\ntwo\n")
    world.write("values.yaml", "a: [1, 0.5]\n")


def facts(world: World) -> dict[str, Any]:
    (told,) = [dict(event.facts) for event in world.events if isinstance(event, TaskEnded) and event.facts]
    return told


def test_what_a_file_may_ask_for(world: World) -> None:
    fill(world, TEXT)
    world.compile()
    assert yaml.safe_load(world.read("a/out.yaml")) == MADE
    assert (facts(world)["jsonnet files"], list(facts(world))) == (1, ["jsonnet files", "jsonnet CPU seconds"])


def test_filters_count_too(world: World) -> None:
    filters = [{"type": "jsonnet", "filter": "f.jsonnet", "path": ".", "filterargs": {"word": "w"}}]
    fill(world, "{ out: { a: 1 } }", commodore={"postprocess": {"filters": filters}})
    world.write(
        "dependencies/a/f.jsonnet",
        """
        local file = std.extVar('output_path') + '/out.yaml';
        { out: std.native('yaml_load')(file) + { word: std.extVar('word'),
          size: std.native('commodore_inventory')().parameters.size,
          list: std.native('list_dir')(std.extVar('output_path'), true) } }
        """,
    )
    world.compile()
    assert world.read("a/out.yaml") == "a: 1\nlist:\n  - out.yaml\nsize: 5\nword: w\n"
    assert facts(world)["jsonnet files"] == 2
