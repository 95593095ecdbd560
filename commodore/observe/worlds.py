"""Group objects for decisions: a world for each Stage that an Application names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from commodore.base.limits import DEFAULT_LIMITS
from commodore.observe.kargo import (
    AUTHORIZED_STAGE,
    SWITCHES,
    Application,
    Freight,
    KargoObject,
    Promotion,
    Stage,
    Warehouse,
)

_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_RULE = re.compile(r"(?P<not>!?)\s*(?P<label>[\w./-]+)\s*(?:(?P<sign>==?|!=)\s*(?P<value>[\w.-]*))?", re.ASCII)
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


@dataclass(frozen=True, slots=True, order=True)
class StageName:
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Authorization:
    """The Stages named by an Application's annotation, and its invalid entries."""

    stages: tuple[StageName, ...] = ()
    invalid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SeenApplication:
    """An Application with the time since its images changed; None counts as long enough.

    `unknown` is the reason if its images are unknown, else empty.
    """

    application: Application
    unchanged_for: timedelta | None = None
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class StageWorld:
    """The input of a decision. Freights, Warehouses and Promotions are those of the Stage's namespace.

    `holds` is true if this Kargo holds automatic promotion after a Promotion by a user. `missing` are the kinds without
    any given object.
    """

    name: StageName
    stage: Stage | None
    applications: tuple[SeenApplication, ...]
    warehouses: tuple[Warehouse, ...] = ()
    freights: tuple[Freight, ...] = ()
    promotions: tuple[Promotion, ...] = ()
    holds: bool = False
    missing: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LabelRule:
    """A part of a selector: the label must have the value (None: any), or must not."""

    label: str
    value: str | None
    is_required: bool

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Return True if labels satisfy the rule."""
        is_satisfied = self.label in labels if self.value is None else labels.get(self.label) == self.value
        return is_satisfied is self.is_required


def read_selector(text: str) -> tuple[LabelRule, ...] | None:
    """Parse a selector like `team=web,tier!=test,observed,!legacy`; None if it is invalid."""
    rules = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _RULE.fullmatch(part)
        if not match or (match["not"] and match["sign"]):
            return None
        value = match["value"] if match["sign"] else None
        rules.append(LabelRule(match["label"], value, not (match["not"] or match["sign"] == "!=")))
    return tuple(rules)


@dataclass(frozen=True, slots=True)
class WatchScope:
    """The observed objects: namespaces of Projects and of Applications (empty: all), and labels of Applications."""

    namespaces: frozenset[str] = frozenset()
    application_namespaces: frozenset[str] = frozenset()
    selector: tuple[LabelRule, ...] = ()

    def takes(self, application: Application) -> bool:
        """Return True if an Application is in one of the namespaces and satisfies all rules of the selector."""
        meta = application.meta
        known = not self.application_namespaces or meta.namespace in self.application_namespaces
        return known and all(rule.holds(meta.labels) for rule in self.selector)


def read_authorization(application: Application) -> Authorization:
    """Parse an Application's annotation: `namespace:stage`, separated by commas."""
    text = application.meta.annotations.get(AUTHORIZED_STAGE, "")
    entries = [entry.strip() for entry in text.split(",", DEFAULT_LIMITS.authorized_stages)]
    stages, invalid = [], []
    for entry in filter(None, entries[: DEFAULT_LIMITS.authorized_stages]):
        namespace, colon, name = (part.strip() for part in entry.partition(":"))
        if colon and _NAMESPACE.fullmatch(namespace) and _NAME.fullmatch(name):
            stages.append(StageName(namespace, name))
        else:
            invalid.append(entry)
    if len(entries) > DEFAULT_LIMITS.authorized_stages:
        invalid.append(f"all entries after the first {DEFAULT_LIMITS.authorized_stages}")
    return Authorization(tuple(dict.fromkeys(stages)), tuple(invalid))


@dataclass(frozen=True, slots=True)
class AnnotationProblem:
    """An invalid annotation of an Application. `reason` is that of the event."""

    reason: str
    message: str
    hint: str


def annotation_problems(application: Application) -> list[AnnotationProblem]:
    """Return the annotations of an Application without effect: entries without a Stage, misspelled booleans."""
    problems = [
        AnnotationProblem(
            "AuthorizedStageInvalid",
            f"the annotation {AUTHORIZED_STAGE} of Application {application.meta} has an invalid entry '{entry[:500]}'",
            "write namespace:stage, several with commas",
        )
        for entry in read_authorization(application).invalid
    ]
    problems += [
        AnnotationProblem(
            "AnnotationInvalid",
            f"the annotation {name} of Application {application.meta} is '{value[:500]}', so it has no effect",
            'write "true" or "false"',
        )
        for name, value in application.meta.annotations.items()
        if name in SWITCHES and value not in ("true", "false")
    ]
    return problems


def build_worlds(
    objects: Iterable[KargoObject], scope: WatchScope, *, holds: bool | None, unreadable: Iterable[str] = ()
) -> list[StageWorld]:
    """The worlds of all Stages that an Application names, in the order of their names.

    Args:
        holds: true if this Kargo supports holds of automatic promotion; None: if a Stage shows that.
        unreadable: kinds with unreadable objects.
    """
    by_stage: dict[StageName, list[SeenApplication]] = defaultdict(list)
    projects: dict[str, _Project] = defaultdict(_Project)
    given = set(unreadable)
    for item in objects:
        given.add(type(item).__name__)
        if isinstance(item, Application):
            for name in read_authorization(item).stages if scope.takes(item) else ():
                if not scope.namespaces or name.namespace in scope.namespaces:
                    by_stage[name].append(SeenApplication(item))
        else:
            projects[item.meta.namespace].add(item)
    if holds is None:
        holds = any(stage.holds for project in projects.values() for stage in project.stages.values())
    missing = frozenset({"Stage", "Freight", "Warehouse"} - given)
    return [
        projects[name.namespace].world(name, by_stage[name], holds=holds, missing=missing) for name in sorted(by_stage)
    ]


@dataclass(slots=True)
class _Project:
    """The objects of a namespace."""

    stages: dict[str, Stage] = field(default_factory=dict)
    warehouses: list[Warehouse] = field(default_factory=list)
    freights: list[Freight] = field(default_factory=list)
    promotions: dict[str, list[Promotion]] = field(default_factory=lambda: defaultdict(list))

    def add(self, item: Stage | Warehouse | Freight | Promotion) -> None:
        match item:
            case Stage():
                self.stages[item.meta.name] = item
            case Warehouse():
                self.warehouses.append(item)
            case Freight():
                self.freights.append(item)
            case Promotion():
                self.promotions[item.stage].append(item)

    def world(
        self, name: StageName, applications: list[SeenApplication], *, holds: bool, missing: frozenset[str]
    ) -> StageWorld:
        return StageWorld(
            name=name,
            stage=self.stages.get(name.name),
            applications=tuple(applications),
            warehouses=tuple(self.warehouses),
            freights=tuple(self.freights),
            promotions=tuple(self.promotions.get(name.name, ())),
            holds=holds,
            missing=missing,
        )
