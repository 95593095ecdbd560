"""The builtin filter `helm_namespace`: sets the namespace of all objects that a Helm chart rendered.

The published tool evaluates a Jsonnet file for this. Here the loaded objects are changed without an evaluation. The
bytes are the same, because numbers are converted as Jsonnet does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commodore.base import yaml as manifests
from commodore.base.errors import InputError
from commodore.core.confinement import Confinement

_EXTENSIONS = (".yaml", ".yml", ".json")
_EXACT = 1 << 53
"""Integers up to this size are exact as the numbers of Jsonnet."""


def run(folder: Path, arguments: Mapping[str, Any], confinement: Confinement) -> None:
    """Set the namespace in every manifest directly in `folder`, and rename all of them to `.yaml`.

    Files without a manifest's extension (such as `NOTES.txt`) are not changed.

    Raises:
        InputError: the folder does not exist, a file does not contain objects, or two files would get the same name.
    """
    if not folder.is_dir():
        near = sorted(entry.name for entry in folder.parent.iterdir()) if folder.parent.is_dir() else []
        raise InputError(
            "CMD-ENG-044",
            f"the folder {confinement.describe(folder)!r} does not exist in the instance's output",
            hint=f"there is: {', '.join(near)}" if near else "",
        )
    written: dict[Path, Path] = {}
    for file in sorted(entry for entry in folder.iterdir() if entry.is_file() and entry.suffix in _EXTENSIONS):
        target = file.with_suffix(".yaml")
        if target in written:
            raise InputError(
                "CMD-ENG-045",
                f"{written[target].name} and {file.name} would both become {target.name}",
                hint="render only one of them, or rename one",
                locations=[confinement.describe(file)],
            )
        written[target] = file
        _rewrite(file, target, arguments, confinement)
    if arguments.get("create_namespace") in (True, "true"):
        namespace = folder / "00_namespace.yaml"
        confinement.write(namespace, manifests.dump_stream([_namespace(arguments["namespace"])]).encode())


def _unusable(place: str, reason: str) -> InputError:
    hint = "correct the chart or the template that makes it; the filter works on Kubernetes objects"
    return InputError("CMD-ENG-046", f"{place} has {reason}", hint=hint, locations=[place])


def _rewrite(file: Path, target: Path, arguments: Mapping[str, Any], confinement: Confinement) -> None:
    place = confinement.describe(file)
    objects: list[Any] = []
    for document in manifests.load_all(confinement.read(str(file)), place=place):
        if document is None:
            continue
        if not isinstance(document, dict):
            raise _unusable(place, "a document that is not an object")
        if not _is_excluded(document, arguments.get("exclude_objects", [])):
            metadata = document.get("metadata")
            if metadata is not None and not isinstance(metadata, dict):
                raise _unusable(place, "an object whose metadata is not a map")
            document["metadata"] = {**(metadata or {}), "namespace": arguments["namespace"]}
        try:
            objects.append(as_jsonnet(document))
        except OverflowError as error:
            raise _unusable(place, "a number that is too large") from error
    confinement.write(target, manifests.dump_stream(objects).encode())
    if file != target:
        os.unlink(file)


def _is_excluded(document: Mapping[str, Any], excluded: list[Mapping[str, Any]]) -> bool:
    """Check if an object is excluded. An entry without a name matches all objects of its kind."""
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return any(
        entry["kind"] == document.get("kind") and ("name" not in entry or entry["name"] == name) for entry in excluded
    )


def _namespace(name: str) -> dict[str, Any]:
    """Return a Namespace as the kube library creates it."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"annotations": {}, "labels": {"name": name}, "name": name},
    }


def as_jsonnet(value: Any) -> Any:
    """Convert a value as Jsonnet does: its numbers are floats, and are written without a needless fraction."""
    kind = type(value)
    if kind is dict:
        return {key: as_jsonnet(item) for key, item in value.items()}
    if kind is list:
        return [as_jsonnet(item) for item in value]
    if kind is float and value.is_integer():
        return int(value)
    if kind is int and not -_EXACT <= value <= _EXACT:
        return int(float(value))
    return value
