"""The inventory in Jsonnet, loaded lazily: only values that a template reads are passed to Jsonnet, and recorded.

Kapitan converts a target's whole inventory for every call of `inventory()`, but most templates read a few of its keys.
Here the call returns an object of `lib/commodore_inventory.libjsonnet`, which loads parameters and their fields when
they are read. Its value equals Kapitan's; `std.native('inventory')` still returns everything at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from commodore.core.engine.cache.trace import TraceRecorder
from commodore.core.engine.jsonnet.go import Natives

_LIBRARY = Path(__file__).resolve().parents[3] / "lib" / "commodore_inventory.libjsonnet"
_REPLACED = """ + (
  local commodore_inventory(target) =
    local lazy = import %s;
    if target == null || target == '' then lazy.all() else lazy.target(target, false);
  {
    inventory(target=std.extVar('target'), inv_path=null):: commodore_inventory(target),
    inventory_global(target=null, inv_path=null):: commodore_inventory(target),
  })
"""
_SETTINGS = "kapitan"


class Views(Protocol):
    """Access to targets."""

    def names(self) -> list[str]:
        """Return the names of all targets."""
        ...

    def node(self, name: str) -> Mapping[str, Any]:
        """Return a target's rendered node, for the record."""
        ...

    def view(self, name: str) -> Mapping[str, Any]:
        """Return a compiled target as Kapitan's `inventory` returns it."""
        ...

    def plain_view(self, name: str) -> Mapping[str, Any]:
        """Return a target as Kapitan's `inventory_global` returns it."""
        ...


class NodeView:
    """Access to the only target that filters see, as rendered."""

    def __init__(self, name: str, node: Mapping[str, Any]) -> None:
        self._name = name
        self._node = node

    def names(self) -> list[str]:
        return [self._name]

    def node(self, name: str) -> Mapping[str, Any]:
        return self._node

    view = plain_view = node


def override(library: bytes) -> bytes:
    """Return Kapitan's `lib/kapitan.libjsonnet` with its inventory functions replaced by lazy ones."""
    return b"(" + library + b"\n)" + (_REPLACED % json.dumps(str(_LIBRARY))).replace("\n", " ").encode()


class LazyInventory:
    """The native functions of lazy objects. They take and return JSON text, which is passed faster than values.

    Args:
        views: access to the targets.
        current: the default target.
        reads: records the values that are read.
    """

    def __init__(self, views: Views, current: str, reads: TraceRecorder) -> None:
        self._views = views
        self._current = current
        self._reads = reads

    def natives(self) -> Natives:
        """Return the functions by name."""
        return {
            "commodore_targets": ((), self._targets),
            "commodore_fields": (("target", "plain", "part", "key"), self._fields),
            "commodore_value": (("target", "plain", "part", "key", "name"), self._value),
        }

    def _targets(self) -> str:
        names = self._views.names()
        self._reads.targets(names)
        return json.dumps(names)

    def _fields(self, target: str | None, plain: bool, part: str | None, key: str | None) -> str:
        """Return the field names of a target, of its parameters, or of a parameter; null if it is not a map."""
        name, value = self._open(target, plain)
        for step in (part, key):
            value = value[step] if step is not None else value
        if key is not None and (not isinstance(value, dict) or key == _SETTINGS):
            return "null"
        if part is not None:
            self._reads.touched(name, self._views.node(name), key or "")
        return json.dumps(list(value))

    def _value(self, target: str | None, plain: bool, part: str, key: str | None, name: str | None) -> str:
        """Return a whole value: a field of a target, a parameter, or a field of a parameter; null if it is missing."""
        owner, value = self._open(target, plain)
        path = [step for step in (part, key, name) if step is not None]
        if key == _SETTINGS or (part == "parameters" and key is None):
            self._reads.settings(owner)
        self._reads.value(owner, self._views.node(owner), *path)
        for step in path:
            value = value.get(step)
        return json.dumps(value)

    def _open(self, target: str | None, plain: bool) -> tuple[str, Any]:
        name = self._current if target is None else target
        return name, self._views.plain_view(name) if plain else self._views.view(name)
