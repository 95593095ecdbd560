"""Value files: class files that an author gives on the command line or keeps as test cases."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from commodore.errors import InputError
from commodore.workspace import link_relative


def link_values(folder: Path, values: Sequence[Path]) -> list[str]:
    """Link value files into a class folder; returns their class names there, in order.

    Raises:
        InputError: two files would be one class, or a name makes no class of its own.
    """
    classes: dict[str, Path] = {}
    for path in values:
        if path.suffix not in (".yml", ".yaml"):
            raise InputError(
                "CMD-AUT-002",
                f"the values file {path} cannot be used as a class",
                hint="its name must end in .yml or .yaml",
            )
        if path.stem in classes:
            raise InputError(
                "CMD-AUT-003",
                f"the values files {classes[path.stem]} and {path} have the same class name",
                hint="rename the file",
            )
        classes[path.stem] = path
        link_relative(folder / path.name, path.resolve())
    return list(classes)
