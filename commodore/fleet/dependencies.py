"""What patches depend on: paths and expected values, whether a state meets them, and the order that follows."""

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
"""Last segments below an application that mean its live state, unless it has such a key."""

Live = Callable[[str, str, object], Any]
"""Tells the live state of an application in the cell that is looked at: its name, one of `LIVE`, and the
`targetRevision` that it should be at, None if it has several sources.
"""

_COMPARISON = re.compile(r"\s*(==|=|!=|>=|<=|>|<)\s*(.*?)\s*")


@dataclass(frozen=True, slots=True)
class Dependency:
    """One dependency of a patch.

    Attributes:
        text: the path as the file has it.
        path: the same in values; of a JSONPath the part before its first wildcard.
        query: whether it is a JSONPath.
        location: where it is written.
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
    """A dependency that a state does not meet."""

    dependency: Dependency
    found: Any
    hint: str = ""

    @property
    def in_words(self) -> str:
        found = "missing" if isinstance(self.found, Missing) else shown(self.found)
        return f"{self.dependency.text} is {found}, not {shown(self.dependency.expected)}"

    @property
    def awaited(self) -> str:
        """The dependency and its present value: `web >=2.0.0, which is '1.0.0'`."""
        dependency = self.dependency
        expected = dependency.expected if isinstance(dependency.expected, str) else shown(dependency.expected)
        if dependency.path[2:] == ("version",) and not dependency.query:
            awaited = f"{dependency.path[1]} {printable(expected)}"
        else:
            awaited = f"{printable(dependency.text)} to be {printable(expected)}"
        return f"{awaited}, which is {'missing' if isinstance(self.found, Missing) else shown(self.found)}"


def dependencies_of(file: PatchFile, sections: Sequence[str]) -> tuple[Dependency, ...]:
    """The dependencies of a patch.

    Raises:
        InputError: CMD-FLT-045, one is malformed.
    """
    said = file.metadata.get("dependencies") or []
    base = ("metadata", "dependencies")
    items: list[tuple[Path_, Any, Any]] = (
        [((*base, path), path, value) for path, value in said.items()] if isinstance(said, dict) else []
    )
    for number, one in enumerate(said if isinstance(said, list) else ()):
        place: Path_ = (*base, number)
        if not isinstance(one, dict) or len(one) != 1:
            raise _malformed(file, place, f"a dependency is {shown(one)}, which is not one path with one value")
        items += [((*place, path), path, value) for path, value in one.items()]
    found = []
    for place, path, value in items:
        if not isinstance(path, str) or not path.strip("/"):
            raise _malformed(file, place, f"a dependency has {shown(path)} for its path")
        query = path.startswith("$")
        try:
            steps = _static_steps(path) if query else strategy_path(path, sections)
        except ValueError as error:
            raise _malformed(file, place, f"{path} is no JSONPath: {error}") from error
        found.append(Dependency(path, steps, query, value, file.layer.document.at(place)))
    return tuple(found)


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
    """Dependencies on what no folder of the type defines."""
    items = {item for app in kind.apps for item in app.items}
    for one in dependencies:
        if len(one.path) > 1 and (str(one.path[0]), str(one.path[1])) not in items:
            names = sorted(name for section, name in items if section == one.path[0])
            yield InputError(
                "CMD-FLT-046",
                f"{file.place}: the patch depends on {one.path[0]}.{one.path[1]}, which {kind.name} does not have",
                hint=did_you_mean(str(one.path[1]), names) or f"there are {', '.join(names) or 'none'}",
                locations=[one.location],
            )


def unmet(dependency: Dependency, values: Mapping[str, Any], live: Live | None = None) -> Unmet | None:
    """What a state lacks for a dependency; None if it is met, or about the live state, which is not given.

    Args:
        values: the merged values of the cell at that moment.
        live: tells the live state, if it counts.

    Raises:
        InputError: CMD-FLT-049, something is compared that is no version; 045, which source's version is meant is not
            clear, or a JSONPath does not suit the values.
    """
    if dependency.query:
        found = _matches(dependency, values)
        if not found:
            return Unmet(dependency, MISSING)
        return next((one for value in found if (one := _compare(dependency, value)) is not None), None)
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
    """The `targetRevision` of an application; None if it has several sources."""
    found = value_at(values, (APPLICATIONS, application, "source", "targetRevision"))
    return None if isinstance(found, Missing) else found


def is_live(dependency: Dependency, values: Mapping[str, Any]) -> bool:
    """Whether a dependency is about the live state: it may be, and the values have no such key."""
    return dependency.may_be_live and isinstance(value_at(values, dependency.path), Missing)


def _version(dependency: Dependency, item: Any) -> Any:
    """The version of an application: the `targetRevision` of its source, or of its only one with a chart."""
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


def _compare(dependency: Dependency, found: Any) -> Unmet | None:
    expected = dependency.expected
    if isinstance(found, Missing):
        return Unmet(dependency, found)
    if isinstance(expected, str) and _COMPARISON.fullmatch(expected):
        return None if _satisfies(dependency, found, expected) else Unmet(dependency, found)
    if same(found, expected):
        return None
    alike = not isinstance(found, (dict, list)) and str(found).lower() == str(expected).lower()
    return Unmet(dependency, found, f"{kind_of(found)}, not {kind_of(expected)}" if alike else "")


def _satisfies(dependency: Dependency, found: Any, expected: str) -> bool:
    compared = []
    for part in expected.split(","):
        clause = _COMPARISON.fullmatch(part)
        wanted = find_version(clause[2]) if clause else None
        have = find_version(found)
        if clause is None or wanted is None or have is None:
            raise InputError(
                "CMD-FLT-049",
                f"{dependency.text} is {shown(found)}, which is no version to compare with {expected}"
                if have is None
                else f"{dependency.text} is compared with {shown(part)}, which is no version",
                hint="versions are like v1.2.3 or 1.2.3-rc.1",
                locations=[dependency.location],
            )
        order = (have > wanted) - (have < wanted)
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
    except Exception as error:  # its lexer and parser raise what they like
        raise ValueError(str(error)) from error


def _matches(dependency: Dependency, values: Mapping[str, Any]) -> list[Any]:
    try:
        return [match.value for match in _query(dependency.text).find(values)]
    except Exception as error:  # what it makes of values that do not suit raises what it likes, too
        raise InputError(
            "CMD-FLT-045",
            f"{dependency.text} cannot be evaluated: {error}",
            hint="write a path that suits the values, or a plain one such as /app/source/targetRevision",
            locations=[dependency.location],
        ) from error


def _static_steps(text: str) -> Path_:
    """The steps of a JSONPath up to the first that may stand for several."""
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
    """Whether a dependency may be met, or no longer met, by what another patch writes."""
    paths = [dependency.path]
    if not dependency.query and len(dependency.path) == 3 and dependency.path[2] == "version":
        item = dependency.path[:2]
        paths += [(*item, "source", "targetRevision"), (*item, "sources")]
    written = [path for path, _ in leaves(other.layer.values)]
    return any(overlap(path, leaf) for path in paths for leaf in written)


def in_order(
    files: Sequence[PatchFile], needs: Mapping[PatchFile, Sequence[Dependency]]
) -> tuple[list[PatchFile], list[tuple[PatchFile, Dependency]]]:
    """Patches so that each comes after those it waits for; else as they were given.

    Args:
        files: in the order of ties.
        needs: their dependencies.

    Returns:
        The order, and a circle of those that wait for each other, each with what it needs; empty if there is none.
    """
    before = {
        file: {other: one for other in files if other is not file for one in needs[file] if waits_for(one, other)}
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
    """The error about patches that wait for each other."""
    told = " ← ".join(f"{file.place} (needs {one.text})" for file, one in circle)
    return InputError(
        "CMD-FLT-048",
        f"patches wait for each other: {told} ← {circle[0][0].place}",
        hint="remove one of the dependencies",
        locations=[one.location for _, one in circle],
    )
