"""Validate a catalog's objects for Kubernetes: schemas, versions of APIs, duplicate objects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from commodore.base.diagnostics import Diagnostic, Severity, Subject
from commodore.base.errors import Location
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.base.kubernetes.schemas import ApiKind, Kubernetes, Schemas, api_kind, show_release
from commodore.catalog.views import is_object
from commodore.core.review import PlacedObject, as_json

_Rule = Literal["schema", "removed-api", "unknown-api", "deprecated-api", "duplicate", "unusable-schema"]
_WARNINGS = frozenset({"deprecated-api", "unusable-schema"})


class KindCount(NamedTuple):
    """A kind, and the number of its objects."""

    kind: ApiKind
    objects: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in the JSON output."""

    rule: str
    severity: Severity
    object: ObjectKey
    file: str
    instance: str
    message: str


def _records(problems: tuple[Diagnostic, ...]) -> list[Problem]:
    return [
        Problem(
            problem.code,
            problem.severity,
            ObjectKey(*problem.subject.object),
            problem.locations[0].place,
            str(problem.subject.source),
            problem.message,
        )
        for problem in problems
    ]


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of validating a catalog.

    Attributes:
        release: the version of Kubernetes that it was validated against, such as `1.34`.
        problems: by file and object: their codes are rules, their subjects objects and instances. Messages do not
            contain values of the object, which may be secrets; they may contain its names, which are not safe to print.
        objects: the number of validated objects.
        without_schema: the kinds without a known schema, with the number of their objects.
    """

    release: str
    problems: tuple[Diagnostic, ...] = field(metadata={"json": _records})
    objects: int
    without_schema: tuple[KindCount, ...]

    def count(self, severity: str) -> int:
        """Count the errors, or warnings."""
        return sum(problem.severity == severity for problem in self.problems)


def validate_objects(objects: Iterable[PlacedObject], version: str | None = None) -> Validation:
    """Validate all objects with the schemas of a version of Kubernetes, by default the newest known one, and with those
    of the CustomResourceDefinitions among the objects.

    Raises:
        EnvironmentFault: CMD-CAT-030, the libraries are not installed.
        UsageError: CMD-CLI-033, the version is unknown.
    """
    kubernetes = Kubernetes()
    release = kubernetes.release(version)
    placed = [object_ for object_ in objects if is_object(object_.content)]
    schemas = Schemas(kubernetes, release, (object_.content for object_ in placed))
    problems: list[Diagnostic] = list(_duplicates(placed))
    without: dict[ApiKind, int] = defaultdict(int)
    for object_ in placed:
        kind = api_kind(object_.content)
        problems += [_problem(rule, object_, message) for rule, message in _api_problems(kind, kubernetes, schemas)]
        checked = _schema_problems(kind, object_, schemas)
        if checked is not None:
            problems += checked
        elif not kubernetes.owns(kind.group):
            without[kind] += 1
    problems.sort(
        key=lambda problem: (problem.locations[0].place, problem.subject.object, problem.code, problem.message)
    )
    counts = tuple(KindCount(*entry) for entry in sorted(without.items()))
    return Validation(show_release(release), tuple(problems), len(placed), counts)


def _problem(rule: _Rule, placed: PlacedObject, message: str) -> Diagnostic:
    subject = Subject(source=placed.source, object=key_of(placed.content))
    severity: Severity = "warning" if rule in _WARNINGS else "error"
    return Diagnostic(rule, message, severity, subject=subject, locations=(Location(placed.file),))


def _duplicates(objects: Iterable[PlacedObject]) -> Iterator[Diagnostic]:
    places: dict[ObjectKey, list[PlacedObject]] = defaultdict(list)
    for object_ in objects:
        key = key_of(object_.content)
        if key.name:
            places[key].append(object_)
    for same in places.values():
        for object_, other in zip(same[1:], same, strict=False):
            where = "twice in this file" if object_.file == other.file else f"in {other.file}, too"
            yield _problem("duplicate", object_, f"the object is there {where}")


def _api_problems(kind: ApiKind, kubernetes: Kubernetes, schemas: Schemas) -> Iterator[tuple[_Rule, str]]:
    release = schemas.release
    if kind in schemas.custom:
        return
    if (kind.group, kind.kind) in schemas.custom_groups:
        yield "unknown-api", f"the CustomResourceDefinition in the catalog does not serve {kind}"
    elif kind in kubernetes.kinds(release):
        if gone := kubernetes.removed_in(kind, release):
            yield "deprecated-api", f"Kubernetes {show_release(gone)} does not serve {kind} any more"
    elif kubernetes.owns(kind.group):
        last = kubernetes.last_served(kind)
        first, newest = (show_release(number) for number in (kubernetes.releases[0], kubernetes.releases[-1]))
        if last is None:
            yield "unknown-api", f"no Kubernetes from {first} to {newest} serves {kind}"
        elif last < release:
            yield "removed-api", f"Kubernetes serves {kind} up to {show_release(last)}, not {show_release(release)}"
        else:
            yield "unknown-api", f"Kubernetes {show_release(release)} does not serve {kind} yet"


def _schema_problems(kind: ApiKind, placed: PlacedObject, schemas: Schemas) -> list[Diagnostic] | None:
    try:
        complaints = schemas.complaints(kind, as_json(placed.content))
    except RecursionError:
        return [_problem("schema", placed, "the object is nested too deeply")]
    except ValueError as error:
        return [_problem("unusable-schema", placed, f"the schema of {kind} cannot be used: {str(error)[:200]}")]
    return None if complaints is None else [_problem("schema", placed, text) for text in complaints]
