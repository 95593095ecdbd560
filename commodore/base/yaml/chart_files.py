"""The dependencies of a chart by its own files: the listed ones, and the contained ones."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.yaml.kube_yaml import read_documents

_FIELDS = ("name", "version", "repository", "condition", "tags", "enabled", "import-values", "alias")
"""The fields of a dependency, in the order of helm's type; `name` and `repository` are written even if they
are empty.
"""


@dataclass(frozen=True, slots=True)
class ListingFiles:
    """The names of the file that lists a chart's dependencies, and of its lock file."""

    listing: str
    lock: str


_FILES = (ListingFiles("Chart.yaml", "Chart.lock"), ListingFiles("requirements.yaml", "requirements.lock"))


@dataclass(frozen=True, slots=True)
class ListedChart:
    """An entry of `dependencies`; missing fields are empty. `repository` has no trailing slashes."""

    name: str
    version: str
    repository: str


def listed_charts(chart: Path) -> tuple[list[ListedChart], ListingFiles]:
    """Return the dependencies listed by a chart, and the names of the listing files.

    Raises:
        InputError: a file is not valid YAML.
        OSError: a file cannot be read.
    """
    for files in _FILES:
        if listed := dependencies_in(chart / files.listing):
            return listed, files
    return [], _FILES[0]


def dependencies_in(file: Path) -> list[ListedChart]:
    """Return the dependencies listed in a file, such as a lock; empty without the file. Raises as `listed_charts`."""
    return [_listed(entry) for entry in _entries(_content(file))]


def is_in_sync(chart: Path, files: ListingFiles) -> bool:
    """Compare the digest in a chart's lock with its listed dependencies.

    The digest is that of helm's `internal/resolver`: of the listed and the locked dependencies, or, in a chart of
    version 1, of the listed ones only, as in helm 2. Raises as `listed_charts`.
    """
    listed, lock = _entries(_content(chart / files.listing)), _content(chart / files.lock)
    expected = [_as_helm_writes(entry) for entry in listed]
    locked = [_as_helm_writes(entry) for entry in _entries(lock)]
    digests = [_digest([expected, locked])]
    if _content(chart / "Chart.yaml").get("apiVersion") == "v1":
        digests.append(_digest({"dependencies": expected}))
    return lock.get("digest") in digests


def _as_helm_writes(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a dependency as helm's type is written as JSON: without empty fields."""
    fields = {key: entry.get(key) for key in _FIELDS}
    fields |= {key: str(fields[key]) for key in ("name", "version", "repository", "alias") if fields[key] is not None}
    return {key: given or "" for key, given in fields.items() if given or key in ("name", "repository")}


def _digest(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for letter in "<>&\u2028\u2029":  # as escaped by Go
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def contained_charts(chart: Path) -> Iterator[tuple[str, Path]]:
    """Yield the charts in `charts`, folders and archives, with name and path. Raises as `listed_charts`."""
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


def _content(file: Path) -> Mapping[str, Any]:
    content = _first(file.read_bytes(), file.name) if file.is_file() else None
    return content if isinstance(content, Mapping) else {}


def _entries(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    entries = content.get("dependencies")
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def _first(text: bytes, place: str) -> Any:
    return next(read_documents(text, place=place), None)


def _listed(entry: Mapping[str, Any]) -> ListedChart:
    name, version, repository = (str(entry.get(key) or "") for key in ("name", "version", "repository"))
    return ListedChart(name, version, repository.rstrip("/"))
