"""A comparison as reports need it: without secrets, with dangers named, noise set apart and equal changes together."""

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
    """What a review says of one Application.

    Attributes:
        name: the `source` of its objects.
        state: what became of it: `added`, `removed`, `changed`, `renamed`, or `unknown` if it could not be rendered.
        added, changed, removed: how many objects are shown.
        note: why it is unknown, or what it was called; not safe to print.
        kind: the kind of thing that it is; what is not an Application cannot be read, and is unknown.
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
    """What a person should know of a change.

    Attributes:
        comparison: everything that differs, secrets masked, noise in `hidden`.
        flags: the dangers, the worst first.
        groups: the changes that are shown, equal ones together. Changes that are nothing but noise are in none.
        hidden: how many fields differ as noise.
        hidden_only: how many objects differ in nothing else.
        ignored: how many fields differ that rules of the Applications or of the installation ignore.
        ignored_only: how many objects differ in nothing else.
        parts: the Applications that differ, if the objects are those of Applications.
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
    """Compare two sets of objects for people. Flags are found before anything is masked or hidden.

    Args:
        keep: which changes are looked at at all; all of them if not given.
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
    apart: bool = False,
) -> Review:
    """A comparison for people.

    Args:
        flags: its dangers, found before anything was taken out of it.
        secrets: where there are secrets, too.
        sources: whether groups say whom their objects come from.
        apart: whether each change is a group of its own.
    """
    shown = hide_noise(mask(compared, secrets), noise)
    visible = tuple(change for change in shown.changes if not is_noise(change))
    return Review(
        shown,
        flags,
        group(Comparison(visible, shown.unchanged), flags, sources=sources, apart=apart),
        hidden=sum(len(change.hidden) for change in shown.changes),
        hidden_only=len(shown.changes) - len(visible),
    )


def tally(old: Iterable[PlacedObject], new: Iterable[PlacedObject]) -> Review:
    """Count what differs and name the dangers. The review has no values and no groups: there is nothing to mask."""
    compared = compare(old, new)
    flags = flags_of(compared)
    changes = hide_noise(compared, DEFAULT_NOISE).changes
    bare = tuple(replace(change, old=None, new=None, fields=(), hidden=()) for change in changes)
    hidden = sum(len(change.hidden) for change in changes)
    return Review(Comparison(bare, compared.unchanged), flags, (), hidden, sum(map(is_noise, changes)))


def is_noise(change: ObjectChange) -> bool:
    """Whether an object differs in nothing that is shown."""
    return bool(change.hidden) and not change.fields and not change.is_renamed and not change.is_moved
