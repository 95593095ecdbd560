"""The Applications and ApplicationSets of cells, and the ones that a change of `rendered/` adds or removes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from commodore.base.errors import CommodoreError, InputError, UsageError, did_you_mean
from commodore.base.printable import some_of
from commodore.base.yaml import load
from commodore.core.review import TreeChange
from commodore.fleet.findings import cells_in_words
from commodore.fleet.output import Files
from commodore.fleet.repository.layout import RENDERED
from commodore.fleet.repository.model import APPLICATIONS, APPLICATIONSETS

Style = Literal["charts", "manifests"]
_KINDS = {APPLICATIONS: "Application", APPLICATIONSETS: "ApplicationSet"}
_KIND = re.compile(rb"^kind: (Application|ApplicationSet)\s*$", re.MULTILINE)
# The form of written values: sections, and items below them. Deeper lines are indented further.
_SECTION = re.compile(r"([A-Za-z0-9_.-]+):( \{\})?")
_ITEM = re.compile(r"  '?([A-Za-z0-9_.-]+)'?:( .*)?")


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object added to or removed from cells that stay.

    Attributes:
        kind: `Application`, `ApplicationSet`, or the section of the values that defines it.
        name: the name of the object.
        cells: the cells, with their types (`main/prod/eu-1`).
    """

    change: Literal["added", "removed"]
    kind: str
    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObjectChanges:
    """The objects that differ between two states of `rendered/`.

    Attributes:
        objects: the objects of cells in both states; removed ones first, those of most cells first.
        added, removed: the cells in only one of the states, with all of their objects.
        unknown: the cells with an unreadable state.
        names: the names of all objects of differing cells, with and without their type (`web`, `main/web`).
    """

    objects: tuple[ObjectChange, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    unknown: tuple[str, ...]
    names: frozenset[str]


def object_changes(change: TreeChange, old: Files, new: Files, depth: int, style: Style) -> ObjectChanges:
    """Return the objects that a change of `rendered/` adds or removes.

    Args:
        change: the files that differ between `old` and `new`.
        depth: the number of dimensions.
        style: the style of cells.
    """
    paths = {path for file in change.files for path in (file.old_path, file.new_path)}
    cells = sorted({cell for path in paths if (cell := _cell_of(path, depth))})
    before, after = _by_cell(old, depth, cells), _by_cell(new, depth, cells)
    lists: dict[tuple[Literal["added", "removed"], str, str], list[str]] = {}
    added: list[str] = []
    removed: list[str] = []
    unknown: list[str] = []
    names: set[str] = set()
    for cell in cells:
        try:
            theirs, ours = (_objects_of(files[cell], style, cell) for files in (before, after))
        except CommodoreError:
            unknown.append(cell)
            continue
        kind = cell.partition("/")[0]
        names |= {text for _, name in theirs | ours for text in (name, f"{kind}/{name}")}
        if not (before[cell] and after[cell]):
            (added if after[cell] else removed).append(cell)
            continue
        for item in theirs - ours:
            lists.setdefault(("removed", *item), []).append(cell)
        for item in ours - theirs:
            lists.setdefault(("added", *item), []).append(cell)
    objects = [ObjectChange(what, kind, name, tuple(of)) for (what, kind, name), of in lists.items()]
    objects.sort(key=lambda change_: (change_.change != "removed", -len(change_.cells), change_.kind, change_.name))
    return ObjectChanges(tuple(objects), tuple(added), tuple(removed), tuple(unknown), frozenset(names))


def _cell_of(path: str, depth: int) -> str:
    """Return the folder of the cell with a file; empty for other files."""
    parts = path.split("/")
    return "/".join(parts[: depth + 1]) if len(parts) > depth + 1 else ""


def _by_cell(files: Files, depth: int, cells: Sequence[str]) -> dict[str, dict[str, bytes]]:
    grouped: dict[str, dict[str, bytes]] = {cell: {} for cell in cells}
    for path, text in files.items():
        cell = _cell_of(path, depth)
        if cell in grouped:
            grouped[cell][path.removeprefix(f"{cell}/")] = text
    return grouped


def _objects_of(files: Mapping[str, bytes], style: Style, cell: str) -> set[tuple[str, str]]:
    """Return kind and name of a cell's objects.

    Raises:
        InputError: its values are not YAML.
    """
    if style == "charts":
        items = _items_of(files.get("values.yaml", b""), f"{RENDERED}/{cell}/values.yaml")
        return {(_KINDS.get(section, section), name) for section, name in items}
    resources = {path: text for path, text in files.items() if path.startswith("templates/")}
    return {
        (match[1].decode(), path.rpartition("/")[2].removesuffix(".yaml"))
        for path, text in resources.items()
        if (match := _KIND.search(text))
    }


def _items_of(text: bytes, place: str) -> set[tuple[str, str]]:
    """Return section and name of all items of values that are not null."""
    lines = text.decode("utf-8", "replace").splitlines()
    items = _scanned(lines)
    if items is None:  # not written by the generator
        data = load(text, place=place)
        sections = data.items() if isinstance(data, dict) else ()
        items = {
            (str(section), str(name))
            for section, members in sections
            if isinstance(members, dict)
            for name, item in members.items()
            if item is not None
        }
    return {(section, name) for section, name in items if section != "cluster"}


def _scanned(lines: Sequence[str]) -> set[tuple[str, str]] | None:
    """Parse lines in the generator's form, much faster than YAML; None for other lines."""
    items: set[tuple[str, str]] = set()
    section = ""
    for line in lines:
        if line.startswith("   ") or not line:
            continue
        if match := _SECTION.fullmatch(line):
            section = match[1]
        elif (match := _ITEM.fullmatch(line)) and section:
            if match[2] != " null":
                items.add((section, match[1]))
        else:
            return None
    return items


def removal_errors(
    changes: ObjectChanges, allowed: Sequence[str], known: Sequence[str], *, force: bool
) -> Iterator[CommodoreError]:
    """Yield errors for objects that would be removed without permission.

    Args:
        allowed: names of objects that may be removed, with or without their type in front.
        known: names of objects in the configuration, with and without their type.
        force: accept an unreadable former state.

    Raises:
        UsageError: CMD-FLT-090, a name is unknown.
    """
    there = {*changes.names, *known}
    for name in allowed:
        if name not in there:
            names = sorted(item.name for item in changes.objects if item.change == "removed")
            raise UsageError(
                "CMD-FLT-090",
                f"there is no Application {name!r} in this fleet",
                hint=did_you_mean(name, there)
                or (f"removed are {some_of(names)}" if names else "none goes; leave --allow-removal out"),
            )
    if changes.unknown and not force:
        yield InputError(
            "CMD-FLT-066",
            f"the former Applications of {cells_in_words(changes.unknown)} are unknown: values.yaml is not YAML",
            hint="take it from git again, or replace it with --force; look at 'commodore fleet diff' afterwards",
            locations=[f"{RENDERED}/{changes.unknown[0]}/values.yaml"],
        )
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for item in changes.objects:
        cells = tuple(cell for cell in item.cells if f"{cell.partition('/')[0]}/{item.name}" not in allowed)
        if item.change == "removed" and item.name not in allowed and cells:
            groups.setdefault((item.kind, cells), []).append(item.name)
    for (kind, cells), names in groups.items():
        options = " ".join(f"--allow-removal {name}" for name in names[:_HINTED])
        more = f", and so on for {len(names) - _HINTED} more" if len(names) > _HINTED else ""
        yield InputError(
            "CMD-FLT-065",
            f"{kind} {some_of(names)} would be removed from {cells_in_words(cells, 3)}",
            hint=f"if that is meant: {options}{more}; else look for what defined it in config",
        )


_HINTED = 3
