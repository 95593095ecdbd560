"""Prepare a comparison for reports: secrets masked, dangers named, noise separated and equal changes grouped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from commodore.core.review.flags import Flag, flags_of
from commodore.core.review.grouping import Group, group
from commodore.core.review.masking import mask
from commodore.core.review.model import Comparison, ObjectChange, PlacedObject
from commodore.core.review.noise import DEFAULT_NOISE, NoiseRule, hide_noise
from commodore.core.review.pairing import compare
from commodore.core.review.pointers import KindPointer


@dataclass(frozen=True, slots=True)
class Part:
    """The summary of an Application in a review.

    Attributes:
        name: the `source` of its objects.
        state: `added`, `removed`, `changed`, `renamed`, or `unknown` if it could not be rendered.
        added, changed, removed: the number of shown objects.
        note: the reason why it is unknown, or its old name; not safe to print.
        kind: its kind; other kinds than Application are unreadable entries, whose state is unknown.
    """

    name: str
    state: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    note: str = ""
    kind: str = "Application"


@dataclass(frozen=True, slots=True)
class Review:
    """A comparison prepared for reports.

    Attributes:
        comparison: all differences, secrets masked, noise in `hidden`.
        flags: the dangers, the worst first.
        groups: the shown changes, equal ones together; without changes that consist of noise only.
        hidden: the number of differing fields that are noise.
        hidden_only: the number of objects that differ in these only.
        ignored: the number of differing fields that are ignored by rules of Applications or the installation.
        ignored_only: the number of objects that differ in these only.
        parts: the Applications that differ, for objects of Applications.
    """

    comparison: Comparison
    flags: tuple[Flag, ...]
    groups: tuple[Group, ...]
    hidden: int
    hidden_only: int
    ignored: int = 0
    ignored_only: int = 0
    parts: tuple[Part, ...] = ()


def review(
    old: Iterable[PlacedObject],
    new: Iterable[PlacedObject],
    noise: Sequence[NoiseRule] = DEFAULT_NOISE,
    keep: Callable[[ObjectChange], bool] | None = None,
) -> Review:
    """Compare two sets of objects for reports. Flags are determined before anything is masked or hidden.

    Args:
        keep: a filter of changes.
    """
    compared = compare(old, new)
    if keep is not None:
        compared = Comparison(tuple(filter(keep, compared.changes)), compared.unchanged)
    return review_of(compared, flags_of(compared), noise)


def review_of(
    compared: Comparison,
    flags: tuple[Flag, ...],
    noise: Sequence[NoiseRule] = DEFAULT_NOISE,
    *,
    secrets: Sequence[KindPointer] = (),
    sources: bool = False,
    separate: bool = False,
) -> Review:
    """Prepare a comparison for reports.

    Args:
        flags: its dangers, determined before anything was removed from it.
        secrets: further fields with secrets.
        sources: fill in the sources of groups.
        separate: make each change a group of its own.
    """
    shown = hide_noise(mask(compared, secrets), noise)
    visible = tuple(change for change in shown.changes if not is_noise(change))
    return Review(
        shown,
        flags,
        group(Comparison(visible, shown.unchanged), flags, sources=sources, separate=separate),
        hidden=sum(len(change.hidden) for change in shown.changes),
        hidden_only=len(shown.changes) - len(visible),
    )


def tally(old: Iterable[PlacedObject], new: Iterable[PlacedObject]) -> Review:
    """Count differences and name dangers. The review has no values and no groups: nothing has to be masked."""
    compared = compare(old, new)
    flags = flags_of(compared)
    changes = hide_noise(compared, DEFAULT_NOISE).changes
    bare = tuple(replace(change, old=None, new=None, fields=(), hidden=()) for change in changes)
    hidden = sum(len(change.hidden) for change in changes)
    return Review(Comparison(bare, compared.unchanged), flags, (), hidden, sum(map(is_noise, changes)))


def is_noise(change: ObjectChange) -> bool:
    """Return True if all differences of an object are noise."""
    return bool(change.hidden) and not change.fields and not change.is_renamed and not change.is_moved
