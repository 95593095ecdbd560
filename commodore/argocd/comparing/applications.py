"""One Application on both sides: its objects paired and compared without what its rules ignore."""

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
"""Whose ignore rules count."""

_MASS_SHARE, _MASS_COUNT = 0.3, 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one Application.

    Attributes:
        name: `namespace/name`.
        old, new: it as it is defined on each side; None where it is not.
        state: `renamed` if it has another name on each side; `unknown` if a side could not be rendered; `not-rendered`
            if nothing that it reads has changed.
        changes: the objects that differ after normalising; secrets are in them.
        flags: the dangers, found before anything was normalised.
        ignored: how many fields differ that rules ignore.
        ignored_only: how many objects differ in nothing else.
        unchanged: how many objects are the same.
        note: why it is unknown, or what it was called.
        before: whether it is unknown for the same reason on both sides, and nothing that it reads has changed.
        files: the changed files for which it was rendered; none if all Applications are.
        kind: `Application`, or what is lost: an `ApplicationSet`, a `file`, an `entry` folder.
        place: where it is defined, of what is lost.
        origin: how the Application was found, on the target if it is there.
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
    """What differs between two trees.

    Attributes:
        applications: all that were looked at, by name.
        review: the objects of all of them, for reports.
    """

    applications: tuple[Verdict, ...]
    review: Review

    def count(self, state: State) -> int:
        """How many Applications are in a state."""
        return sum(one.state == state for one in self.applications)


@dataclass(frozen=True, slots=True)
class Edition:
    """An Application on one side, with the settings of that side and what it renders to."""

    application: Application
    settings: ArgoSettings
    objects: tuple[dict[str, Any], ...]

    @property
    def label(self) -> str:
        return self.settings.label(self.application.namespace, self.application.name)

    @property
    def names(self) -> tuple[str, ...]:
        """What objects may hold of the Application's names and of its cluster."""
        one = self.application
        destination = one.destination
        instance = self.settings.instance_name(one.namespace, one.name)
        known = {cluster.server: cluster.name for cluster in self.settings.clusters}
        cluster = (destination.server, destination.name, known.get(destination.server, ""))
        return tuple(dict.fromkeys(filter(None, (instance, one.name, destination.namespace, *cluster))))

    def placed(self) -> list[PlacedObject]:
        """Its objects in one form, each with the Application."""
        return [PlacedObject(canonical(data), source=self.label, names=self.names) for data in self.objects]


@dataclass(frozen=True, slots=True)
class Comparing:
    """The way in which Applications are compared.

    Attributes:
        rules: whose ignore rules count.
        flag_rules: additional fields for flags.
        show_ignored: whether what rules ignore is shown, too, with the place of the rule.
        found: gets what is reported.
    """

    rules: Rules
    flag_rules: FlagRules
    show_ignored: bool
    found: Diagnostics


