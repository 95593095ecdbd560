"""The selection of the clusters that are compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from commodore.base.errors import CommodoreError, InputError, UsageError, did_you_mean, raise_all
from commodore.base.names import check_name
from commodore.base.printable import some_of


@dataclass(frozen=True, slots=True)
class Candidate:
    """A listed cluster. Its completeness is checked when it is compiled."""

    id: str
    display_name: str
    tenant: str
    facts: Mapping[str, Any]

    @classmethod
    def of(cls, listed: Mapping[str, Any]) -> Candidate:
        """Create a candidate from an object of the list.

        Raises:
            InputError: its id is not a valid folder name.
        """
        facts = listed.get("facts")
        return cls(
            id=check_name(listed.get("id"), "cluster"),
            display_name=str(listed.get("displayName") or ""),
            tenant=str(listed.get("tenant") or ""),
            facts=facts if isinstance(facts, dict) else {},
        )

    def has_fact(self, name: str, pattern: str) -> bool:
        """Return True if a fact matches a pattern with `*` and `?`."""
        value = self.facts.get(name)
        if value is None or isinstance(value, dict | list):
            return False
        return fnmatchcase(str(value).lower() if isinstance(value, bool) else str(value), pattern)


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a fleet with `of` parts; `index` counts from 1."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Parse a shard such as `2/3`.

        Raises:
            UsageError: CMD-FLT-116, the text has another form.
        """
        index, slash, of = text.partition("/")
        if slash and all(part.isascii() and part.isdigit() for part in (index, of)) and 1 <= int(index) <= int(of):
            return cls(int(index), int(of))
        raise UsageError("CMD-FLT-116", f"invalid shard {text!r}: expected I/N", hint="write it as 1/3, 2/3 and 3/3")

    def holds(self, cluster: str) -> bool:
        """Return True if a cluster belongs to the shard, independent of other clusters."""
        return int(hashlib.sha256(cluster.encode()).hexdigest(), 16) % self.of == self.index - 1


def parse_fact(text: str) -> tuple[str, str]:
    """Parse a fact and a pattern for its value, such as `region=eu-*`.

    Raises:
        UsageError: CMD-FLT-124, the text has another form.
    """
    name, equals, pattern = text.partition("=")
    if not name or not equals:
        raise UsageError("CMD-FLT-124", f"--fact {text!r} has no value", hint="write it as NAME=PATTERN")
    return name, pattern


@dataclass(frozen=True, slots=True)
class ClusterSelection:
    """A selection of clusters; an empty field selects all.

    Attributes:
        ids: clusters to include.
        tenants: tenants whose clusters are included.
        facts: facts that clusters must have, each with a pattern.
        exclude: clusters to exclude.
    """

    ids: tuple[str, ...] = ()
    tenants: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    exclude: tuple[str, ...] = ()

    def choose(self, known: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Return the selected clusters by id.

        Raises:
            InputError: CMD-FLT-100, a cluster is unknown; CMD-FLT-101, a tenant or fact is, or no cluster is left.
        """
        ids, tenants = {item.id for item in known}, {item.tenant for item in known}
        problems: list[CommodoreError] = []
        for name in dict.fromkeys((*self.ids, *self.exclude)):
            if name not in ids:
                hint = did_you_mean(name, ids) or f"known are {some_of(sorted(ids)) or 'none'}"
                problems.append(InputError("CMD-FLT-100", f"there is no cluster {name!r}", hint=hint))
        for name in dict.fromkeys(self.tenants):
            if name not in tenants:
                hint = did_you_mean(name, tenants) or f"there are {some_of(sorted(tenants)) or 'none'}"
                problems.append(InputError("CMD-FLT-101", f"no cluster has the tenant {name!r}", hint=hint))
        problems.extend(_unknown_fact(known, *fact) for fact in self.facts if not any(c.has_fact(*fact) for c in known))
        raise_all(problems)
        chosen = sorted((item for item in known if self._wants(item)), key=lambda item: item.id)
        if not chosen:
            raise InputError(
                "CMD-FLT-101",
                f"none of {len(known)} clusters is chosen",
                hint="give other clusters, tenants or facts, or none of them for all clusters",
            )
        return tuple(chosen)

    def _wants(self, candidate: Candidate) -> bool:
        return (
            candidate.id not in self.exclude
            and (not self.ids or candidate.id in self.ids)
            and (not self.tenants or candidate.tenant in self.tenants)
            and all(candidate.has_fact(name, pattern) for name, pattern in self.facts)
        )


def _unknown_fact(known: Sequence[Candidate], name: str, pattern: str) -> InputError:
    """Return the error about an unknown fact or value."""
    names = {fact for item in known for fact in item.facts}
    if name not in names:
        hint = did_you_mean(name, names) or f"there are {some_of(sorted(names)) or 'none'}"
        return InputError("CMD-FLT-101", f"no cluster has a fact {name!r}", hint=hint)
    values = {str(item.facts[name]) for item in known if not isinstance(item.facts.get(name), dict | list | None)}
    hint = did_you_mean(pattern, values) or f"there are {some_of(sorted(values))}"
    return InputError("CMD-FLT-101", f"no cluster has the fact {name} with the value {pattern!r}", hint=hint)
