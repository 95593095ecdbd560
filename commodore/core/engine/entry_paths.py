"""Check the output paths in `parameters.kapitan` before they are used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from commodore.base.errors import InputError, Setting
from commodore.base.names import path_problem

_LISTS = ("compile", "dependencies")
_KEY = "output_path"


def path_errors(instance: str, node: Mapping[str, Any]) -> Iterator[InputError]:
    """Yield errors in the output paths of an instance's entries, CMD-ENG-064.

    Args:
        node: the instance's rendered node, not validated.
    """
    settings = node["parameters"].get("kapitan")
    for part in _LISTS:
        entries = settings.get(part) if isinstance(settings, Mapping) else None
        for index, entry in enumerate(entries) if isinstance(entries, list) else ():
            path = entry.get(_KEY) if isinstance(entry, Mapping) else None
            if not isinstance(path, str) or not (problem := path_problem(path)):
                continue
            place = Setting(
                f"{instance}: parameters.kapitan.{part}[{index}].{_KEY}",
                path=("kapitan", part, index, _KEY),
                target=instance,
            )
            yield InputError(
                "CMD-ENG-064",
                f"instance {instance!r}: kapitan.{part}[{index}].{_KEY} {problem}",
                hint="write a valid path of a file",
                locations=[place],
            )
