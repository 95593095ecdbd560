"""The waves of a run: the order of clusters, and the conditions between waves."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from commodore.base.errors import CommodoreError, InputError, Location, UsageError, did_you_mean, raise_all
from commodore.base.printable import counted, some_of
from commodore.clusters.selection import Candidate

PUSHES = 8
_AMOUNT = re.compile(r"[0-9]+%?")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number or a percentage of clusters."""

    number: int
    percent: bool = False

    @classmethod
    def parse(cls, text: str) -> Amount | None:
        """Parse `3` or `10%`; None for anything else."""
        if not _AMOUNT.fullmatch(text):
            return None
        amount = cls(int(text.rstrip("%")), text.endswith("%"))
        return amount if not amount.percent or amount.number <= 100 else None

    def of(self, clusters: int) -> int:
        """Return the number for so many clusters."""
        return self.number * clusters // 100 if self.percent else self.number

    def __str__(self) -> str:
        return f"{self.number}{'%' if self.percent else ''}"


@dataclass(frozen=True, slots=True)
class Match:
    """The clusters of a wave: all that match every given condition."""

    ids: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    most: Amount | None = None

    @property
    def is_all(self) -> bool:
        return self == Match()

    def choose(self, left: Sequence[Candidate]) -> list[Candidate]:
        """Choose from the remaining clusters; a limited number is taken by the hash of their ids."""
        fitting = [item for item in left if self._fits(item)]
        if self.most is None:
            return fitting
        fitting.sort(key=lambda item: hashlib.sha256(item.id.encode()).hexdigest())
        return fitting[: max(1, self.most.of(len(fitting)))]

    def _fits(self, candidate: Candidate) -> bool:
        return (
            (not self.ids or candidate.id in self.ids)
            and (not self.tenants or candidate.tenant in self.tenants)
            and all(candidate.has_fact(name, pattern) for name, pattern in self.facts)
        )


@dataclass(frozen=True, slots=True)
class Wave:
    """A group of clusters that are compiled, judged and published together.

    Attributes:
        max_failures: with more failed clusters, nothing of the wave is pushed, and no later wave begins.
        max_changed: the same limit for changed clusters; None for any number.
        manual: the wave is pushed only with approval.
        soak: seconds to wait after it was pushed, before the next wave begins.
        parallel: the number of clusters pushed at once.
        origin: its definition: a file of waves, the sequence of a fleet, or a command line option.
        place: the place of its definition, for errors.
    """

    name: str
    clusters: Match = field(default_factory=Match)
    max_failures: Amount = field(default_factory=partial(Amount, 0))
    max_changed: int | None = None
    manual: bool = False
    soak: int = 0
    parallel: int = PUSHES
    origin: Literal["file", "sequence", "option"] = field(default="file", compare=False, repr=False)
    place: Location | None = field(default=None, compare=False, repr=False)


ALL_CLUSTERS: tuple[Wave, ...] = (Wave("all"),)
"""A single wave of all clusters."""


def canary(text: str) -> tuple[Wave, ...]:
    """Return two waves, the first with a number of clusters (`5`, `10%`) or the given ones (`c-one,c-two`).

    Raises:
        UsageError: CMD-FLT-121, no cluster is named.
    """
    amount = Amount.parse(text)
    names = tuple(filter(None, (name.strip() for name in text.split(","))))
    if amount is None and (not names or text.endswith("%")):
        raise _wrong_option(f"--canary {text!r}: expected a number, a percentage up to 100%, or ids of clusters")
    if amount is not None and not amount.number:
        raise _wrong_option(f"--canary {text} selects no cluster: nothing is tested before all clusters are pushed")
    first = Match(ids=names) if amount is None else Match(most=amount)
    return Wave("canary", first, origin="option"), Wave("rest", origin="option")


def allow_failures(waves: Sequence[Wave], text: str) -> tuple[Wave, ...]:
    """Return the waves with another limit of failed clusters.

    Raises:
        UsageError: CMD-FLT-121, it is not a number or percentage.
    """
    amount = Amount.parse(text)
    if amount is None:
        raise _wrong_option(f"--max-failures {text!r}: expected a number or a percentage up to 100%")
    return tuple(replace(wave, max_failures=amount) for wave in waves)


