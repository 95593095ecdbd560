"""Comparison of an Application: its objects are paired, and compared without ignored fields."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from commodore.argocd.comparing.canonical import canonical
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.discovery import LostKind, Origin
from commodore.argocd.model.application import Application
from commodore.argocd.normalising import Normaliser
from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import Location
from commodore.base.kubernetes.objects import ObjectKey
from commodore.core.review import (
    Comparison,
    FieldChange,
    Flag,
    FlagRules,
    ObjectChange,
    PlacedObject,
    Review,
    compare,
    field_changes,
    flags_of,
    path_text,
)

State = Literal["added", "removed", "changed", "unchanged", "renamed", "unknown", "not-rendered"]
Rules = Literal["both", "target", "none"]
"""The sides whose ignore rules apply."""

_MASS_SHARE, _MASS_COUNT = 0.3, 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of comparing an Application.

    Attributes:
        name: `namespace/name`.
        old, new: its definition on each side; None if it is missing there.
        state: `renamed` if it has another name on each side; `unknown` if a side could not be rendered; `not-rendered`
            if nothing that it reads has changed.
        changes: the objects that differ after normalising, with secrets in plain text.
        flags: the dangers, from the objects before normalising.
        ignored: number of ignored fields that differ.
        ignored_only: number of objects that differ only in ignored fields.
        unchanged: number of equal objects.
        note: why it is unknown, or its former name.
        before: whether it is unknown for the same reason on both sides, and nothing that it reads has changed.
        files: the changed files for which it was rendered; empty if all Applications are rendered.
        kind: `Application`, or the kind of a lost definition: an `ApplicationSet`, a `file`, an `entry` folder.
        place: of a lost definition.
        origin: how the Application was discovered, on the target if it exists there.
        reported: whether an error of its own says why it is unknown.
    """

    name: str
    old: Application | None
    new: Application | None
    state: State
    changes: tuple[ObjectChange, ...] = ()
    flags: tuple[Flag, ...] = ()
    ignored: int = 0
    ignored_only: int = 0
    unchanged: int = 0
    note: str = ""
    before: bool = False
    files: tuple[str, ...] = ()
    kind: LostKind = "Application"
    place: Location | None = None
    origin: Origin | None = None
    reported: bool = True


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between two trees.

    Attributes:
        applications: all selected ones, by name.
        review: the objects of all Applications, for reports.
    """

    applications: tuple[Verdict, ...]
    review: Review

    def count(self, state: State) -> int:
        """Return the number of Applications in a state."""
        return sum(verdict.state == state for verdict in self.applications)


@dataclass(frozen=True, slots=True)
class ApplicationSide:
    """An Application on one side, with the settings of that side and its rendered objects."""

    application: Application
    settings: ArgoSettings
    objects: tuple[dict[str, Any], ...]

    @property
    def label(self) -> str:
        return self.settings.label(self.application.namespace, self.application.name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the Application and of its cluster that objects may contain."""
        application = self.application
        destination = application.destination
        instance = self.settings.instance_name(application.namespace, application.name)
        known = {cluster.server: cluster.name for cluster in self.settings.clusters}
        cluster = (destination.server, destination.name, known.get(destination.server, ""))
        return tuple(dict.fromkeys(filter(None, (instance, application.name, destination.namespace, *cluster))))

    def placed(self) -> list[PlacedObject]:
        """Return its objects in canonical form, each with the label and names of the Application."""
        return [PlacedObject(canonical(data), source=self.label, names=self.names) for data in self.objects]


@dataclass(frozen=True, slots=True)
class ComparisonRules:
    """Rules for comparing Applications.

    Attributes:
        applied: the sides whose ignore rules apply.
        flag_rules: additional fields for flags.
        show_ignored: whether ignored fields are shown, too, with the place of the rule.
        diagnostics: collects what is reported.
    """

    applied: Rules
    flag_rules: FlagRules
    show_ignored: bool
    diagnostics: Diagnostics


def compare_application(old: ApplicationSide | None, new: ApplicationSide | None, rules: ComparisonRules) -> Verdict:
    """Compare the objects of an Application. At least one side must exist.

    Raises:
        CommodoreError: the rules of a side cannot be used, see `Normaliser`.
    """
    shown = new or old
    assert shown is not None
    raw = compare(old.placed() if old is not None else (), new.placed() if new is not None else ())
    flags = list(flags_of(raw, rules.flag_rules))
    removed = [change for change in raw.changes if change.kind == "removed"]
    total = len(old.objects) if old is not None else 0
    if new is not None and len(removed) > max(_MASS_COUNT, total * _MASS_SHARE):
        message = f"{len(removed)} of {total} objects of the Application go"
        key = ObjectKey("argoproj.io", "Application", *shown.label.split("/"))
        flags.append(Flag("mass-removal", key, message, shown.label))
    changes, ignored, ignored_only = _normalised(raw.changes, old, new, rules)
    state: State = "added" if old is None else "removed" if new is None else "changed" if changes else "unchanged"
    if old is not None and new is not None and old.label != new.label:
        state = "renamed"
    return Verdict(
        shown.label,
        old.application if old is not None else None,
        new.application if new is not None else None,
        state,
        changes,
        tuple(flags),
        ignored,
        ignored_only,
        raw.unchanged,
        note=f"was {old.label}" if state == "renamed" and old is not None else "",
    )


