"""Templates see the same inventory as with Kapitan itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import reclass_rs
import yaml

from commodore.core.engine import InstanceJob
from tests.core.engine.world import World, jsonnet

KAPITAN = """
import json, sys
from kapitan import cached
from kapitan.inventory.backends.reclass_rs import ReclassRsInventory
from kapitan.targets import load_target_inventory
from kapitan.utils import normalise_join_path

root, *names = sys.argv[1:]
inventory = ReclassRsInventory(f"{root}/inventory")
everything = inventory.inventory
for settings in load_target_inventory(inventory, names):
    for item in settings.dependencies or []:
        item.output_path = normalise_join_path(root, item.output_path)
one = {name: inventory.get_target(name).model_dump(by_alias=True) for name in inventory.targets}
json.dump({"all": everything, "one": one}, sys.stdout)
"""

CLASS = """
parameters:
  kapitan:
    secrets:
      vaultkv:
        VAULT_ADDR: https://vault.example.com
        VAULT_SKIP_VERIFY: 'false'
        auth: token
        engine: kv-v2
    labels: {one: two}
    extra: {kept: [1, 2]}
    vars: {more: true}
  numbers: [1, 1.0, 1e3, -0.5]
  text: "ü\\n"
  nothing: null
"""

TARGET = """
classes: [common]
applications: [x]
parameters:
  _instance: %(name)s
  kapitan:
    vars: {target: %(name)s}
    compile:
      - {input_type: jsonnet, input_paths: [main.jsonnet], output_path: ., output_type: json}
      - {input_type: helm, input_paths: [nowhere], output_path: h, ignore_missing: true}
    dependencies:
      - {type: https, source: 'https://127.0.0.1:9/x', output_path: fetched/x}
"""

MAIN = """
local kap = import 'lib/kapitan.libjsonnet';
local names = ['one', 'two', 'cluster'];
{
  view: { all: kap.inventory_global(), one: { [n]: kap.inventory(n) for n in names } },
  at_once: { all: std.native('inventory')(null, null), one: { [n]: std.native('inventory')(n, null) for n in names } },
}
"""


def test_views_equal_kapitans(world: World) -> None:
    world.write("inventory/classes/common.yml", CLASS)
    for name in ("one", "two"):
        world.write(f"inventory/targets/{name}.yml", TARGET % {"name": name})
        world.jobs.append(InstanceJob(name, name, world.root))
    world.write("inventory/targets/cluster.yml", "classes: [common]\nparameters: {_instance: cluster}\n")
    world.write("main.jsonnet", MAIN)
    world.nodes |= render(world.root / "inventory")
    world.compile(fetch=False)
    without_fetching = json.loads(world.read("one/view.json"))
    assert json.loads(world.read("one/at_once.json")) == without_fetching

    expected = kapitans_own(world.root, "one", "two")
    assert without_fetching["all"] == expected["all"]
    for name in ("one", "two"):
        assert without_fetching["one"][name]["parameters"]["kapitan"]["target_full_path"] == name
        # Kapitan makes paths of dependencies absolute when it fetches them.
        item = expected["one"][name]["parameters"]["kapitan"]["dependencies"][0]
        assert item["output_path"] == f"{world.root}/fetched/x"
        item["output_path"] = "fetched/x"
    assert without_fetching["one"] == expected["one"]


def test_fetched_dependencies_have_absolute_paths(world: World) -> None:
    dependency = {"type": "git", "source": str(world.root / "repo"), "output_path": "fetched/x"}
    run_git(world.root / "repo")
    world.add("a", jsonnet("main.jsonnet", output_type="json"), kapitan={"dependencies": [dependency]})
    world.write(
        "main.jsonnet", "{ out: (import 'lib/kapitan.libjsonnet').inventory().parameters.kapitan.dependencies }"
    )
    world.compile()
    assert json.loads(world.read("a/out.json"))[0]["output_path"] == str(world.root / "fetched" / "x")


def test_parts_of_the_view_behave_like_any_object(world: World) -> None:
    """Parameters come one by one when they are read; adding to them, listing and comparing them is not affected."""
    world.add("a", jsonnet("main.jsonnet"), size={"x": 1}, other=[1, 2])
    world.write(
        "main.jsonnet",
        """
        local kap = import 'lib/kapitan.libjsonnet';
        local p = kap.inventory().parameters;
        local added = p { size+: { y: 2 }, new: self.size.x };
        {
          out: {
            added: added.size,
            new: added.new,
            keys: std.objectFields(p),
            same: kap.inventory('a') == kap.inventory() && std.native('inventory')('a', null) == kap.inventory(),
            merged: std.mergePatch(p.size, { x: null, z: 3 }),
            has: std.objectHas(p, 'size') && !std.objectHas(p, 'sizes'),
            get: std.get(p, 'sizes', 'nothing'),
          },
        }
        """,
    )
    world.compile()
    assert yaml.safe_load(world.read("a/out.yaml")) == {
        "added": {"x": 1, "y": 2},
        "new": 1,
        "keys": ["_instance", "_kapitan_", "_reclass_", "kapitan", "other", "size"],
        "same": True,
        "merged": {"z": 3},
        "has": True,
        "get": "nothing",
    }


def render(inventory: Path) -> dict[str, Any]:
    settings = {"nodes_uri": "targets", "classes_uri": "classes"}
    config = reclass_rs.Config.from_dict(str(inventory), settings, False)
    nodes: dict[str, Any] = reclass_rs.Reclass.from_config(config).inventory().as_dict()["nodes"]
    return nodes


def kapitans_own(root: Path, *names: str) -> dict[str, Any]:
    result = subprocess.run(
        [sys.executable, "-c", KAPITAN, str(root), *names], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    view: dict[str, Any] = json.loads(result.stdout)
    return view


def run_git(folder: Path) -> None:
    folder.mkdir()
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