def compare_application(old: Edition | None, new: Edition | None, comparing: Comparing) -> Verdict:
    """Compare the objects of an Application. At least one side is given.

    Raises:
        CommodoreError: the rules of a side cannot be used, see `Normaliser`.
    """
    shown = new or old
    assert shown is not None
    raw = compare(old.placed() if old is not None else (), new.placed() if new is not None else ())
    flags = list(flags_of(raw, comparing.flag_rules))
    removed = [change for change in raw.changes if change.kind == "removed"]
    total = len(old.objects) if old is not None else 0
    if new is not None and len(removed) > max(_MASS_COUNT, total * _MASS_SHARE):
        message = f"{len(removed)} of {total} objects of the Application go"
        key = ObjectKey("argoproj.io", "Application", *shown.label.split("/"))
        flags.append(Flag("mass-removal", key, message, shown.label))
    changes, ignored, ignored_only = _normalised(raw.changes, old, new, comparing)
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
    changes: Iterable[ObjectChange], old: Edition | None, new: Edition | None, comparing: Comparing
) -> tuple[tuple[ObjectChange, ...], int, int]:
    """The changes without what rules ignore, how many fields that are, and how many objects have no others."""
    kept: list[ObjectChange] = []
    ignored = ignored_only = 0
    changed = [change for change in changes if change.old is not None and change.new is not None]
    with contextlib.ExitStack() as stack:
        normalisers = [
            stack.enter_context(Normaliser(application, settings, comparing.found))
            for application, settings in (_rules_of(old, new, comparing.rules) if changed else ())
        ]
        for change in changes:
            if change.old is None or change.new is None:
                kept.append(change)
                continue
            ignored_by: tuple[tuple[str, str], ...] = ()
            rules_apply = not comparing.show_ignored
            before, after = (_apply(normalisers, side.content, rules_apply) for side in (change.old, change.new))
            fields = field_changes(before, after)
            ignored += max(0, len(change.fields) - len(fields))
            if fields or change.is_renamed:
                if comparing.show_ignored:
                    ignored_by = tuple(_ignored_by(normalisers, before, after, fields))
                sides = replace(change.old, content=before), replace(change.new, content=after)
                kept.append(replace(change, old=sides[0], new=sides[1], fields=fields, ignored=ignored_by))
            else:
                ignored_only += 1
    return tuple(kept), ignored, ignored_only


def _rules_of(old: Edition | None, new: Edition | None, rules: Rules) -> Sequence[tuple[Application, ArgoSettings]]:
    """Whose rules are applied, one after the other. Types of fields and the status count whatever the rules."""
    sides = [one for one in ((new,) if rules == "target" and new is not None else (new, old)) if one is not None]
    if rules == "none":
        return [(replace(sides[0].application, ignored=()), replace(sides[0].settings, overrides={}))]
    first = sides[0]
    if len(sides) == 2 and _same_rules(first, sides[1]):
        sides = [first]
    return [(one.application, one.settings) for one in sides]


def _same_rules(one: Edition, other: Edition) -> bool:
    def of(side: Edition) -> list[Any]:
        own = [replace(rule, place=None) for rule in side.application.ignored]
        return [own, side.settings.overrides, side.settings["resource.compareoptions"]]

    return of(one) == of(other)


def _apply(normalisers: Iterable[Normaliser], content: Mapping[str, Any], rules_apply: bool) -> dict[str, Any]:
    result = dict(content)
    for one in normalisers:
        result = one.normalise(result, rules=rules_apply)
    return result


def _ignored_by(
    normalisers: Iterable[Normaliser],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    fields: Sequence[FieldChange],
) -> Iterator[tuple[str, str]]:
    """The paths of the fields that rules ignore, each with the place of the first of these rules."""
    paths = dict.fromkeys(path_text(field.path) for field in fields)
    for normaliser in normalisers:
        for place, old, new in normaliser.by_rule(before, after):
            left = {path_text(field.path) for field in field_changes(old, new)}
            for path in [path for path in paths if path not in left]:
                del paths[path]
                yield path, f"ignored by {place}"


def own_change(old: Edition | None, new: Edition | None) -> tuple[tuple[ObjectChange, ...], tuple[Flag, ...]]:
    """How the Application itself differs, as an object, with its dangers."""
    sides = [[_definition(one)] if one is not None else [] for one in (old, new)]
    found = compare(*sides)
    return found.changes, flags_of(Comparison(found.changes))


def _definition(one: Edition) -> PlacedObject:
    data = dict(one.application.data)
    metadata = {key: value for key, value in data.get("metadata", {}).items() if key in _METADATA}
    content = {key: value for key, value in data.items() if key not in ("status", "operation")}
    content["apiVersion"], content["kind"] = "argoproj.io/v1alpha1", "Application"
    content["metadata"] = {**metadata, "namespace": one.label.partition("/")[0]}
    return PlacedObject(canonical(content), source=one.label, names=one.names)


_METADATA = ("name", "namespace", "labels", "annotations", "finalizers")
