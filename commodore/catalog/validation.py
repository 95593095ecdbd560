"""Whether a catalog's objects are what Kubernetes takes: schemas, versions of APIs, objects that are there twice."""

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
    """A problem as the document for machines shows it."""

    rule: str
    severity: Severity
    object: ObjectKey
    file: str
    instance: str
    message: str


def _records(problems: tuple[Diagnostic, ...]) -> list[Problem]:
    return [
        Problem(
            one.code,
            one.severity,
            ObjectKey(*one.subject.object),
            one.locations[0].place,
            str(one.subject.source),
            one.message,
        )
        for one in problems
    ]


@dataclass(frozen=True, slots=True)
class Validation:
    """What came of looking at a catalog.

    Attributes:
        release: the version of Kubernetes that it was compared with, such as `1.34`.
        problems: by file and object: their codes are rules, their subjects objects and instances. Messages are without
            values of the object, which may be secrets; they may hold names from it, which are not safe to print.
        objects: how many were looked at.
        without_schema: the kinds that no schema is known for, with the number of their objects.
    """

    release: str
    problems: tuple[Diagnostic, ...] = field(metadata={"json": _records})
    objects: int
    without_schema: tuple[KindCount, ...]

    def count(self, severity: str) -> int:
        """How many errors, or warnings, there are."""
        return sum(one.severity == severity for one in self.problems)


def validate_objects(objects: Iterable[PlacedObject], version: str | None = None) -> Validation:
    """Look at every object with the schemas of a version of Kubernetes, the newest that is known if none is given, and
    with those of the CustomResourceDefinitions among the objects.

    Raises:
        EnvironmentFault: CMD-CAT-030, the libraries are not installed.
        UsageError: CMD-CLI-033, the version is not known.
    """
    kubernetes = Kubernetes()
    release = kubernetes.release(version)
    found = [one for one in objects if is_object(one.content)]
    schemas = Schemas(kubernetes, release, (one.content for one in found))
    problems: list[Diagnostic] = list(_duplicates(found))
    without: dict[ApiKind, int] = defaultdict(int)
    for one in found:
        kind = api_kind(one.content)
        problems += [_problem(rule, one, message) for rule, message in _api_problems(kind, kubernetes, schemas)]
        checked = _schema_problems(kind, one, schemas)
        if checked is not None:
            problems += checked
        elif not kubernetes.owns(kind.group):
            without[kind] += 1
    problems.sort(key=lambda one: (one.locations[0].place, one.subject.object, one.code, one.message))
    counts = tuple(KindCount(*one) for one in sorted(without.items()))
    return Validation(show_release(release), tuple(problems), len(found), counts)


def _problem(rule: _Rule, one: PlacedObject, message: str) -> Diagnostic:
    subject = Subject(source=one.source, object=key_of(one.content))
    severity: Severity = "warning" if rule in _WARNINGS else "error"
    return Diagnostic(rule, message, severity, subject=subject, locations=(Location(one.file),))


def _duplicates(objects: Iterable[PlacedObject]) -> Iterator[Diagnostic]:
    places: dict[ObjectKey, list[PlacedObject]] = defaultdict(list)
    for one in objects:
        key = key_of(one.content)
        if key.name:
            places[key].append(one)
    for same in places.values():
        for one, other in zip(same[1:], same, strict=False):
            where = "twice in this file" if one.file == other.file else f"in {other.file}, too"
            yield _problem("duplicate", one, f"the object is there {where}")


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
        first, newest = (show_release(one) for one in (kubernetes.releases[0], kubernetes.releases[-1]))
        if last is None:
            yield "unknown-api", f"no Kubernetes from {first} to {newest} serves {kind}"
        elif last < release:
            yield "removed-api", f"Kubernetes serves {kind} up to {show_release(last)}, not {show_release(release)}"
        else:
            yield "unknown-api", f"Kubernetes {show_release(release)} does not serve {kind} yet"


def _schema_problems(kind: ApiKind, one: PlacedObject, schemas: Schemas) -> list[Diagnostic] | None:
    try:
        complaints = schemas.complaints(kind, as_json(one.content))
    except RecursionError:
        return [_problem("schema", one, "the object is nested too deeply")]
    except ValueError as error:
        return [_problem("unusable-schema", one, f"the schema of {kind} cannot be used: {str(error)[:200]}")]
    return None if complaints is None else [_problem("schema", one, text) for text in complaints]
