"""The selection of files and objects of a catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from commodore.core.review import ObjectChange, PlacedObject

SELECTING = ("instance", "kind", "namespace", "object_name", "file")
"""The options that choose objects."""


def tree_of(folder: Path, what: str | None) -> dict[str, bytes]:
    """A revision of the repository in `folder`, a folder, or `folder` itself. A revision goes before a folder.

    Raises:
        InputError: CMD-CAT-018, CMD-CAT-019, no such folder and no such revision.
    """
    from commodore.catalog import read_folder, read_revision

    if what is None:
        return read_folder(folder, Context(ignore, DEFAULT_LIMITS))
    if Path(what).is_dir() and ("/" in what or not folder.is_dir()):
        return read_folder(Path(what), Context(ignore, DEFAULT_LIMITS))
    if not folder.is_dir():
        raise InputError(
            "CMD-CAT-019",
            f"'{what}' is not a folder, and there is no catalog in {folder} that could have it as a revision",
            hint="name a folder with manifests, or run this in a working directory that was compiled before",
        )
    return read_revision(folder, what, Context(ignore, DEFAULT_LIMITS))


def change_selection(values: Mapping[str, Any]) -> Callable[[ObjectChange], bool] | None:
    """Return a filter for changes with a selected side; None to show all changes."""
    if not any(values[name] for name in SELECTING):
        return None
    chosen = object_selection(values)
    return lambda change: any(chosen(side) for side in (change.old, change.new) if side is not None)


def object_selection(values: Mapping[str, Any]) -> Callable[[PlacedObject], bool]:
    """Return a filter for objects that match every given option."""
    from commodore.base.kubernetes import key_of

    def fits(item: PlacedObject) -> bool:
        key = key_of(item.content)
        there = {
            "instance": item.source,
            "kind": key.kind,
            "namespace": key.namespace,
            "object_name": key.name,
        }
        if any(values[name] and there[name] not in values[name] for name in there):
            return False
        return not values["file"] or any(fnmatchcase(item.file, pattern) for pattern in values["file"])

    return fits


def selected_objects(folder: Path, revision: str | None, values: Mapping[str, Any]) -> Iterator[PlacedObject]:
    """The objects of a tree (see `tree_of`) that the options choose."""
    from commodore.catalog import objects_of

    return filter(object_selection(values), objects_of(tree_of(folder, revision), {}))
