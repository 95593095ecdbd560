"""Read YAML files of a fleet within limits, with the place of each value, and refuse duplicate keys."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commodore.base.errors import CommodoreError, InputError, Location
from commodore.base.files.workspace import is_inside
from commodore.base.limits import Limits
from commodore.base.printable import printable
from commodore.fleet.merging import copy

if TYPE_CHECKING:
    from yaml import Node

Path_ = tuple[object, ...]
"""A path in a file or in values: keys and numbers."""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file.

    Attributes:
        place: its path from the root of the repository, as messages name it.
        path: its absolute path.
        data: its content; None for an empty file.
        text: its bytes.
        positions: line and column, from 1, of each key and item, by path.
    """

    place: str
    path: Path
    data: Any
    text: bytes
    positions: Mapping[Path_, tuple[int, int]]

    def at(self, path: Sequence[object] = ()) -> Location:
        """Return the place of a value, or of the nearest one above it."""
        steps = tuple(path)
        while steps and steps not in self.positions:
            steps = steps[:-1]
        line, column = self.positions.get(steps, (1, 1))
        return Location(self.place, line, column)


def read_document(path: Path, root: Path, limits: Limits) -> Document:
    """Read a YAML file of the repository at `root`, which is free of links.

    Raises:
        InputError: CMD-FLT-002, it is not YAML, or has a duplicate key; 006, it is not a regular file, leads out of the
            repository, or is larger than a limit; CMD-YAML-003, nested too deeply.
    """
    return parse_document(str(path.relative_to(root)), path, read_bytes(path, root, limits), limits)


def parse_document(place: str, path: Path, text: bytes, limits: Limits) -> Document:
    """Parse the content of a file.

    Raises:
        InputError: as `read_document`.
    """
    from commodore.base.yaml import compose, load

    try:
        nodes = compose(text, place=place)
        if len(nodes) > 1:
            raise InputError(
                "CMD-FLT-002",
                f"{printable(place)} must hold one YAML document, not several",
                hint="keep one of them, without '---' between",
                locations=[place],
            )
        positions: dict[Path_, tuple[int, int]] = {}
        if nodes:
            _check_size(nodes[0], place, limits)
            positions = positions_of(nodes[0], place)
        return Document(
            place, path, copy(load(text, place=place)), text, positions
        )  # a copy, since aliases share objects
    except InputError as error:
        if error.code != "CMD-YAML-001":
            raise
        reason = error.message.partition("is not valid YAML: ")[2] or error.message
        raise InputError(
            "CMD-FLT-002",
            f"{printable(place)} is not YAML: {reason}",
            hint=error.hint or "correct it at the place that is named",
            locations=error.locations,
        ) from error


def read_bytes(path: Path, root: Path, limits: Limits) -> bytes:
    """Read the bytes of a file of the repository.

    Raises:
        InputError: CMD-FLT-006, see `read_document`.
    """
    place = str(path.relative_to(root))
    if not is_inside(path, root):
        raise _refused(place, "is a link that leaves the repository", "put the file itself there")
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise _refused(place, "is not a regular file", "put a text file there")
            text = file.read(limits.fleet_file_bytes + 1)
    except OSError as error:
        raise _refused(
            place, f"cannot be read: {error.strerror}", "check its mode and the target of its link"
        ) from error
    if len(text) > limits.fleet_file_bytes:
        raise _refused(
            place, f"is larger than {limits.fleet_file_bytes >> 20} MiB (fleet_file_bytes)", "make it smaller"
        )
    return text


def check_folder(path: Path, root: Path) -> None:
    """Raise if a folder of the repository is a link that leaves it.

    Raises:
        InputError: CMD-FLT-006.
    """
    if not is_inside(path, root):
        raise _refused(
            str(path.relative_to(root)), "is a link that leaves the repository", "put the folder itself there"
        )


def _refused(place: str, what: str, hint: str) -> CommodoreError:
    return InputError("CMD-FLT-006", f"{printable(place)} {what}", hint=hint, locations=[place])


def _check_size(node: Node, place: str, limits: Limits) -> None:
    """Raise if a file has too many values, with every alias followed: a few lines can expand to billions."""
    sizes: dict[int, int] = {}

    def size(node: Node) -> int:
        if id(node) not in sizes:
            nested = () if isinstance(node.value, str) else node.value
            parts = [part for pair in nested for part in (pair if isinstance(pair, tuple) else (pair,))]
            sizes[id(node)] = 1 + sum(map(size, parts))
        return sizes[id(node)]

    if size(node) > limits.fleet_values:
        raise _refused(
            place, f"holds more than {limits.fleet_values} values (fleet_values)", "split it, or use fewer aliases"
        )


def positions_of(node: Node, place: str) -> dict[Path_, tuple[int, int]]:
    """Return the line and column of each key and item, by path.

    Raises:
        InputError: CMD-FLT-002, a map has a duplicate key.
    """
    positions: dict[Path_, tuple[int, int]] = {}
    _locate(node, (), positions, place)
    return positions


def _locate(node: Node, path: Path_, positions: dict[Path_, tuple[int, int]], place: str) -> None:
    """Collect the positions of keys and items, and refuse duplicate keys."""
    positions.setdefault(path, (node.start_mark.line + 1, node.start_mark.column + 1))
    kind = type(node).__name__
    if kind == "SequenceNode":
        for number, item in enumerate(node.value):
            _locate(item, (*path, number), positions, place)
    if kind != "MappingNode":
        return
    lines: dict[tuple[str, str], int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if isinstance(key.value, str):
            if (key.tag, key.value) in lines:
                first = lines[key.tag, key.value]
                raise InputError(
                    "CMD-FLT-002",
                    f"{printable(place)} is not YAML: the key {printable(key.value)!r} is set twice, "
                    f"in line {first} and in line {line}",
                    hint="remove one of them",
                    locations=[Location(place, line, key.start_mark.column + 1)],
                )
            lines[key.tag, key.value] = line
        step = _key(key)
        positions[(*path, step)] = (line, key.start_mark.column + 1)
        _locate(value, (*path, step), positions, place)


def _key(node: Node) -> object:
    """Return a key as the loader converts it; only strings and integers matter."""
    if node.tag == "tag:yaml.org,2002:int" and str(node.value).isdecimal():
        return int(node.value)
    return node.value if isinstance(node.value, str) else str(node.value)
