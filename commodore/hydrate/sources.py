"""Where Applications come from: files and folders that are named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.argocd.configuration import read_file
from commodore.errors import InputError, Location
from commodore.hydrate.reading import API_VERSION, CONFIG_KIND, entries_as_applications, is_hydrated
from commodore.limits import Limits
from commodore.manifests.kube_yaml import read_placed_documents
from commodore.tree import walk

_ENDINGS = (".yaml", ".yml", ".json")
_MARKS = (b"sourceHydrator", CONFIG_KIND.encode())


@dataclass(frozen=True, slots=True)
class Found:
    """What the sources hold.

    Attributes:
        applications: with a source hydrator, each with its place, in the order of the files.
        protect: patterns of branches that may be written; empty for all.
    """

    applications: tuple[tuple[Mapping[str, Any], Location], ...]
    protect: tuple[str, ...] = ()


def read_sources(paths: Iterable[Path], limits: Limits) -> Found:
    """The Applications with source hydrators in files, and in all YAML and JSON files below folders.

    Raises:
        InputError: CMD-HYD-001, there is none; CMD-HYD-002, a `hydrate.yaml` is wrong; CMD-ARGO-101, a file cannot be
            read.
    """
    applications: list[tuple[Mapping[str, Any], Location]] = []
    protect: list[str] = []
    given = list(paths)
    for file in _files(given):
        if not any(mark in _start(file) for mark in _MARKS):
            continue
        for value, line in read_placed_documents(read_file(file, limits), place=str(file)):
            place = Location(str(file), line)
            if not isinstance(value, Mapping):
                continue
            if value.get("kind") == "Application" and is_hydrated(value):
                applications.append((value, place))
            elif value.get("kind") == CONFIG_KIND and value.get("apiVersion") == API_VERSION:
                applications += [(one, place) for one in entries_as_applications(value, place)]
                protect += [one for one in value.get("protect") or () if isinstance(one, str)]
    if not applications:
        raise InputError(
            "CMD-HYD-001",
            f"there is no Application with a source hydrator in {', '.join(map(str, given)) or 'no source'}",
            hint="name files or folders with Applications that have spec.sourceHydrator, or with a hydrate.yaml",
        )
    return Found(tuple(applications), tuple(protect))


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for place, entry in walk(path, skip=lambda one: one.name.startswith(".")):
            if place.endswith(_ENDINGS) and entry.is_file():
                yield path / place


def _start(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return _MARKS[0]  # reading it says what is wrong
