"""How the items of two lists belong together: by what names them where that is known, else by what they are."""

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
"""The fields that Kubernetes merges lists by, most telling first; of the lists that are merged by `name`, none.

Also of lists that Kubernetes replaces as a whole, such as tolerations: the fields by which
people tell their items apart. A dot leads into a map; of fields with `|` between them, the first that is there counts.
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
"""Values that the API server sets: naming them changes nothing."""
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
    items = _align_by_content(old, new)
    return _labelled(items, old, new) if field == "rules" else items


def _labelled(items: list[Item], old: Sequence[Any], new: Sequence[Any]) -> list[Item]:
    """The items with what they grant as names, such as `resources=pods`; as they are, unless that tells all apart.

    What a rule of a Role grants may change, so it does not say which rules belong together.
    """
    labels = []
    for item in items:
        sides = [_grant(rules[place]) for rules, place in ((old, item.old), (new, item.new)) if place is not None]
        labels.append(min(sides, key=lambda label: (len(label), label)))
    if "" in labels or len(set(labels)) < len(labels):
        return items
    return [Item(label, item.old, item.new) for label, item in zip(labels, items, strict=True)]


def _grant(rule: Any) -> str:
    """What a rule of a Role is about: its resources and their groups, or URLs; empty for anything else."""
    parts = []
    for key in ("resources", "nonResourceURLs", "apiGroups", "resourceNames"):
        values = rule.get(key) if isinstance(rule, dict) else None
        if isinstance(values, list) and all(isinstance(value, str) for value in values) and any(values):
            parts.append(f"{key}={' '.join(value for value in values if value)}")
    return ",".join(parts) if parts and not parts[0].startswith(("apiGroups", "resourceNames")) else ""


def _names(items: Sequence[Any], keys: tuple[str, ...]) -> dict[str, int] | None:
    """The index of each item by what names it; None if these keys do not name every item, each once."""
    names: dict[str, int] = {}
    for index, item in enumerate(items):
        name = _name(item, keys)
        if name is None or name in names:
            return None
        names[name] = index
    return names


def _name(item: Any, keys: tuple[str, ...]) -> str | None:
    """What names an item, such as `port=80,protocol=UDP`; None unless the first key is there and all are scalars."""
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
    """The first of some fields that is there, with its path; the last field and None if there is none."""
    path = key
    for path in key.split("|"):
        value: Any = item
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else None
        if value is not None:
            return path, value
    return path, None


_SIMILAR = 2_500
"""Pairs of maps of one part that are looked at for similar ones."""
_ALIKE = 0.4
"""The share of leaves that two maps must have in common to count as one that changed."""
_Blocks = list[tuple[int, int, int, int]]


def _align_by_content(old: Sequence[Any], new: Sequence[Any]) -> list[Item]:
    ours, theirs = [identity(item) for item in old], [identity(item) for item in new]
    if (ours, len(old)) > (theirs, len(new)):  # the algorithm favours one side: always the same
        return [Item(item.name, item.new, item.old) for item in _align_by_content(new, old)]
    if len(old) * len(new) > _MATCHES:
        blocks = [(0, len(old), 0, len(new))]
    else:
        blocks = [part for block in _blocks(ours, theirs) for part in _refined(block, old, new)]
    return [item for block in blocks for item in _pairs(block, old, new)]


def _pairs(block: tuple[int, int, int, int], old: Sequence[Any], new: Sequence[Any]) -> Iterator[Item]:
    """The items of two parts that replace each other: maps with those that are similar, anything else by its place."""
    ours, theirs = list(range(block[0], block[1])), list(range(block[2], block[3]))
    several = len(ours) * len(theirs) > 1 and len(ours) * len(theirs) <= _SIMILAR
    if several and all(isinstance(item, dict) for item in (*old[block[0] : block[1]], *new[block[2] : block[3]])):
        for one, other in _similar(ours, theirs, old, new):
            yield Item("", one, other)
            ours.remove(one)
            theirs.remove(other)
        yield from (Item("", one, None) for one in ours)
        yield from (Item("", None, other) for other in theirs)
        return
    common = min(len(ours), len(theirs))
    yield from (Item("", one, other) for one, other in zip(ours, theirs, strict=False))
    yield from (Item("", one, None) for one in ours[common:])
    yield from (Item("", None, other) for other in theirs[common:])


def _similar(
    ours: Sequence[int], theirs: Sequence[int], old: Sequence[Any], new: Sequence[Any]
) -> Iterator[tuple[int, int]]:
    """Pairs of places whose maps are similar, the most similar first, each place once."""
    before, after = {one: leaves(old[one]) for one in ours}, {one: leaves(new[one]) for one in theirs}
    rated = [(similarity(before[one], after[other]), one, other) for one in ours for other in theirs]
    taken: set[tuple[str, int]] = set()
    for share, one, other in sorted(rated, key=lambda found: (-found[0], abs(found[1] - found[2]), found)):
        if share >= _ALIKE and ("old", one) not in taken and ("new", other) not in taken:
            taken |= {("old", one), ("new", other)}
            yield one, other


def _blocks(ours: Sequence[Any], theirs: Sequence[Any]) -> _Blocks:
    """The parts of two lists that are equal, or replace each other."""
    return [code[1:] for code in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()]


def _refined(block: tuple[int, int, int, int], old: Sequence[Any], new: Sequence[Any]) -> _Blocks:
    """A block in smaller ones, in which arguments of a program stand beside those of the same name."""
    old_start, old_end, new_start, new_end = block
    if old_end == old_start or new_end == new_start:
        return [block]
    ours, theirs = (list(map(_argument, items)) for items in (old[old_start:old_end], new[new_start:new_end]))
    if not any(ours) or not any(theirs):
        return [block]
    return [
        (old_start + one, old_start + two, new_start + three, new_start + four)
        for one, two, three, four in _blocks(ours, theirs)
    ]


def _argument(item: Any) -> str:
    """The name of an argument: `--level` of `--level=2`; empty for anything else."""
    return item.partition("=")[0] if isinstance(item, str) and item.startswith("-") else ""
