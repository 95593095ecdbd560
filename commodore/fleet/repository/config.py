"""`config/config.yaml`: the dimensions of a fleet, its sequence, its cluster types, and how output is generated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from commodore.base.errors import CommodoreError, InputError, Location, raise_all
from commodore.base.limits import Limits
from commodore.base.values.units import age_seconds
from commodore.fleet.findings import shown
from commodore.fleet.repository.files import Document, read_document
from commodore.fleet.repository.schema import config_schema, schema_problems

Prefix = tuple[str, ...]
Style = Literal["charts", "manifests"]
# What the schema says of a node without the list of the next dimension: the key is missing or has nothing, or there is
# a text for the node.
_CHILDLESS = re.compile(r": (/sequence(?:/[^/ ]+/\d+)+)(?: has no '([^']+)'$|/([^/ ]+) is (?:empty|null), | is text )")


@dataclass(frozen=True, slots=True)
class SequenceNode:
    """A named item of the sequence.

    Attributes:
        prefix: the names from the top down to its own.
        manual: a promotion enters it only if a person approves.
        soak: seconds for which its cells must have been healthy before a promotion leaves it.
        soak_text: the soak time as the file gives it, such as `2h`.
        children: the nodes of the next dimension, none at the last.
    """

    prefix: Prefix
    manual: bool
    soak: int
    soak_text: str
    children: tuple[SequenceNode, ...]
    location: Location

    def each(self) -> Iterator[SequenceNode]:
        """Yield this node and all below it, parents before children."""
        yield self
        for child in self.children:
            yield from child.each()


@dataclass(frozen=True, slots=True)
class ClusterType:
    """A type of clusters; `applications` is None if every folder is an application."""

    name: str
    applications: tuple[str, ...] | None
    location: Location


@dataclass(frozen=True, slots=True)
class FleetConfig:
    """The content of `config/config.yaml`."""

    dimensions: tuple[str, ...]
    nodes: tuple[SequenceNode, ...]
    types: tuple[ClusterType, ...]
    generator: Mapping[str, Any]
    document: Document

    @property
    def depth(self) -> int:
        return len(self.dimensions)

    @property
    def singulars(self) -> tuple[str, ...]:
        """The dimensions without the `s` at their ends."""
        return tuple(dimension.rstrip("s") for dimension in self.dimensions)

    def each(self) -> Iterator[SequenceNode]:
        """Yield all nodes in the order of the sequence, parents before children."""
        for node in self.nodes:
            yield from node.each()

    def prefixes(self) -> tuple[Prefix, ...]:
        return tuple(node.prefix for node in self.each())

    def cells(self) -> tuple[Prefix, ...]:
        """Return the prefixes of full depth."""
        return tuple(prefix for prefix in self.prefixes() if len(prefix) == self.depth)

    def typed_cells(self) -> tuple[str, ...]:
        """Return the cells with their types (`main/prod/eu-1`), as status files name them."""
        return tuple(f"{kind.name}/{in_path(cell)}" for kind in self.types for cell in self.cells())

    def node(self, prefix: Prefix) -> SequenceNode:
        return next(node for node in self.each() if node.prefix == prefix)

    def last_below(self, node: SequenceNode, depth: int) -> Prefix:
        """Return the last prefix of a depth in a node."""
        return [child.prefix for child in node.each() if len(child.prefix) == depth][-1]


def covers(prefix: Prefix, cell: Prefix) -> bool:
    """Return True if a cell, or another prefix, is equal to a prefix or below it."""
    return cell[: len(prefix)] == prefix


def in_path(prefix: Sequence[str]) -> str:
    """Format a prefix with slashes."""
    return "/".join(prefix)


def read_config(root: Path, limits: Limits) -> FleetConfig:
    """Read the configuration of the fleet at `root`.

    Raises:
        CommodoreError: CMD-FLT-001, the file does not exist; 003 to 005, 015, NAME-001 and NAME-006, its content is
            invalid, all errors at once; otherwise as `read_document`.
    """
    path = root / "config" / "config.yaml"
    if not path.is_file() and not path.is_symlink():
        raise InputError(
            "CMD-FLT-001",
            f"there is no config/config.yaml in {root}",
            hint="name the folder of the fleet with --working-dir, or create one with 'commodore fleet init'",
        )
    document = read_document(path, root, limits)
    data = document.data
    if data is None or data == {}:
        raise InputError(
            "CMD-FLT-015", f"{document.place} is empty", hint="write dimensions, sequence and cluster_types"
        )
    dimensions = data.get("dimensions") if isinstance(data, dict) else None
    usable = isinstance(dimensions, list) and bool(dimensions) and all(isinstance(name, str) for name in dimensions)
    names: list[str] = dimensions[:8] if usable and dimensions else ["environments"]
    problems = [
        _without_children(document, problem, names) for problem in schema_problems(document, config_schema(names))
    ]
    if usable:
        problems += _duplicate_dimensions(document, names)
    raise_all(list(_merge_similar(problems)))
    config = FleetConfig(
        tuple(names),
        _nodes(document, data["sequence"][names[0]], ("sequence", names[0]), (), names),
        tuple(_types(document, data["cluster_types"])),
        data.get("generator") or {},
        document,
    )
    raise_all(_duplicates(document, config))
    return config


def _merge_similar(problems: Sequence[CommodoreError]) -> Iterator[CommodoreError]:
    """Merge errors about the same mistake at many nodes, such as a misnamed dimension, into one with all places."""
    groups: dict[tuple[str, str], list[CommodoreError]] = {}
    for problem in problems:
        words = re.sub(r"/\d+", "", problem.message)
        words = re.sub("'[^']*'", "", words) if problem.code == "CMD-FLT-004" else words
        groups.setdefault((problem.code, words), []).append(problem)
    for first, *others in groups.values():
        message = f"{first.message} (and {len(others)} more)" if others else first.message
        places = [location for error in (first, *others) for location in error.locations]
        yield type(first)(first.code, message, hint=first.hint, locations=places)


def _without_children(document: Document, problem: CommodoreError, dimensions: Sequence[str]) -> CommodoreError:
    """Replace the schema's error about a node without the list of the next dimension: it would have no cells."""
    match = _CHILDLESS.search(problem.message)
    if not match:
        return problem
    steps = match[1].strip("/").split("/")
    value: Any = document.data
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    depth = len(steps) // 2
    if depth >= len(dimensions) or (match[2] or match[3] or dimensions[depth]) != dimensions[depth]:
        return problem
    level, below = dimensions[depth - 1].rstrip("s"), dimensions[depth]
    name = value.get("name") if isinstance(value, dict) else value
    return InputError(
        "CMD-FLT-004",
        f"{document.place}: the {level} {shown(name)} has no {below}: nothing would be rendered there",
        hint=f"list its {below}, or remove it",
        locations=problem.locations,
    )