def assign(clusters: Sequence[Candidate], waves: Sequence[Wave]) -> list[tuple[Wave, tuple[Candidate, ...]]]:
    """Return the clusters of each wave; a cluster that matches several waves belongs to the first.

    Raises:
        InputError: CMD-FLT-103, a cluster belongs to no wave.
    """
    assigned, left = _divide(clusters, waves)
    if left:
        raise InputError(
            "CMD-FLT-103",
            f"these clusters belong to no wave: {some_of([item.id for item in left])}",
            hint="give the last wave `clusters: {}`, which matches all remaining clusters, or choose fewer clusters",
        )
    return assigned


def check_waves(waves: Sequence[Wave], known: Sequence[Candidate], chosen: Sequence[Candidate]) -> None:
    """Refuse waves that hold nothing back, or have unknown names: a misspelt canary would test nothing.

    Waves of a file must make sense for all known clusters, because a file serves for several selections; those of
    options for the chosen ones.

    Raises:
        CommodoreError: CMD-FLT-121, for each such wave.
    """
    clusters = chosen if any(wave.origin == "option" for wave in waves) else known
    problems = [problem for wave in waves for problem in _unknown_names(wave, clusters)]
    if not problems:
        problems = list(_pointless(waves, clusters))
    raise_all(problems)


def _unknown_names(wave: Wave, clusters: Sequence[Candidate]) -> Iterator[CommodoreError]:
    for kind, names, existing in (
        ("cluster", wave.clusters.ids, {cluster.id for cluster in clusters}),
        ("tenant", wave.clusters.tenants, {cluster.tenant for cluster in clusters}),
    ):
        for name in names:
            if name not in existing:
                chosen = f"chosen {kind}" if wave.origin == "option" else kind
                hint = did_you_mean(name, existing) or f"there are {some_of(sorted(existing))}"
                yield _wrong_wave(wave, f"names {name!r}, an unknown {chosen}", hint)


def _pointless(waves: Sequence[Wave], clusters: Sequence[Candidate]) -> Iterator[CommodoreError]:
    """Return the errors of waves without clusters, and of waves that leave none for later waves."""
    assigned, _ = _divide(clusters, waves)
    for wave, ones in assigned:
        if not ones and not wave.clusters.is_all and wave.origin != "sequence":
            reason = "matching clusters belong to earlier waves" if wave.clusters.choose(clusters) else "none fits"
            yield _wrong_wave(
                wave, f"has no cluster: {reason}", "correct its clusters, or remove it; nothing was pushed"
            )
    fewest = 1 if waves[0].origin == "option" else 2
    for wave, ones in assigned[:-1]:
        if len(ones) == len(clusters) >= fewest:
            yield _wrong_wave(
                wave,
                f"takes all {counted(len(clusters), 'cluster')}: none is held back for wave {waves[-1].name}",
                "let it take fewer; nothing was pushed",
            )


def _wrong_wave(wave: Wave, what: str, hint: str) -> UsageError:
    place = () if wave.place is None else (wave.place,)
    subject = "--canary" if wave.origin == "option" else f"wave {wave.name}"
    return UsageError("CMD-FLT-121", f"{subject} {what}", hint=hint, locations=place)


def _wrong_option(message: str) -> UsageError:
    return UsageError("CMD-FLT-121", message, hint="write it as 3 or 10%; --canary takes ids, too: c-one,c-two")


def _divide(
    clusters: Sequence[Candidate], waves: Sequence[Wave]
) -> tuple[list[tuple[Wave, tuple[Candidate, ...]]], list[Candidate]]:
    """Return the clusters of each wave, and the remaining clusters."""
    left = list(clusters)
    assigned = []
    for wave in waves:
        taken = wave.clusters.choose(left)
        ids = {item.id for item in taken}
        left = [item for item in left if item.id not in ids]
        assigned.append((wave, tuple(sorted(taken, key=lambda item: item.id))))
    return assigned, left
