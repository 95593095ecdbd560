"""The inventory in Jsonnet, of which only what is read crosses the border, and is recorded.

Kapitan converts a target's whole inventory for every call of `inventory()`; most templates read a few of its keys. Here
the call gives an object of `lib/commodore_inventory.libjsonnet`, whose parameters and their fields are fetched when
they are read. Equal in value to Kapitan's; `std.native('inventory')` still gives all at once.
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
    """Where targets come from."""

    def names(self) -> list[str]:
        """All targets."""
        ...

    def node(self, name: str) -> Mapping[str, Any]:
        """A target as it was rendered, for the record."""
        ...

    def view(self, name: str) -> Mapping[str, Any]:
        """A compiled target as Kapitan's `inventory` gives it."""
        ...

    def plain_view(self, name: str) -> Mapping[str, Any]:
        """A target as Kapitan's `inventory_global` gives it."""
        ...


class NodeView:
    """The one target that filters see, as it was rendered."""

    def __init__(self, name: str, node: Mapping[str, Any]) -> None:
        self._name = name
        self._node = node

    def names(self) -> list[str]:
        return [self._name]

    def node(self, name: str) -> Mapping[str, Any]:
        return self._node

    view = plain_view = node


def override(library: bytes) -> bytes:
    """Kapitan's `lib/kapitan.libjsonnet` with these functions in place of its own."""
    return b"(" + library + b"\n)" + (_REPLACED % json.dumps(str(_LIBRARY))).replace("\n", " ").encode()


class LazyInventory:
    """The native functions behind the objects. They take and give JSON text, which crosses faster than values do.

    Args:
        views: where targets come from.
        current: the target that is meant when none is named.
        reads: where to note what is read.
    """

    def __init__(self, views: Views, current: str, reads: TraceRecorder) -> None:
        self._views = views
        self._current = current
        self._reads = reads

    def natives(self) -> Natives:
        """The functions by name."""
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
        """The names in an object: of a target, of its parameters, of a parameter; null if that is no map."""
        name, value = self._open(target, plain)
        for step in (part, key):
            value = value[step] if step is not None else value
        if key is not None and (not isinstance(value, dict) or key == _SETTINGS):
            return "null"
        if part is not None:
            self._reads.touched(name, self._views.node(name), key or "")
        return json.dumps(list(value))

    def _value(self, target: str | None, plain: bool, part: str, key: str | None, name: str | None) -> str:
        """A whole value: a field of a target, a parameter, a field of a parameter; null if there is none."""
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