def _normalised(
    changes: Iterable[ObjectChange], old: ApplicationSide | None, new: ApplicationSide | None, rules: ComparisonRules
) -> tuple[tuple[ObjectChange, ...], int, int]:
    """Return the changes without ignored fields, and the numbers of ignored fields and of objects with no other
    change.
    """
    kept: list[ObjectChange] = []
    ignored = ignored_only = 0
    changed = [change for change in changes if change.old is not None and change.new is not None]
    with contextlib.ExitStack() as stack:
        normalisers = [
            stack.enter_context(Normaliser(application, settings, rules.diagnostics))
            for application, settings in (_rules_of(old, new, rules.applied) if changed else ())
        ]
        for change in changes:
            if change.old is None or change.new is None:
                kept.append(change)
                continue
            ignored_by: tuple[tuple[str, str], ...] = ()
            rules_apply = not rules.show_ignored
            before, after = (_apply(normalisers, side.content, rules_apply) for side in (change.old, change.new))
            fields = field_changes(before, after)
            ignored += max(0, len(change.fields) - len(fields))
            if fields or change.is_renamed:
                if rules.show_ignored:
                    ignored_by = tuple(_ignored_by(normalisers, before, after, fields))
                sides = replace(change.old, content=before), replace(change.new, content=after)
                kept.append(replace(change, old=sides[0], new=sides[1], fields=fields, ignored=ignored_by))
            else:
                ignored_only += 1
    return tuple(kept), ignored, ignored_only


def _rules_of(
    old: ApplicationSide | None, new: ApplicationSide | None, rules: Rules
) -> Sequence[tuple[Application, ArgoSettings]]:
    """Return the Applications and settings whose rules apply, in order. Types of fields and the status always apply."""
    sides = [side for side in ((new,) if rules == "target" and new is not None else (new, old)) if side is not None]
    if rules == "none":
        return [(replace(sides[0].application, ignored=()), replace(sides[0].settings, overrides={}))]
    first = sides[0]
    if len(sides) == 2 and _same_rules(first, sides[1]):
        sides = [first]
    return [(side.application, side.settings) for side in sides]


def _same_rules(first: ApplicationSide, other: ApplicationSide) -> bool:
    def of(side: ApplicationSide) -> list[Any]:
        own = [replace(rule, place=None) for rule in side.application.ignored]
        return [own, side.settings.overrides, side.settings["resource.compareoptions"]]

    return of(first) == of(other)


def _apply(normalisers: Iterable[Normaliser], content: Mapping[str, Any], rules_apply: bool) -> dict[str, Any]:
    result = dict(content)
    for normaliser in normalisers:
        result = normaliser.normalise(result, rules=rules_apply)
    return result


def _ignored_by(
    normalisers: Iterable[Normaliser],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    fields: Sequence[FieldChange],
) -> Iterator[tuple[str, str]]:
    """Yield the paths of ignored fields, each with the place of the first rule that ignores it."""
    paths = dict.fromkeys(path_text(field.path) for field in fields)
    for normaliser in normalisers:
        for place, old, new in normaliser.by_rule(before, after):
            left = {path_text(field.path) for field in field_changes(old, new)}
            for path in [path for path in paths if path not in left]:
                del paths[path]
                yield path, f"ignored by {place}"


def own_change(
    old: ApplicationSide | None, new: ApplicationSide | None
) -> tuple[tuple[ObjectChange, ...], tuple[Flag, ...]]:
    """Compare the Application itself as an object; return its changes and their dangers."""
    sides = [[_definition(side)] if side is not None else [] for side in (old, new)]
    comparison = compare(*sides)
    return comparison.changes, flags_of(Comparison(comparison.changes))


def _definition(side: ApplicationSide) -> PlacedObject:
    data = dict(side.application.data)
    metadata = {key: value for key, value in data.get("metadata", {}).items() if key in _METADATA}
    content = {key: value for key, value in data.items() if key not in ("status", "operation")}
    content["apiVersion"], content["kind"] = "argoproj.io/v1alpha1", "Application"
    content["metadata"] = {**metadata, "namespace": side.label.partition("/")[0]}
    return PlacedObject(canonical(content), source=side.label, names=side.names)


_METADATA = ("name", "namespace", "labels", "annotations", "finalizers")
