"""The configuration of a fleet as data: types, their applications, overrides and patches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from commodore.base.errors import Location
from commodore.fleet.repository.config import FleetConfig, Prefix, Style
from commodore.fleet.repository.files import Document

APPLICATIONS = "applications"
APPLICATIONSETS = "applicationsets"
SECTIONS = (APPLICATIONS, APPLICATIONSETS)
RESERVED = ("cluster", "metadata")

Values = dict[str, Any]
"""Section to item name to item."""
Path_ = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """Values of one file.

    Attributes:
        document: the file.
        values: section to item name to item.
        head: the keys of the file above its sections.
        bare: items of `applications` that stand in the file without their section.
    """

    document: Document
    values: Values
    head: Path_ = ()
    bare: frozenset[str] = frozenset()

    def at(self, path: Path_) -> Location:
        """The place of a value, by its path in `values`."""
        if len(path) > 1 and path[0] == APPLICATIONS and path[1] in self.bare:
            path = path[1:]
        return self.document.at((*self.head, *path))

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


@dataclass(frozen=True, slots=True, eq=False)
class PatchFile:
    """One copy of a patch: its definition (no prefix), or a placement."""

    name: str
    prefix: Prefix | None
    layer: Layer
    metadata: Mapping[str, Any]

    @property
    def place(self) -> str:
        return self.layer.document.place

    @property
    def id(self) -> str:
        return str(self.metadata.get("id", self.name))


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """All copies of one patch of an application's folder; placements are in the order of the sequence."""

    type: str
    app: str
    name: str
    definition: PatchFile | None
    placements: tuple[PatchFile, ...]

    @property
    def files(self) -> tuple[PatchFile, ...]:
        return (*([self.definition] if self.definition else []), *self.placements)

    @property
    def prefixes(self) -> tuple[Prefix, ...]:
        return tuple(one.prefix for one in self.placements if one.prefix is not None)


@dataclass(frozen=True, slots=True, eq=False)
class App:
    """An application's folder.

    Attributes:
        base: its values.yaml.
        overrides: by prefix.
        flat: by the name of a node of any level but the first.
        patches: by name.
    """

    type: str
    name: str
    folder: Path
    base: Layer
    overrides: Mapping[Prefix, Layer]
    flat: Mapping[str, Layer]
    patches: tuple[Patch, ...]

    def levels(self, cell: Prefix) -> list[tuple[Layer, ...]]:
        """The overrides of a cell, by level from the outermost."""
        found = []
        for depth in range(1, len(cell) + 1):
            flat = self.flat.get(cell[depth - 1]) if depth > 1 else None
            nested = self.overrides.get(cell[:depth])
            found.append(tuple(layer for layer in (flat, nested) if layer is not None))
        return found

    @property
    def items(self) -> frozenset[tuple[str, str]]:
        """Section and name of all that values and overrides define."""
        layers = (self.base, *self.overrides.values(), *self.flat.values())
        return frozenset(
            (section, name) for layer in layers for section, items in layer.values.items() for name in items
        )


@dataclass(frozen=True, slots=True, eq=False)
class TypeConfig:
    """A cluster type: defaults by section, lowest layer first, and its applications by folder name."""

    name: str
    defaults: Mapping[str, tuple[Layer, ...]]
    apps: tuple[App, ...]

    @property
    def patches(self) -> tuple[Patch, ...]:
        return tuple(patch for app in self.apps for patch in app.patches)

    def app(self, name: str) -> App | None:
        return next((app for app in self.apps if app.name == name), None)

    @property
    def sections(self) -> tuple[str, ...]:
        """All sections that occur, and the two that are always known."""
        found = dict.fromkeys((*SECTIONS, *self.defaults))
        for app in self.apps:
            found |= dict.fromkeys(section for section, _ in sorted(app.items))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Choices:
    """How output is made; see `docs/reference/fleet-files.md`."""

    output: Style
    patches: Literal["last", "by-level"]
    inject_dimensions: bool
    chart_naming: Style
    promotion_depth: int
    chart: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Fleet:
    """A fleet's repository, read. `root` is absolute and free of links."""

    root: Path
    config: FleetConfig
    choices: Choices
    types: tuple[TypeConfig, ...]
