"""Whether a catalog's objects are what Kubernetes takes: schemas, versions of APIs, objects that are there twice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from commodore.base.kubernetes import ObjectKey, key_of
from commodore.base.kubernetes.schemas import ApiKind, Kubernetes, Schemas, api_kind, show_release
from commodore.catalog.views import is_object
from commodore.core.review.object_diff import PlacedObject, as_json

Rule = Literal["schema", "removed-api", "unknown-api", "deprecated-api", "duplicate", "unusable-schema"]
_WARNINGS = frozenset({"deprecated-api", "unusable-schema"})


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with an object.

    Attributes:
        rule: what was looked for.
        message: what is wrong, in words; without values of the object, which may be secrets. It may hold names from
            the object, which are not safe to print.
    """

    rule: Rule
    key: ObjectKey
    file: str
    instance: str
    message: str

    @property
    def severity(self) -> Literal["error", "warning"]:
        return "warning" if self.rule in _WARNINGS else "error"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "object": self.key._asdict(),
            "file": self.file,
            "instance": self.instance,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class Validation:
    """What came of looking at a catalog.

    Attributes:
        release: the version of Kubernetes that it was compared with, such as `1.34`.
        problems: by file and object.
        objects: how many were looked at.
        without_schema: the kinds that no schema is known for, with the number of their objects.
    """

    release: str
    problems: tuple[Problem, ...]
    objects: int
    without_schema: tuple[tuple[ApiKind, int], ...]

    def count(self, severity: str) -> int:
        """How many errors, or warnings, there are."""
        return sum(one.severity == severity for one in self.problems)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "kubernetes": self.release,
            "objects": self.objects,
            "problems": [one.as_dict() for one in self.problems],
            "withoutSchema": [{**kind._asdict(), "objects": count} for kind, count in self.without_schema],
        }


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
    problems: list[Problem] = list(_duplicates(found))
    without: dict[ApiKind, int] = defaultdict(int)
    for one in found:
        kind = api_kind(one.content)
        problems += [_problem(rule, one, message) for rule, message in _api_problems(kind, kubernetes, schemas)]
        checked = _schema_problems(kind, one, schemas)
        if checked is not None:
            problems += checked
        elif not kubernetes.owns(kind.group):
            without[kind] += 1
    problems.sort(key=lambda one: (one.file, one.key, one.rule, one.message))
    return Validation(show_release(release), tuple(problems), len(found), tuple(sorted(without.items())))


def _problem(rule: Rule, one: PlacedObject, message: str) -> Problem:
    return Problem(rule, key_of(one.content), one.file, one.source, message)


def _duplicates(objects: Iterable[PlacedObject]) -> Iterator[Problem]:
    places: dict[ObjectKey, list[PlacedObject]] = defaultdict(list)
    for one in objects:
        key = key_of(one.content)
        if key.name:
            places[key].append(one)
    for same in places.values():
        for one, other in zip(same[1:], same, strict=False):
            where = "twice in this file" if one.file == other.file else f"in {other.file}, too"
            yield _problem("duplicate", one, f"the object is there {where}")


def _api_problems(kind: ApiKind, kubernetes: Kubernetes, schemas: Schemas) -> Iterator[tuple[Rule, str]]:
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


def _schema_problems(kind: ApiKind, one: PlacedObject, schemas: Schemas) -> list[Problem] | None:
    try:
        complaints = schemas.complaints(kind, as_json(one.content))
    except RecursionError:
        return [_problem("schema", one, "the object is nested too deeply")]
    except ValueError as error:
        return [_problem("unusable-schema", one, f"the schema of {kind} cannot be used: {str(error)[:200]}")]
    return None if complaints is None else [_problem("schema", one, text) for text in complaints]
