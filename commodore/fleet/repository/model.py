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
    """The values of a file.

    Attributes:
        document: the file.
        values: section to item name to item.
        head: the keys of the file above its sections.
        bare: items of `applications` that the file gives without their section.
    """

    document: Document
    values: Values
    head: Path_ = ()
    bare: frozenset[str] = frozenset()

    def at(self, path: Path_) -> Location:
        """Return the place of a value, by its path in `values`."""
        if len(path) > 1 and path[0] == APPLICATIONS and path[1] in self.bare:
            path = path[1:]
        return self.document.at((*self.head, *path))

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


@dataclass(frozen=True, slots=True, eq=False)
class PatchFile:
    """A copy of a patch: its definition, without a prefix, or a placement."""

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
    """A patch of an application's folder with all its copies; placements are in the order of the sequence."""

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
        return tuple(placement.prefix for placement in self.placements if placement.prefix is not None)


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
        """Return the overrides of a cell, by level from the outermost."""
        levels = []
        for depth in range(1, len(cell) + 1):
            flat = self.flat.get(cell[depth - 1]) if depth > 1 else None
            nested = self.overrides.get(cell[:depth])
            levels.append(tuple(layer for layer in (flat, nested) if layer is not None))
        return levels

    @property
    def items(self) -> frozenset[tuple[str, str]]:
        """Section and name of each item that values and overrides define."""
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
        """All used sections, and the two built-in ones."""
        sections = dict.fromkeys((*SECTIONS, *self.defaults))
        for app in self.apps:
            sections |= dict.fromkeys(section for section, _ in sorted(app.items))
        return tuple(sections)


@dataclass(frozen=True, slots=True)
class Choices:
    """The form of the output; see `docs/reference/fleet-files.md`."""

    output: Style
    patches: Literal["last", "by-level"]
    inject_dimensions: bool
    chart_naming: Style
    promotion_depth: int
    chart: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Fleet:
    """The content of a fleet's repository. `root` is absolute and free of links."""

    root: Path
    config: FleetConfig
    choices: Choices
    types: tuple[TypeConfig, ...]
