"""Dependencies of patches: paths and expected values, their evaluation, and the resulting order."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from commodore.base.errors import CommodoreError, InputError, Location, did_you_mean
from commodore.base.fields import kind_of
from commodore.base.printable import printable
from commodore.base.values.versions import find_version
from commodore.fleet.findings import shown
from commodore.fleet.merging import leaves, overlap, same
from commodore.fleet.paths import MISSING, Missing, Path_, strategy_path, value_at
from commodore.fleet.repository.model import APPLICATIONS, PatchFile, TypeConfig

LIVE = ("ready", "health", "sync", "revision")
"""Last segments below an application that refer to its live state, unless the values have such a key."""

Live = Callable[[str, str, object], Any]
"""Returns the live state of an application in the current cell by its name, a name of `LIVE`, and its expected
`targetRevision`, None if it has several sources.
"""

_COMPARISON = re.compile(r"\s*(==|=|!=|>=|<=|>|<)\s*(.*?)\s*")


@dataclass(frozen=True, slots=True)
class Dependency:
    """A dependency of a patch.

    Attributes:
        text: the path as in the file.
        path: the path in values; for a JSONPath the part before its first wildcard.
        query: true for a JSONPath.
        location: its place in the file.
    """

    text: str
    path: Path_
    query: bool
    expected: Any
    location: Location

    @property
    def may_be_live(self) -> bool:
        return not self.query and len(self.path) == 3 and self.path[2] in LIVE


@dataclass(frozen=True, slots=True)
class Unmet:
    """An unmet dependency."""

    dependency: Dependency
    actual: Any
    hint: str = ""

    @property
    def in_words(self) -> str:
        actual = "missing" if isinstance(self.actual, Missing) else shown(self.actual)
        return f"{self.dependency.text} is {actual}, not {shown(self.dependency.expected)}"

    @property
    def awaited(self) -> str:
        """The dependency and its current value: `web >=2.0.0, which is '1.0.0'`."""
        dependency = self.dependency
        expected = dependency.expected if isinstance(dependency.expected, str) else shown(dependency.expected)
        if dependency.path[2:] == ("version",) and not dependency.query:
            awaited = f"{dependency.path[1]} {printable(expected)}"
        else:
            awaited = f"{printable(dependency.text)} to be {printable(expected)}"
        return f"{awaited}, which is {'missing' if isinstance(self.actual, Missing) else shown(self.actual)}"


def dependencies_of(file: PatchFile, sections: Sequence[str]) -> tuple[Dependency, ...]:
    """Return the dependencies of a patch.

    Raises:
        InputError: CMD-FLT-045, a dependency is malformed.
    """
    said = file.metadata.get("dependencies") or []
    base = ("metadata", "dependencies")
    items: list[tuple[Path_, Any, Any]] = (
        [((*base, path), path, value) for path, value in said.items()] if isinstance(said, dict) else []
    )
    for number, entry in enumerate(said if isinstance(said, list) else ()):
        place: Path_ = (*base, number)
        if not isinstance(entry, dict) or len(entry) != 1:
            raise _malformed(file, place, f"a dependency is {shown(entry)}, which is not one path with one value")
        items += [((*place, path), path, value) for path, value in entry.items()]
    dependencies = []
    for place, path, value in items:
        if not isinstance(path, str) or not path.strip("/"):
            raise _malformed(file, place, f"a dependency has {shown(path)} for its path")
        query = path.startswith("$")
        try:
            steps = _static_steps(path) if query else strategy_path(path, sections)
        except ValueError as error:
            raise _malformed(file, place, f"{path} is not a valid JSONPath: {error}") from error
        dependencies.append(Dependency(path, steps, query, value, file.layer.document.at(place)))
    return tuple(dependencies)


def _malformed(file: PatchFile, place: Path_, what: str) -> CommodoreError:
    return InputError(
        "CMD-FLT-045",
        f"{file.place}: {what}",
        hint="write a list of maps, each with a path and the value that is expected there",
        locations=[file.layer.document.at(place)],
    )


def unknown_applications(
    kind: TypeConfig, dependencies: Sequence[Dependency], file: PatchFile
) -> Iterator[CommodoreError]:
    """Yield errors for dependencies on items that no folder of the type defines."""
    items = {item for app in kind.apps for item in app.items}
    for dependency in dependencies:
        if len(dependency.path) > 1 and (str(dependency.path[0]), str(dependency.path[1])) not in items:
            names = sorted(name for section, name in items if section == dependency.path[0])
            yield InputError(
                "CMD-FLT-046",
                f"{file.place}: the patch depends on {dependency.path[0]}.{dependency.path[1]}, "
                f"which {kind.name} does not have",
                hint=did_you_mean(str(dependency.path[1]), names) or f"there are {', '.join(names) or 'none'}",
                locations=[dependency.location],
            )


def unmet(dependency: Dependency, values: Mapping[str, Any], live: Live | None = None) -> Unmet | None:
    """Evaluate a dependency. None if it is met, or refers to the live state without one.

    Args:
        values: the current merged values of the cell.
        live: returns the live state, if it is used.

    Raises:
        InputError: CMD-FLT-049, a compared value is not a version; 045, the source whose version is meant is ambiguous,
            or a JSONPath does not suit the values.
    """
    if dependency.query:
        candidates = _matches(dependency, values)
        if not candidates:
            return Unmet(dependency, MISSING)
        return next((missing for value in candidates if (missing := _compare(dependency, value)) is not None), None)
    value = value_at(values, dependency.path)
    if isinstance(value, Missing) and dependency.may_be_live:
        if live is None:
            return None
        application = str(dependency.path[1])
        value = live(application, str(dependency.path[2]), wanted_revision(values, application))
    if isinstance(value, Missing) and len(dependency.path) == 3 and dependency.path[2] == "version":
        value = _version(dependency, value_at(values, dependency.path[:2]))
    return _compare(dependency, value)


def wanted_revision(values: Mapping[str, Any], application: str) -> object:
    """Return the `targetRevision` of an application; None if it has several sources."""
    revision = value_at(values, (APPLICATIONS, application, "source", "targetRevision"))
    return None if isinstance(revision, Missing) else revision


def is_live(dependency: Dependency, values: Mapping[str, Any]) -> bool:
    """Return True if a dependency refers to the live state: it may, and the values have no such key."""
    return dependency.may_be_live and isinstance(value_at(values, dependency.path), Missing)


def _version(dependency: Dependency, item: Any) -> Any:
    """Return the version of an application: the `targetRevision` of its source, or of its only source with a chart."""
    if not isinstance(item, dict) or not isinstance(item.get("sources"), list):
        return value_at(item, ("source", "targetRevision"))
    charts = [source for source in item["sources"] if isinstance(source, dict) and source.get("chart")]
    if len(charts) != 1:
        raise InputError(
            "CMD-FLT-045",
            f"{dependency.text} is not clear: {len(charts)} of the {len(item['sources'])} sources have a chart",
            hint="write the whole path, such as /app/sources/0/targetRevision",
            locations=[dependency.location],
        )
    return charts[0].get("targetRevision", MISSING)


def _compare(dependency: Dependency, actual: Any) -> Unmet | None:
    expected = dependency.expected
    if isinstance(actual, Missing):
        return Unmet(dependency, actual)
    if isinstance(expected, str) and _COMPARISON.fullmatch(expected):
        return None if _satisfies(dependency, actual, expected) else Unmet(dependency, actual)
    if same(actual, expected):
        return None
    alike = not isinstance(actual, (dict, list)) and str(actual).lower() == str(expected).lower()
    return Unmet(dependency, actual, f"{kind_of(actual)}, not {kind_of(expected)}" if alike else "")


def _satisfies(dependency: Dependency, actual: Any, expected: str) -> bool:
    compared = []
    for part in expected.split(","):
        clause = _COMPARISON.fullmatch(part)
        bound = find_version(clause[2]) if clause else None
        have = find_version(actual)
        if clause is None or bound is None or have is None:
            raise InputError(
                "CMD-FLT-049",
                f"{dependency.text} is {shown(actual)}, which is not a version to compare with {expected}"
                if have is None
                else f"{dependency.text} is compared with {shown(part)}, which is not a version",
                hint="versions are like v1.2.3 or 1.2.3-rc.1",
                locations=[dependency.location],
            )
        order = (have > bound) - (have < bound)
        compared.append(
            {"=": order == 0, "==": order == 0, "!=": order != 0, ">": order > 0, ">=": order >= 0}.get(
                clause[1], order < 0 if clause[1] == "<" else order <= 0
            )
        )
    return all(compared)


@functools.cache
def _query(text: str) -> Any:
    from jsonpath_ng.ext.parser import parse

    try:
        return parse(text)
    except Exception as error:  # its lexer and parser raise arbitrary exceptions
        raise ValueError(str(error)) from error


def _matches(dependency: Dependency, values: Mapping[str, Any]) -> list[Any]:
    try:
        return [match.value for match in _query(dependency.text).find(values)]
    except Exception as error:  # the evaluation of unsuitable values raises arbitrary exceptions, too
        raise InputError(
            "CMD-FLT-045",
            f"{dependency.text} cannot be evaluated: {error}",
            hint="write a path that suits the values, or a plain one such as /app/source/targetRevision",
            locations=[dependency.location],
        ) from error


def _static_steps(text: str) -> Path_:
    """Return the steps of a JSONPath before the first that may match several values."""
    from jsonpath_ng import Child, Fields, Index, Root

    def steps(node: Any) -> tuple[Path_, bool]:
        if isinstance(node, Root):
            return (), True
        if isinstance(node, Fields) and len(node.fields) == 1 and node.fields[0] != "*":
            return (node.fields[0],), True
        if isinstance(node, Index) and len(node.indices) == 1:
            return (node.indices[0],), True
        if isinstance(node, Child):
            left, whole = steps(node.left)
            right, rest = steps(node.right) if whole else ((), False)
            return (*left, *right), whole and rest
        return (), False

    return steps(_query(text))[0]


def waits_for(dependency: Dependency, other: PatchFile) -> bool:
    """Return True if a dependency may be met, or no longer met, by the values of another patch."""
    paths = [dependency.path]
    if not dependency.query and len(dependency.path) == 3 and dependency.path[2] == "version":
        item = dependency.path[:2]
        paths += [(*item, "source", "targetRevision"), (*item, "sources")]
    written = [path for path, _ in leaves(other.layer.values)]
    return any(overlap(path, leaf) for path in paths for leaf in written)


def in_order(
    files: Sequence[PatchFile], needs: Mapping[PatchFile, Sequence[Dependency]]
) -> tuple[list[PatchFile], list[tuple[PatchFile, Dependency]]]:
    """Sort patches after those they wait for; otherwise the given order is kept.

    Args:
        files: the patches, in the order for ties.
        needs: the dependencies of each patch.

    Returns:
        The order, and a cycle of patches that wait for each other, each with its dependency; empty without a cycle.
    """
    before = {
        file: {other: need for other in files if other is not file for need in needs[file] if waits_for(need, other)}
        for file in files
    }
    ordered: list[PatchFile] = []
    left = list(files)
    while left:
        ready = next((file for file in left if not any(other in left for other in before[file])), None)
        if ready is None:
            return ordered + left, _circle(left, before)
        ordered.append(ready)
        left.remove(ready)
    return ordered, []


def _circle(
    left: Sequence[PatchFile], before: Mapping[PatchFile, Mapping[PatchFile, Dependency]]
) -> list[tuple[PatchFile, Dependency]]:
    walked: list[PatchFile] = [left[0]]
    while True:
        following = next(other for other in before[walked[-1]] if other in left)
        if following in walked:
            circle = walked[walked.index(following) :]
            return [(file, before[file][circle[(number + 1) % len(circle)]]) for number, file in enumerate(circle)]
        walked.append(following)


def cycle_error(circle: Sequence[tuple[PatchFile, Dependency]]) -> CommodoreError:
    """Return the error for patches that wait for each other."""
    chain = " ← ".join(f"{file.place} (needs {need.text})" for file, need in circle)
    return InputError(
        "CMD-FLT-048",
        f"patches wait for each other: {chain} ← {circle[0][0].place}",
        hint="remove one of the dependencies",
        locations=[need.location for _, need in circle],
    )
