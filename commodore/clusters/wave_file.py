"""Waves from a file: a list of waves, or the sequence of a fleet's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from commodore.base.errors import CommodoreError, InputError, UsageError, did_you_mean, raise_all
from commodore.base.limits import Limits
from commodore.base.values.units import age_seconds
from commodore.clusters.waves import PUSHES, Amount, Match, Wave
from commodore.fleet.repository.config import FleetConfig, Prefix, in_path, read_config
from commodore.fleet.repository.files import Document, read_document
from commodore.fleet.repository.schema import schema_problems, static_schema

_CONFIG = ("config", "config.yaml")


def read_waves(path: Path, level: str, limits: Limits) -> tuple[Wave, ...]:
    """Read the waves of a file.

    Args:
        level: for `config/config.yaml`, the dimension whose nodes are the waves; empty for the first.

    Raises:
        InputError: CMD-FLT-103, waves are named twice or contradict themselves; else as `read_document`, and of a
            fleet as `read_config`.
        UsageError: CMD-FLT-121, no such level.
    """
    path = path.resolve()
    document = read_document(path, path.parent, limits)
    if isinstance(document.data, dict) and "sequence" in document.data:
        if path.parts[-2:] != _CONFIG:
            raise _wrong(document, (), "has a sequence, and is not config/config.yaml of a fleet")
        return tuple(_of_sequence(read_config(path.parent.parent, limits), level))
    if level:
        raise UsageError(
            "CMD-FLT-121", "wave-level needs the sequence of a fleet", hint="give --waves the file config/config.yaml"
        )
    raise_all(schema_problems(document, static_schema("waves")))
    entries = document.data["waves"]
    names = [entry["name"] for entry in entries]
    problems: list[CommodoreError] = []
    for number, entry in enumerate(entries):
        place = ("waves", number)
        if entry["name"] in names[:number]:
            problems.append(_wrong(document, (*place, "name"), f"has two waves {entry['name']!r}"))
        if {"percent", "count"} <= entry.get("clusters", {}).keys():
            problems.append(_wrong(document, (*place, "clusters"), f"has both percent and count in {entry['name']!r}"))
    raise_all(problems)
    return tuple(replace(_wave(entry), place=document.at(("waves", number))) for number, entry in enumerate(entries))


def _of_sequence(config: FleetConfig, level: str) -> list[Wave]:
    """Return a wave for each node of a dimension, selecting clusters by facts named like the dimensions."""
    dimension = level or config.dimensions[0]
    if dimension not in config.dimensions:
        raise UsageError(
            "CMD-FLT-121",
            f"there is no dimension {level!r}",
            hint=did_you_mean(level, config.dimensions) or f"there are {', '.join(config.dimensions)}",
        )
    depth = config.dimensions.index(dimension) + 1
    waves: list[Wave] = []
    entered: set[Prefix] = set()
    for node in (node for node in config.each() if len(node.prefix) == depth):
        above = [config.node(node.prefix[:length]) for length in range(1, depth + 1)]
        left = [item for item in above if config.last_below(item, depth) == node.prefix]
        waves.append(
            Wave(
                name=in_path(node.prefix),
                clusters=Match(facts=tuple(zip(config.singulars, node.prefix, strict=False))),
                manual=any(item.manual for item in above if item.prefix not in entered),
                soak=max((item.soak for item in left), default=0),
                origin="sequence",
            )
        )
        entered.update(item.prefix for item in above)
    return waves


def _wave(entry: Mapping[str, Any]) -> Wave:
    clusters = entry.get("clusters", {})
    percent, count = clusters.get("percent"), clusters.get("count")
    most = Amount(percent, percent=True) if percent is not None else None if count is None else Amount(count)
    failures = Amount.parse(str(entry.get("max_failures", 0)))
    assert failures is not None, "the schema allows nothing else"
    return Wave(
        name=entry["name"],
        clusters=Match(
            ids=tuple(clusters.get("ids", ())),
            tenants=tuple(clusters.get("tenants", ())),
            facts=tuple((name, _pattern(value)) for name, value in clusters.get("facts", {}).items()),
            most=most,
        ),
        max_failures=failures,
        max_changed=entry.get("max_changed"),
        manual=entry.get("gate") == "manual",
        soak=age_seconds(entry.get("soak", "0s")) or 0,
        parallel=entry.get("parallel") or PUSHES,
    )


def _pattern(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _wrong(document: Document, path: tuple[object, ...], what: str) -> InputError:
    return InputError(
        "CMD-FLT-103",
        f"{document.place} {what}",
        hint="see docs/how-to/compile-many-clusters.md for an example",
        locations=[document.at(path)],
    )
