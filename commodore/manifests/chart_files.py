"""The charts that a chart is made of, by its own files: those that it lists, and those that are in it."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.manifests.kube_yaml import read_documents

_FILES = (("Chart.yaml", "Chart.lock"), ("requirements.yaml", "requirements.lock"))


@dataclass(frozen=True, slots=True)
class ListedChart:
    """An entry of `dependencies`, with what is missing empty. `repository` is without slashes at its end."""

    name: str
    version: str
    repository: str


def listed_charts(chart: Path) -> tuple[list[ListedChart], str]:
    """The dependencies that the files of a chart list, and the name of their lock file.

    Raises:
        InputError: a file is no YAML.
        OSError: it cannot be read.
    """
    for file, lock in _FILES:
        if listed := dependencies_in(chart / file):
            return listed, lock
    return [], _FILES[0][1]


def dependencies_in(file: Path) -> list[ListedChart]:
    """The dependencies that one file lists, such as a lock; none without the file. Raises as `listed_charts`."""
    content = _first(file.read_bytes(), file.name) if file.is_file() else None
    entries = content.get("dependencies") if isinstance(content, Mapping) else None
    if not isinstance(entries, list):
        return []
    return [_listed(entry) for entry in entries if isinstance(entry, Mapping)]


def contained_charts(chart: Path) -> Iterator[tuple[str, Path]]:
    """The charts in `charts`, folders and archives: each one's name, and where it is. Raises as `listed_charts`."""
    folder = chart / "charts"
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
        path = folder / name
        if (path / "Chart.yaml").is_file():
            content = _first((path / "Chart.yaml").read_bytes(), f"{name}/Chart.yaml")
            if isinstance(content, Mapping):
                yield str(content.get("name")), path
        elif name.endswith(".tgz"):
            try:
                with tarfile.open(path) as archive:
                    first = archive.next()
            except (OSError, tarfile.TarError):
                continue
            if first is not None:
                yield first.name.removeprefix("./").partition("/")[0], path


def _first(text: bytes, place: str) -> Any:
    return next(read_documents(text, place=place), None)


def _listed(entry: Mapping[str, Any]) -> ListedChart:
    name, version, repository = (str(entry.get(key) or "") for key in ("name", "version", "repository"))
    return ListedChart(name, version, repository.rstrip("/"))
