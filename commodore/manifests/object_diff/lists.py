"""How the items of two lists belong together: by what names them where that is known, else by what they are."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from commodore.manifests.object_diff.model import Item
from commodore.manifests.object_diff.values import identity

_BY_FIELD: dict[str, tuple[tuple[str, ...], ...]] = {
    "ports": (("containerPort", "protocol"), ("port", "protocol"), ("containerPort",), ("port",), ("name",)),
    "volumeMounts": (("mountPath",),),
    "volumeDevices": (("devicePath",),),
    "hostAliases": (("ip",),),
    "topologySpreadConstraints": (("topologyKey", "whenUnsatisfiable"),),
    "conditions": (("type",),),
    "ownerReferences": (("uid",), ("kind", "name")),
    "subjects": (("kind", "namespace", "name"), ("kind", "name")),
    "paths": (("path", "pathType"), ("path",)),
    "items": (("key",),),
}
"""The fields that Kubernetes merges lists by, most telling first; of the lists that are merged by `name`, none."""
_ANYWHERE = (("name",), ("key",), ("host",), ("port", "protocol"), ("mountPath",), ("type",), ("path",), ("id",))
_SCALARS = (str, int, float, bool)
_MATCHES = 1_000_000
"""Pairs of items that are compared in one pair of lists; larger lists are paired by their places."""


def align(field: Any, old: Sequence[Any], new: Sequence[Any]) -> list[Item]:
    """Every item of two lists, those that belong together as one.

    The same lists with their sides swapped give the same items, with theirs swapped.

    Args:
        field: the key under which the lists stand.
    """
    for keys in (*_BY_FIELD.get(field, ()), *_ANYWHERE) if isinstance(field, str) else _ANYWHERE:
        old_names, new_names = _names(old, keys), _names(new, keys)
        if old_names is not None and new_names is not None and (old_names or new_names):
            return [Item(name, old_names.get(name), new_names.get(name)) for name in {**old_names, **new_names}]
    return _align_by_content(old, new)


def _names(items: Sequence[Any], keys: tuple[str, ...]) -> dict[str, int] | None:
    """The index of each item by what names it; None if these keys do not name every item, each once."""
    names: dict[str, int] = {}
    for index, item in enumerate(items):
        if not isinstance(item, dict) or keys[0] not in item:
            return None
        values = [item.get(key, "") for key in keys]
        if not all(isinstance(value, _SCALARS) for value in values):
            return None
        named = zip(keys, values, strict=True)
        name = ",".join(f"{key}={value}" for key, value in named if value != "" or key == keys[0])
        if name in names:
            return None
        names[name] = index
    return names


def _align_by_content(old: Sequence[Any], new: Sequence[Any]) -> list[Item]:
    ours, theirs = [identity(item) for item in old], [identity(item) for item in new]
    if (ours, len(old)) > (theirs, len(new)):  # the algorithm favours one side: always the same
        return [Item(item.name, item.new, item.old) for item in _align_by_content(new, old)]
    if len(old) * len(new) > _MATCHES:
        blocks = [(0, len(old), 0, len(new))]
    else:
        blocks = [code[1:] for code in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()]
    found: list[Item] = []
    for old_start, old_end, new_start, new_end in blocks:
        common = min(old_end - old_start, new_end - new_start)
        found += [Item("", old_start + step, new_start + step) for step in range(common)]
        found += [Item("", index, None) for index in range(old_start + common, old_end)]
        found += [Item("", None, index) for index in range(new_start + common, new_end)]
    return found
