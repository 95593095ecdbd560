"""The waves of a run: which clusters go first, and what must hold before the next ones follow."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from commodore.errors import InputError, UsageError
from commodore.fleet.compiling.selection import Candidate
from commodore.printable import some_of

PUSHES = 8
_AMOUNT = re.compile(r"[0-9]+%?")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of clusters, or a part of them in percent."""

    number: int
    percent: bool = False

    @classmethod
    def parse(cls, text: str) -> Amount | None:
        """`3` or `10%`; None for anything else."""
        return cls(int(text.rstrip("%")), text.endswith("%")) if _AMOUNT.fullmatch(text) else None

    def of(self, clusters: int) -> int:
        """How many of so many clusters it is."""
        return self.number * clusters // 100 if self.percent else self.number

    def __str__(self) -> str:
        return f"{self.number}{'%' if self.percent else ''}"


@dataclass(frozen=True, slots=True)
class Match:
    """Which clusters belong to a wave: those for which everything holds that is given; nothing given is all."""

    ids: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    most: Amount | None = None

    @property
    def is_all(self) -> bool:
        return self == Match()

    def choose(self, left: Sequence[Candidate]) -> list[Candidate]:
        """Those of the clusters that are left; of more than wanted, the first by the hash of their ids."""
        fitting = [one for one in left if self._fits(one)]
        if self.most is None:
            return fitting
        fitting.sort(key=lambda one: hashlib.sha256(one.id.encode()).hexdigest())
        wanted = self.most.of(len(fitting))
        return fitting[: max(1, wanted) if self.most.number else 0]

    def _fits(self, one: Candidate) -> bool:
        return (
            (not self.ids or one.id in self.ids)
            and (not self.tenants or one.tenant in self.tenants)
            and all(one.has_fact(name, pattern) for name, pattern in self.facts)
        )


@dataclass(frozen=True, slots=True)
class Wave:
    """Clusters that are compiled, judged and published together.

    Attributes:
        max_failures: with more clusters that fail, nothing of the wave is pushed, and no later wave is begun.
        max_changed: with more clusters that change, the same; None for any number.
        manual: it is pushed only if its name is approved.
        soak: seconds to wait after it was pushed, before the next wave begins.
        parallel: how many clusters are pushed at once.
    """

    name: str
    clusters: Match = field(default_factory=Match)
    max_failures: Amount = field(default_factory=partial(Amount, 0))
    max_changed: int | None = None
    manual: bool = False
    soak: int = 0
    parallel: int = PUSHES

    def as_dict(self) -> dict[str, Any]:
        """What decides about it, as JSON-ready data."""
        return {
            "name": self.name,
            "max_failures": str(self.max_failures),
            "max_changed": self.max_changed,
            "gate": "manual" if self.manual else "automated",
            "soak": self.soak,
        }


ALL_CLUSTERS: tuple[Wave, ...] = (Wave("all"),)
"""Every cluster at once."""


def canary(text: str) -> tuple[Wave, ...]:
    """Two waves, the first of a number of clusters (`5`, `10%`) or of these (`c-one,c-two`).

    Raises:
        UsageError: CMD-FLT-121, no cluster is named.
    """
    amount = Amount.parse(text)
    first = Match(most=amount) if amount else Match(ids=tuple(filter(None, text.split(","))))
    if first.is_all:
        raise UsageError("CMD-FLT-121", "--canary names no cluster", hint="give a number, a percentage, or ids")
    return Wave("canary", first), Wave("rest")


def allow_failures(waves: Sequence[Wave], text: str) -> tuple[Wave, ...]:
    """The waves with another number of clusters that may fail.

    Raises:
        UsageError: CMD-FLT-121, that is no number or percentage.
    """
    amount = Amount.parse(text)
    if amount is None:
        raise UsageError("CMD-FLT-121", f"--max-failures {text!r} is no number", hint="write it as 3 or 10%")
    return tuple(replace(wave, max_failures=amount) for wave in waves)


def assign(clusters: Sequence[Candidate], waves: Sequence[Wave]) -> list[tuple[Wave, tuple[Candidate, ...]]]:
    """The clusters of each wave; one that fits several belongs to the first.

    Raises:
        InputError: CMD-FLT-103, a cluster belongs to none.
    """
    left = list(clusters)
    found = []
    for wave in waves:
        chosen = wave.clusters.choose(left)
        ids = {one.id for one in chosen}
        left = [one for one in left if one.id not in ids]
        found.append((wave, tuple(sorted(chosen, key=lambda one: one.id))))
    if left:
        raise InputError(
            "CMD-FLT-103",
            f"these clusters belong to no wave: {some_of([one.id for one in left])}",
            hint="let the last wave have `clusters: {}`, which are all that are left, or choose fewer clusters",
        )
    return found
