"""The document of a difference, for programs."""

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
        name: its name in reports.
        commit: empty for a work tree.
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
    """The number of Applications in each state.

    Attributes:
        renamed: Applications with a new name, with --follow-renames.
        unknown: Applications that fail on a side, and files and ApplicationSets that cannot be read or expanded.
        not_rendered: Applications that read no changed file.
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
    """The number of shown objects."""

    added: int
    changed: int
    removed: int
    unchanged: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The numbers of a difference.

    Attributes:
        hidden_fields: fields that differ as noise.
        hidden_only: objects that differ only in noise.
        ignored_fields: fields that differ and that rules ignore.
        ignored_only: objects that differ only in ignored fields.
        flags: the number of each danger, by its name.
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
    """Changes that are equal except for names.

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
    """The change of an Application, or of a definition of Applications that cannot be read, expanded or rendered.

    Attributes:
        name: `namespace/name`.
        note: why it is unknown, or its former name.
        as_before: whether it is unknown for the same reason on both sides, and nothing that it reads has changed: it
            does not change the exit code.
        files: the changed files for which it was rendered, or, if it is unknown, those among its inputs; empty if all
            Applications were rendered.
        objects: objects that differ.
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
    """The difference between what Argo CD would deploy from two trees. Secrets are masked.

    Attributes:
        flags: the dangers, the worst first.
        groups: equal changes once, with dangers first.
        applications: first unknown definitions that are not Applications, then all selected Applications by name.
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
    difference: Difference, sides: tuple[Side, Side], diagnostics: Sequence[Diagnostic], *, partial: bool
) -> DifferenceRecord:
    """Return the document of a difference: counts, dangers, groups of equal changes, and Applications with objects."""
    review = difference.review
    changes: dict[str, list[ChangeRecord]] = {}
    for change in review.comparison.changes:
        changes.setdefault(change.source, []).append(change_record(change))
    return DifferenceRecord(
        TreePair(*(TreeRecord("commit" if side.commit else "folder", side.shown, side.commit) for side in sides)),
        _summary(difference),
        [DangerRecord(flag.name, flag.severity, flag.key, flag.message, flag.source) for flag in review.flags],
        list(map(_group, review.groups)),
        [
            ChangedApplication(
                verdict.name,
                verdict.kind,
                verdict.state,
                verdict.note,
                verdict.before,
                verdict.files,
                changes.get(verdict.name, []),
            )
            for verdict in difference.applications
        ],
        diagnostics,
        partial,
    )


def _summary(difference: Difference) -> Summary:
    review = difference.review
    kinds = Counter(change.kind for group in review.groups for change in group.changes)
    return Summary(
        StateCounts(**{state.replace("-", "_"): difference.count(state) for state in get_args(State)}),
        ShownCounts(kinds["added"], kinds["changed"], kinds["removed"], review.comparison.unchanged),
        review.hidden,
        review.hidden_only,
        review.ignored,
        review.ignored_only,
        Counter(flag.name for flag in review.flags),
    )


def _group(group: Group) -> EqualChanges:
    return EqualChanges(
        group_title(group),
        list(dict.fromkeys(change.source for change in group.changes)),
        [change.key for change in group.changes],
        sorted({flag.name for flag in group.flags}),
        [line.text for line in change_lines(group)],
    )
