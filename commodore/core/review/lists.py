"""Match the items of two lists: by identifying fields if known, else by similarity."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

from commodore.core.review.model import Item
from commodore.core.review.values import identity, leaves, similarity

_BY_FIELD: dict[str, tuple[tuple[str, ...], ...]] = {
    "ports": (("containerPort", "protocol"), ("port", "protocol"), ("containerPort",), ("port",), ("name",)),
    "volumeMounts": (("mountPath",),),
    "volumeDevices": (("devicePath",),),
    "volumeClaimTemplates": (("metadata.name",),),
    "envFrom": (("configMapRef.name|secretRef.name", "prefix"),),
    "tolerations": (("key|operator", "effect"), ("key|operator", "effect", "operator", "value")),
    "hostAliases": (("ip",),),
    "topologySpreadConstraints": (("topologyKey", "whenUnsatisfiable"),),
    "conditions": (("type",),),
    "ownerReferences": (("uid",), ("kind", "name")),
    "subjects": (("kind", "namespace", "name"), ("kind", "name")),
    "paths": (("path", "pathType"), ("path",)),
    "items": (("key",),),
    "rules": (
        ("alert|record",),
        ("alert|record", "labels.severity"),
    ),
    "endpoints": (("port|targetPort", "path"),),
    "parentRefs": (("name", "namespace", "sectionName", "port"),),
}
"""The fields by which Kubernetes merges lists, the most specific first; lists merged by `name` are left out.

Also fields of lists that Kubernetes replaces as a whole, such as tolerations: the fields that identify their
items. A dot leads into a map; of fields separated by `|`, the first existing one counts.
"""
_ANYWHERE = (
    ("name",),
    ("kind", "metadata.namespace", "metadata.name"),
    ("key",),
    ("host",),
    ("port", "protocol"),
    ("mountPath",),
    ("type",),
    ("path",),
    ("id",),
)
_SCALARS = (str, int, float, bool)
_DEFAULTS = {"protocol": "TCP"}
"""Values that the API server sets by default."""
_MATCHES = 1_000_000
"""The most compared pairs of items of two lists; larger lists are paired by index."""


def align(field: Any, old: Sequence[Any], new: Sequence[Any]) -> list[Item]:
    """Pair the items of two lists.

    Swapped lists give the same items, swapped.

    Args:
        field: the key of the lists.
    """
    for keys in (*_BY_FIELD.get(field, ()), *_ANYWHERE) if isinstance(field, str) else _ANYWHERE:
        old_names, new_names = _names(old, keys), _names(new, keys)
        if old_names is not None and new_names is not None and (old_names or new_names):
            return [Item(name, old_names.get(name), new_names.get(name)) for name in {**old_names, **new_names}]
    items = _align_by_content(old, new)
    return _labelled(items, old, new) if field == "rules" else items


def _labelled(items: list[Item], old: Sequence[Any], new: Sequence[Any]) -> list[Item]:
    """Name the items by what they grant, such as `resources=pods`; return them unnamed if the names are not unique.

    The grants of a Role's rule may change, so they do not identify the rule.
    """
    labels = []
    for item in items:
        sides = [_grant(rules[place]) for rules, place in ((old, item.old), (new, item.new)) if place is not None]
        labels.append(min(sides, key=lambda label: (len(label), label)))
    if "" in labels or len(set(labels)) < len(labels):
        return items
    return [Item(label, item.old, item.new) for label, item in zip(labels, items, strict=True)]


def _grant(rule: Any) -> str:
    """Return the subject of a Role's rule: its resources and their groups, or URLs; empty for other items."""
    parts = []
    for key in ("resources", "nonResourceURLs", "apiGroups", "resourceNames"):
        values = rule.get(key) if isinstance(rule, dict) else None
        if isinstance(values, list) and all(isinstance(value, str) for value in values) and any(values):
            parts.append(f"{key}={' '.join(value for value in values if value)}")
    return ",".join(parts) if parts and not parts[0].startswith(("apiGroups", "resourceNames")) else ""


def _names(items: Sequence[Any], keys: tuple[str, ...]) -> dict[str, int] | None:
    """Return the index of each item by name; None unless the keys name every item uniquely."""
    names: dict[str, int] = {}
    for index, item in enumerate(items):
        name = _name(item, keys)
        if name is None or name in names:
            return None
        names[name] = index
    return names


