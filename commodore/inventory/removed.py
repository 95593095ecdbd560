"""Reclass variables that no longer exist; a hierarchy that still uses them is refused (spec c 5.3, 5.4, a 17)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from commodore.errors import CommodoreError, InputError, Location
from commodore.inventory.files import class_files
from commodore.manifests import load_all
from commodore.workspace import guard_disk

REMOVED_VARIABLES = {
    "${customer:name}": "${cluster:tenant}",
    "${cloud:provider}": "${facts:cloud}",
    "${cloud:region}": "${facts:region}",
    "${cluster:dist}": "${facts:distribution}",
}
"""The variable that is gone, and what takes its place."""


def find_removed_variables(targets: Iterable[Path]) -> list[CommodoreError]:
    """One error per removed variable and string value in the class files of the folders and files given.

    Files that cannot be read as one YAML map are left to reclass, which reports them if they are used.
    """
    return [error for target in targets for path in class_files(target) for error in _check(path)]


def _check(path: Path) -> Iterator[CommodoreError]:
    if not path.is_file():  # a link to nothing, a pipe: reclass reports it if it is used
        return
    with guard_disk(path):
        content = path.read_bytes()
    present = [name for name in REMOVED_VARIABLES if name.encode() in content]
    if not present:
        return
    try:
        documents = load_all(content, place=str(path))
    except CommodoreError:
        return
    if len(documents) != 1 or not isinstance(documents[0], dict):
        return
    position = dict.fromkeys(present, -1)
    for field, text in _strings(documents[0], ""):
        for name in present:
            if name in text:
                # Values come in the file's order, so each next one is the next place of the name, save for anchors.
                position[name] = max(content.find(name.encode(), position[name] + 1), position[name])
                line = content[: position[name]].count(b"\n") + 1
                yield InputError(
                    "CMD-INV-008",
                    f"{field} uses {name}, which was removed",
                    hint=f"use {REMOVED_VARIABLES[name]} instead",
                    locations=[Location(str(path), line)],
                )


def _strings(value: Any, field: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(item, f"{field}.{key}" if field else str(key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, f"{field}[{index}]")