def _duplicate_dimensions(document: Document, dimensions: Sequence[str]) -> list[CommodoreError]:
    places = [(name, document.at(("dimensions", number))) for number, name in enumerate(dimensions)]
    problems = _duplicate_errors("dimension", places)
    if not problems:
        problems = _duplicate_errors(
            "singular of a dimension", [(name.rstrip("s"), location) for name, location in places]
        )
    return problems


def _nodes(
    document: Document, items: Sequence[Any], path: tuple[object, ...], above: Prefix, dimensions: Sequence[str]
) -> tuple[SequenceNode, ...]:
    nodes = []
    for number, item in enumerate(items):
        data = item if isinstance(item, dict) else {"name": item}
        place, prefix = (*path, number), (*above, data["name"])
        soak = data.get("soak", "0s")
        below = dimensions[len(prefix)] if len(prefix) < len(dimensions) else ""
        nodes.append(
            SequenceNode(
                prefix,
                data.get("promotion") == "manual",
                age_seconds(soak) or 0,
                soak,
                _nodes(document, data[below], (*place, below), prefix, dimensions) if below else (),
                document.at((*place, "name") if isinstance(item, dict) else place),
            )
        )
    return tuple(nodes)


def _types(document: Document, items: Sequence[Any]) -> Iterator[ClusterType]:
    for number, item in enumerate(items):
        data = item if isinstance(item, dict) else {"name": item}
        listed = data.get("applications")
        path = ("cluster_types", number, "name") if isinstance(item, dict) else ("cluster_types", number)
        yield ClusterType(data["name"], None if listed is None else tuple(listed), document.at(path))


def _duplicates(document: Document, config: FleetConfig) -> list[CommodoreError]:
    problems: list[CommodoreError] = [
        InputError(
            "CMD-FLT-003",
            f"{document.place}: {in_path(node.prefix)} has the reserved name of folders for patches",
            hint="choose another one",
            locations=[node.location],
        )
        for node in config.each()
        if node.prefix[-1] == "patches"
    ]
    problems += _duplicate_errors("cluster type", [(kind.name, kind.location) for kind in config.types])
    for number, kind in enumerate(config.types):
        places = [
            (name, document.at(("cluster_types", number, "applications", index)))
            for index, name in enumerate(kind.applications or ())
        ]
        problems += _duplicate_errors(f"application of {kind.name}", places)
    for nodes in (config.nodes, *(node.children for node in config.each())):
        if nodes:
            singular = config.singulars[len(nodes[0].prefix) - 1]
            problems += _duplicate_errors(singular, [(in_path(node.prefix), node.location) for node in nodes])
    return problems


def _duplicate_errors(what: str, places: Sequence[tuple[str, Location]]) -> list[CommodoreError]:
    first: dict[str, Location] = {}
    problems: list[CommodoreError] = []
    for name, location in places:
        if name in first:
            lines = f"in lines {first[name].line} and {location.line}"
            problems.append(
                InputError(
                    "CMD-FLT-005",
                    f"{location.place}: the {what} {name!r} is defined twice, {lines}",
                    hint="remove or rename one of them",
                    locations=[location],
                )
            )
        first.setdefault(name, location)
    return problems
