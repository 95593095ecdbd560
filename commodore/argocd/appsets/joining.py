"""Joining the parameter sets of several generators: matrix and merge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from commodore.base.errors import InputError, Location

Params = dict[str, Any]


def crossed(first: Params, second: Params, *, go: bool, path: str, place: Location) -> Params:
    """Parameters of both; in Go templates those of the first win.

    Raises:
        InputError: CMD-ARGO-213, flat parameters differ.
    """
    if go:
        return overlaid(second, first)
    for key, value in second.items():
        if key in first and first[key] != value:
            raise InputError(
                "CMD-ARGO-213",
                f"{path}: both generators give the parameter {key}, with different values",
                hint="rename one of them, or use Go templates",
                locations=[place],
            )
    return {**first, **second}


def overlaid(under: Mapping[str, Any], over: Mapping[str, Any]) -> Params:
    """Two maps in one: maps join, of other values the second one's count."""
    found = dict(under)
    for key, value in over.items():
        old = found.get(key)
        found[key] = overlaid(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return found


def merged(
    several: Sequence[Sequence[Params]], keys: Sequence[str], *, go: bool, path: str, place: Location
) -> list[Params]:
    """The sets of the first generator, with what the others say of the same keys laid over them in turn.

    Raises:
        InputError: CMD-ARGO-212, two sets of one generator have the same keys, or no keys are named.
    """
    if not keys:
        raise InputError(
            "CMD-ARGO-212", f"{path} names no mergeKeys", hint="name what the sets have in common", locations=[place]
        )
    base = _keyed(several[0], keys, path, place)
    for others in several[1:]:
        for key, params in _keyed(others, keys, path, place).items():
            if key in base:
                base[key] = overlaid(base[key], params) if go else {**base[key], **params}
    return list(base.values())


def _keyed(several: Sequence[Params], keys: Sequence[str], path: str, place: Location) -> dict[str, Params]:
    found: dict[str, Params] = {}
    for params in several:
        values = {key: params.get(key) for key in keys}
        text = json.dumps(values, sort_keys=True)
        if text in found:
            raise InputError(
                "CMD-ARGO-212",
                f"{path}: two sets of one generator have the same mergeKeys: {text}",
                hint="the values of the keys must differ within each generator; nested keys are not looked up",
                locations=[place],
            )
        found[text] = params
    return found
