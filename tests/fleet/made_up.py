"""Made-up fleets of any shape, and the values of their cells by the plainest reading of the rules.

fleet = MadeUp(random.Random(7))
world.lay(fleet.files)
assert world.merged()[0] == fleet.expected()
"""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from typing import Any

import yaml

Prefix = tuple[str, ...]
_DIMENSIONS = ("environments", "sectors", "regions", "zones", "racks")
_NODES = ("a", "b", "c", "d")
_VERSIONS = ("v1.0.0", "v1.2.0", "v1.10.0", "v2.0.0-rc.1")
_KEYS = ("one", "two", "three")


@dataclass
class Placed:
    """A patch of an application at some prefixes.

    Attributes:
        needs: path below the application, the expected value.
        strategies: path below the application, the strategy.
    """

    app: str
    name: str
    values: dict[str, Any]
    prefixes: list[Prefix]
    needs: list[tuple[str, str]] = field(default_factory=list)
    strategies: dict[str, str] = field(default_factory=dict)


class MadeUp:
    """A fleet of one cluster type, `main`, by chance.

    Attributes:
        files: all of its files.
    """

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.dimensions = list(_DIMENSIONS[: chance.randint(1, 5)])
        self._sequence = self._nodes(0)
        self.cells = list(self._below(self._sequence, 0))
        self.prefixes = list(dict.fromkeys(cell[:depth] for cell in self.cells for depth in range(1, len(cell) + 1)))
        self.by_level = chance.random() < 0.5
        self._defaults = [self._item(0.3) for _ in range(2)]  # of all types, and of this one
        self._apps = {name: {"source": self._source(), **self._item(0.8)} for name in ("api", "web")}
        self._overrides = {
            (app, prefix): self._item(0.5) for app in self._apps for prefix in self.prefixes if chance.random() < 0.2
        }
        first = {prefix[0] for prefix in self.prefixes}
        names = sorted({prefix[-1] for prefix in self.prefixes if len(prefix) > 1} - first)
        self._flat = {(app, name): self._item(0.5) for app in self._apps for name in names if chance.random() < 0.2}
        self._patches = [item for number in range(chance.randint(0, 4)) if (item := self._patch(number))]
        self.files = self._files()

    # what there is

    def _nodes(self, level: int) -> list[Any]:
        names = self._chance.sample(_NODES, self._chance.randint(1, 3 if level < 2 else 2))
        if level + 1 == len(self.dimensions):
            return [name if self._chance.random() < 0.5 else {"name": name} for name in names]
        return [{"name": name, self.dimensions[level + 1]: self._nodes(level + 1)} for name in names]

    def _below(self, nodes: list[Any], level: int) -> Any:
        for node in nodes:
            name = node if isinstance(node, str) else node["name"]
            if level + 1 == len(self.dimensions):
                yield (name,)
            else:
                yield from ((name, *rest) for rest in self._below(node[self.dimensions[level + 1]], level + 1))

    def _source(self) -> dict[str, Any]:
        return {"repoURL": "https://charts.example.com", "targetRevision": self._chance.choice(_VERSIONS)}

    def _item(self, likely: float) -> dict[str, Any]:
        """Some fields of an application."""
        chance = self._chance
        item: dict[str, Any] = {}
        if chance.random() < likely:
            item["syncPolicy"] = {key: chance.randint(0, 9) for key in chance.sample(_KEYS, chance.randint(1, 2))}
        if chance.random() < likely:
            item["info"] = [chance.choice(_KEYS) for _ in range(chance.randint(0, 3))]
        if chance.random() < likely / 2:
            item["source"] = {"targetRevision": chance.choice(_VERSIONS)}
        return item

    def _patch(self, number: int) -> Placed | None:
        chance = self._chance
        app = chance.choice(sorted(self._apps))
        values = self._item(0.7)
        prefixes = chance.sample(self.prefixes, min(len(self.prefixes), chance.randint(1, 3)))
        covered = [cell for cell in self.cells if any(cell[: len(prefix)] == prefix for prefix in prefixes)]
        if not values or len(covered) == len(self.cells):
            return None  # it would be complete
        made = Placed(app, f"patch-{chance.choice('ab')}{number}", values, prefixes)
        if "info" in values and chance.random() < 0.6:
            made.strategies["info"] = chance.choice(["append", "append-unique", "replace"])
        if chance.random() < 0.5:  # on the other application, so that no circle comes about
            other = next(name for name in sorted(self._apps) if name != app)
            if app == "web":
                made.needs = [(f"{other}/{chance.choice(['version', 'source/targetRevision'])}", self._wish())]
        return made

    def _wish(self) -> str:
        version = self._chance.choice(_VERSIONS)
        return version if self._chance.random() < 0.3 else f"{self._chance.choice(['>=', '<', '!='])}{version}"

    # how it is written

    def _files(self) -> dict[str, str]:
        config = {
            "dimensions": self.dimensions,
            "sequence": {self.dimensions[0]: self._sequence},
            "cluster_types": ["main"],
            "generator": {"style": "charts", "patches": "by-level" if self.by_level else "last"},
        }
        files: dict[str, Any] = {
            "config/config.yaml": config,
            "config/application-defaults.yaml": {"defaults": self._defaults[0]},
            "config/main/application-defaults.yaml": {"defaults": self._defaults[1]},
        }
        for app, base in self._apps.items():
            files[f"config/main/{app}/values.yaml"] = {"applications": {app: base}}
        for (app, prefix), item in self._overrides.items():
            name = self._chance.choice(["values", "override"])
            files[f"config/main/{app}/{'/'.join(prefix)}/{name}.yaml"] = {"applications": {app: item}}
        for (app, name), item in self._flat.items():
            files[f"config/main/{app}/{name}/values.yaml"] = {"applications": {app: item}}
        for patch in self._patches:
            for prefix in patch.prefixes:
                folder = f"config/main/{patch.app}/{'/'.join(prefix)}"
                files |= self._patch_file(patch, folder)
        return {path: yaml.safe_dump(content, sort_keys=False) for path, content in files.items()}

    def _patch_file(self, placed: Placed, folder: str) -> dict[str, Any]:
        chance = self._chance
        slash = chance.choice(["", "/"])
        needs = [{f"/{path}": expected} for path, expected in placed.needs]
        metadata: dict[str, Any] = {"description": str(chance.random())}
        if needs:
            metadata["dependencies"] = needs
        if placed.strategies:
            metadata["merge_strategy"] = {
                f"{slash}{placed.app}/{path}": word for path, word in placed.strategies.items()
            }
        plain = {"metadata": metadata, "applications": {placed.app: placed.values}}
        rooted = chance.choice([{"applications": {placed.app: placed.values}}, {placed.app: placed.values}])
        written = plain if chance.random() < 0.5 else {"metadata": metadata, "patch": rooted}
        beside = chance.random() < 0.5
        return {f"{folder}/{placed.name}.yaml" if beside else f"{folder}/patches/{placed.name}.yaml": written}

    # what it comes to

    def expected(self) -> dict[str, Any]:
        """The values of each cell."""
        return {"/".join(cell): {"applications": self._cell(cell)} for cell in self.cells}

    def _cell(self, cell: Prefix) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for app, base in self._apps.items():
            for layer in (*self._defaults, base):
                values[app] = _merge(values.get(app, {}), layer, {})
        for depth in range(1, len(cell) + 1):
            for app in self._apps:
                for layer in (
                    self._flat.get((app, cell[depth - 1])) if depth > 1 else None,
                    self._overrides.get((app, cell[:depth])),
                ):
                    values[app] = _merge(values[app], layer or {}, {})
            if self.by_level:
                self._apply([patch for patch in self._patches if cell[:depth] in patch.prefixes], values)
        if not self.by_level:
            depths = {patch.name: [len(p) for p in patch.prefixes if cell[: len(p)] == p] for patch in self._patches}
            active = [patch for patch in self._patches if depths[patch.name]]
            self._apply(sorted(active, key=lambda item: (item.app, min(depths[item.name]), item.name)), values)
        return values

    def _apply(self, patches: list[Placed], values: dict[str, Any]) -> None:
        """Those of `api` come first: only those of `web` depend on others."""
        order = patches if not self.by_level else sorted(patches, key=lambda patch: (patch.app, patch.name))
        for item in order:
            if all(_met(values[path.split("/")[0]]["source"]["targetRevision"], wish) for path, wish in item.needs):
                values[item.app] = _merge(values[item.app], item.values, item.strategies)


def _merge(base: Any, over: Any, strategies: dict[str, str], path: str = "") -> Any:
    result = copy.deepcopy(base)
    for key, value in over.items():
        where, old = f"{path}/{key}".strip("/"), result.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            result[key] = _merge(old, value, strategies, where)
        elif isinstance(old, list) and strategies.get(where) == "append":
            result[key] = old + value
        elif isinstance(old, list) and strategies.get(where) == "append-unique":
            result[key] = old + [item for item in dict.fromkeys(value) if item not in old]
        else:
            result[key] = copy.deepcopy(value)
    return result


def _met(text: str, wish: str) -> bool:
    order = _VERSIONS.index  # they are listed from the lowest
    for sign in (">=", "<", "!="):
        if wish.startswith(sign):
            other = wish.removeprefix(sign)
            return {">=": order(text) >= order(other), "<": order(text) < order(other), "!=": text != other}[sign]
    return text == wish
