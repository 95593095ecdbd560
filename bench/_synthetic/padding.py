"""Parameters that are there for their size, shaped like what real hierarchies hold: alerts, images, lists, switches."""

from __future__ import annotations

import json
import random
from typing import Any

_WORDS = ("alpha", "bravo", "cache", "drift", "engine", "flow", "gauge", "host", "index", "jitter", "kernel", "latency")


def pad(name: str, size: int) -> dict[str, Any]:
    """A map of about `size` bytes as JSON, at least none; the name decides what is in it.

    A quarter of the entries refers to another parameter (`global.registry`), as such values do.
    """
    rng = random.Random(f"padding {name}")
    entries: dict[str, Any] = {}
    left = size - 2
    while left > 0:
        key, entry = f"entry_{len(entries):04}", _entry(rng)
        left -= measure(entry) + len(key) + 6
        entries[key] = entry
    return entries


def measure(value: Any) -> int:
    """The size of a value as JSON, in bytes."""
    return len(json.dumps(value))


def _entry(rng: random.Random) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "description": _text(rng, 12),
        "enabled": rng.random() < 0.9,
        "labels": {_text(rng, 1): _text(rng, 1) for _ in range(3)},
        "limits": {"cpu": f"{rng.randrange(1, 20) * 50}m", "memory": f"{rng.randrange(1, 64) * 32}Mi"},
        "rules": [
            {
                "alert": _text(rng, 2).title().replace(" ", ""),
                "expr": f"sum(rate({_text(rng, 3).replace(' ', '_')}_total[5m])) by (namespace) > {rng.randrange(100)}",
                "for": f"{rng.randrange(1, 30)}m",
                "severity": rng.choice(("info", "warning", "critical")),
            }
            for _ in range(rng.randrange(1, 4))
        ],
    }
    if rng.random() < 0.25:
        entry["image"] = f"${{global:registry}}/{_text(rng, 1)}:v{rng.randrange(9)}.{rng.randrange(30)}.0"
    return entry


def _text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(_WORDS) for _ in range(words))
