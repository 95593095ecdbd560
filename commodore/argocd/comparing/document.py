"""A difference as a document for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from commodore.argocd.comparing.applications import Difference, State
from commodore.argocd.comparing.sides import Side
from commodore.argocd.discovery import LostKind
from commodore.base.diagnostics import Diagnostic
from commodore.base.kubernetes.objects import ObjectKey
from commodore.core.review import ChangeRecord, FlagRecord, Group, change_lines, change_record, group_title


@dataclass(frozen=True, slots=True)
class TreeRecord:
    """One of the two trees.

    Attributes:
        name: what people call it.
        commit: empty for a folder as it lies.
    """

    kind: Literal["commit", "folder"]
    name: str
    commit: str


@dataclass(frozen=True, slots=True)
class TreePair:
    """The two trees."""

    base: TreeRecord
    target: TreeRecord


@dataclass(frozen=True, slots=True)
class StateCounts:
    """How many Applications are in each state.

    Attributes:
        renamed: those that have another name, with --follow-renames.
        unknown: those that a side does not render, and what cannot be read or expanded: files and ApplicationSets.
        not_rendered: those that read nothing that has changed.
    """

    added: int
    removed: int
    changed: int
    unchanged: int
    renamed: int
    unknown: int
    not_rendered: int


@dataclass(frozen=True, slots=True)
class ShownCounts:
    """How many objects are shown."""

    added: int
    changed: int
    removed: int
    unchanged: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers of a difference.

    Attributes:
        hidden_fields: fields that differ as noise.
        hidden_only: objects that differ in nothing but noise.
        ignored_fields: fields that differ and that ignore rules take out.
        ignored_only: objects that differ in no other field.
        flags: how often each danger is there, by its name.
    """

    applications: StateCounts
    objects: ShownCounts
    hidden_fields: int
    hidden_only: int
    ignored_fields: int
    ignored_only: int
    flags: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DangerRecord(FlagRecord):
    """A danger.

    Attributes:
        application: `namespace/name`; empty for a danger of the whole change.
    """

    application: str


@dataclass(frozen=True, slots=True)
class EqualChanges:
    """Changes that are the same but for names.

    Attributes:
        flags: the names of their dangers.
        text: the lines of the first change, without colours.
    """

    title: str
    applications: Sequence[str]
    objects: Sequence[ObjectKey]
    flags: Sequence[str]
    text: Sequence[str]


@dataclass(frozen=True, slots=True)
class ChangedApplication:
    """What becomes of an Application, or of what defines some and cannot be read, expanded or rendered.

    Attributes:
        name: `namespace/name`.
        note: why it is unknown, or what it was called.
        as_before: whether it is unknown for the same reason on both sides, and nothing that it reads has changed: it
            does not change the exit code.
        files: the changed files for which it was rendered, or of what is unknown those among its inputs; none if all
            Applications were rendered.
        objects: those that differ.
    """

    name: str
    kind: LostKind
    state: State
    note: str
    as_before: bool
    files: Sequence[str]
    objects: Sequence[ChangeRecord]


@dataclass(frozen=True, slots=True)
class DifferenceRecord:
    """What differs between what Argo CD would deploy from two trees. Secrets are masked.

    Attributes:
        flags: the dangers, the worst first.
        groups: equal changes once: those with dangers first.
        applications: all that were looked at: first what is unknown and no Application, then Applications by name.
        partial: whether anything is missing: something failed or is unknown.
    """

    sides: TreePair
    summary: Summary
    flags: Sequence[DangerRecord]
    groups: Sequence[EqualChanges]
    applications: Sequence[ChangedApplication]
    diagnostics: Sequence[Diagnostic]
    partial: bool


def difference_record(
    found: Difference, sides: tuple[Side, Side], diagnostics: Sequence[Diagnostic], *, partial: bool
) -> DifferenceRecord:
    """Counts, dangers, groups of equal changes, and each Application with its objects."""
    review = found.review
    changes: dict[str, list[ChangeRecord]] = {}
    for change in review.comparison.changes:
        changes.setdefault(change.source, []).append(change_record(change))
    return DifferenceRecord(
        TreePair(*(TreeRecord("commit" if one.commit else "folder", one.shown, one.commit) for one in sides)),
        _summary(found),
        [DangerRecord(one.name, one.severity, one.key, one.message, one.source) for one in review.flags],
        list(map(_group, review.groups)),
        [
            ChangedApplication(
                one.name, one.kind, one.state, one.note, one.before, one.files, changes.get(one.name, [])
            )
            for one in found.applications
        ],
        diagnostics,
        partial,
    )


def _summary(found: Difference) -> Summary:
    review = found.review
    kinds = Counter(change.kind for one in review.groups for change in one.changes)
    return Summary(
        StateCounts(**{state.replace("-", "_"): found.count(state) for state in get_args(State)}),
        ShownCounts(kinds["added"], kinds["changed"], kinds["removed"], review.comparison.unchanged),
        review.hidden,
        review.hidden_only,
        review.ignored,
        review.ignored_only,
        Counter(flag.name for flag in review.flags),
    )


def _group(one: Group) -> EqualChanges:
    return EqualChanges(
        group_title(one),
        list(dict.fromkeys(change.source for change in one.changes)),
        [change.key for change in one.changes],
        sorted({flag.name for flag in one.flags}),
        [line.text for line in change_lines(one)],
    )
