"""The waves of a run: which clusters go first, and what must hold before the next ones follow."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from commodore.errors import InputError, UsageError, did_you_mean
from commodore.fleet.compiling.selection import Candidate
from commodore.fleet.repository.config import seconds
from commodore.limits import Limits
from commodore.manifests import load
from commodore.printable import some_of
from commodore.workspace import guard_disk

_PUSHES = 8
_AMOUNT = re.compile(r"[0-9]+%?")
_DURATION = re.compile(r"[0-9]+[smhd]")
_KEYS = ("name", "clusters", "max_failures", "max_changed", "gate", "soak", "parallel")
_MATCHES = ("ids", "tenants", "facts", "percent", "count")


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
    parallel: int = _PUSHES

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
    """Two waves, the first of a number of clusters (`5`, `10%`) or of these (`c-one,c-two`)."""
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
            f"{len(left)} clusters belong to no wave: {some_of([one.id for one in left])}",
            hint="let the last wave have `clusters: {}`, which are all that are left",
        )
    return found


def read_waves(path: Path, limits: Limits) -> tuple[Wave, ...]:
    """The waves of a file.

    Raises:
        EnvironmentFault: it cannot be read.
        InputError: CMD-FLT-103, it is not of the form that is expected.
    """
    with guard_disk(path):
        content = path.read_bytes() if path.stat().st_size <= limits.fleet_file_bytes else None
    if content is None:
        raise _wrong(path, f"is larger than {limits.fleet_file_bytes} bytes")
    data = load(content, place=str(path))
    entries = data.get("waves") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not entries or set(data) != {"waves"}:
        raise _wrong(path, "must be a map with the key 'waves', a list")
    waves = [_wave(entry, f"waves[{number}]", path) for number, entry in enumerate(entries)]
    names = [wave.name for wave in waves]
    for name in names:
        if names.count(name) > 1:
            raise _wrong(path, f"has two waves {name!r}")
    return tuple(waves)


def _wave(entry: Any, place: str, path: Path) -> Wave:
    entry = _keys(entry, _KEYS, place, path)
    name, gate = entry.get("name"), entry.get("gate", "automated")
    if not isinstance(name, str) or not name:
        raise _wrong(path, f"has no text as {place}.name")
    if gate not in ("automated", "manual"):
        raise _wrong(path, f"has {gate!r} as {place}.gate, must be automated or manual")
    failures = Amount.parse(str(entry.get("max_failures", 0)))
    if failures is None:
        raise _wrong(path, f"has no number or percentage as {place}.max_failures")
    soak = str(entry.get("soak", "0s"))
    if not _DURATION.fullmatch(soak):
        raise _wrong(path, f"has {soak!r} as {place}.soak, must be a duration such as 90s, 15m, 2h or 1d")
    return Wave(
        name=name,
        clusters=_match(entry.get("clusters", {}), f"{place}.clusters", path),
        max_failures=failures,
        max_changed=_count(entry.get("max_changed"), f"{place}.max_changed", path),
        manual=gate == "manual",
        soak=seconds(soak),
        parallel=_count(entry.get("parallel"), f"{place}.parallel", path) or _PUSHES,
    )


def _match(entry: Any, place: str, path: Path) -> Match:
    entry = _keys(entry, _MATCHES, place, path)
    facts = entry.get("facts", {})
    if not isinstance(facts, dict):
        raise _wrong(path, f"has no map as {place}.facts")
    percent, count = (_count(entry.get(key), f"{place}.{key}", path) for key in ("percent", "count"))
    if percent is not None and count is not None:
        raise _wrong(path, f"has both percent and count in {place}")
    most = Amount(percent, percent=True) if percent is not None else None if count is None else Amount(count)
    return Match(
        ids=_texts(entry.get("ids", []), f"{place}.ids", path),
        tenants=_texts(entry.get("tenants", []), f"{place}.tenants", path),
        facts=tuple((str(name), _pattern(value)) for name, value in facts.items()),
        most=most,
    )


def _pattern(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _keys(entry: Any, known: Sequence[str], place: str, path: Path) -> Mapping[str, Any]:
    if not isinstance(entry, dict):
        raise _wrong(path, f"has no map as {place}")
    for key in entry:
        if key not in known:
            raise _wrong(path, f"has an unknown key {key!r} in {place}", did_you_mean(str(key), known))
    return entry


def _texts(value: Any, place: str, path: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _wrong(path, f"has no list of texts as {place}")
    return tuple(value)


def _count(value: Any, place: str, path: Path) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise _wrong(path, f"has {value!r} as {place}, must be a number")
    return value


def _wrong(path: Path, what: str, hint: str = "") -> InputError:
    known = "see docs/how-to/compile-many-clusters.md for an example"
    return InputError("CMD-FLT-103", f"{path} {what}", hint=hint or known, locations=[str(path)])