def _name(item: Any, keys: tuple[str, ...]) -> str | None:
    """Return the name of an item, such as `port=80,protocol=UDP`; None if the first key is missing or a value is not a
    scalar.
    """
    if not isinstance(item, dict):
        return None
    parts: list[str] = []
    for key in keys:
        path, value = _value(item, key)
        if value is None and key == keys[0]:
            return None
        if value is not None and not isinstance(value, _SCALARS):
            return None
        if key == keys[0] or value not in (None, "", _DEFAULTS.get(key)):
            parts.append(f"{path}={value}")
    return ",".join(parts)


def _value(item: dict[Any, Any], key: str) -> tuple[str, Any]:
    """Return the first existing field of several, with its value; the last field and None if all are missing."""
    path = key
    for path in key.split("|"):
        value: Any = item
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        if value is not None:
            return path, value
    return path, None


_SIMILAR = 2_500
"""The most compared pairs of maps of a block."""
_ALIKE = 0.4
"""The least share of common leaves of two maps that count as the same item."""
_Blocks = list[tuple[int, int, int, int]]


def _align_by_content(old: Sequence[Any], new: Sequence[Any]) -> list[Item]:
    ours, theirs = [identity(item) for item in old], [identity(item) for item in new]
    if (ours, len(old)) > (theirs, len(new)):  # the algorithm is not symmetric: fix the order of the sides
        return [Item(item.name, item.new, item.old) for item in _align_by_content(new, old)]
    if len(old) * len(new) > _MATCHES:
        blocks = [(0, len(old), 0, len(new))]
    else:
        blocks = [part for block in _blocks(ours, theirs) for part in _refined(block, old, new)]
    return [item for block in blocks for item in _pairs(block, old, new)]


def _pairs(block: tuple[int, int, int, int], old: Sequence[Any], new: Sequence[Any]) -> Iterator[Item]:
    """Yield the items of two blocks that replace each other: maps paired by similarity, other values by index."""
    ours, theirs = list(range(block[0], block[1])), list(range(block[2], block[3]))
    several = len(ours) * len(theirs) > 1 and len(ours) * len(theirs) <= _SIMILAR
    if several and all(isinstance(item, dict) for item in (*old[block[0] : block[1]], *new[block[2] : block[3]])):
        for index, other in _similar(ours, theirs, old, new):
            yield Item("", index, other)
            ours.remove(index)
            theirs.remove(other)
        yield from (Item("", index, None) for index in ours)
        yield from (Item("", None, other) for other in theirs)
        return
    common = min(len(ours), len(theirs))
    yield from (Item("", index, other) for index, other in zip(ours, theirs, strict=False))
    yield from (Item("", index, None) for index in ours[common:])
    yield from (Item("", None, other) for other in theirs[common:])


def _similar(
    ours: Sequence[int], theirs: Sequence[int], old: Sequence[Any], new: Sequence[Any]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of indices of similar maps, the most similar first, each index once."""
    before, after = {index: leaves(old[index]) for index in ours}, {index: leaves(new[index]) for index in theirs}
    rated = [(similarity(before[index], after[other]), index, other) for index in ours for other in theirs]
    taken: set[tuple[str, int]] = set()
    for share, index, other in sorted(rated, key=lambda pair: (-pair[0], abs(pair[1] - pair[2]), pair)):
        if share >= _ALIKE and ("old", index) not in taken and ("new", other) not in taken:
            taken |= {("old", index), ("new", other)}
            yield index, other


def _blocks(ours: Sequence[Any], theirs: Sequence[Any]) -> _Blocks:
    """Return the equal and the replaced blocks of two lists."""
    return [code[1:] for code in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()]


def _refined(block: tuple[int, int, int, int], old: Sequence[Any], new: Sequence[Any]) -> _Blocks:
    """Split a block so that program arguments of the same name are paired."""
    old_start, old_end, new_start, new_end = block
    if old_end == old_start or new_end == new_start:
        return [block]
    ours, theirs = (list(map(_argument, items)) for items in (old[old_start:old_end], new[new_start:new_end]))
    if not any(ours) or not any(theirs):
        return [block]
    return [
        (old_start + start, old_start + end, new_start + other_start, new_start + other_end)
        for start, end, other_start, other_end in _blocks(ours, theirs)
    ]


def _argument(item: Any) -> str:
    """Return the name of an argument: `--level` of `--level=2`; empty for other items."""
    return item.partition("=")[0] if isinstance(item, str) and item.startswith("-") else ""
