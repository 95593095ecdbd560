"""The files and charts of a kustomization within its repository."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.argocd.trees.tree import is_git
from commodore.base.errors import InputError
from commodore.base.files.tree import walk
from commodore.base.yaml.kube_yaml import read_documents
from commodore.core.confinement.policy import check_source
from commodore.core.render.kustomizations import FILES, all_named, is_remote
from commodore.core.sources.git import redact

KUSTOMIZATIONS = FILES
_LISTS = ("resources", "bases", "components", "crds", "configurations")
_CHARTS = ("helmcharts", "helmchartinflationgenerator")
_OWN_PROGRAMS = ("generators", "transformers", "validators")
_MAX_PARTS = 50  # folders and files, including the first folder


@dataclass(frozen=True, slots=True)
class PulledChart:
    """A chart of a kustomization that comes from a chart repository.

    Attributes:
        folder: the folder in which kustomize looks for it, and to which it otherwise makes helm pull it.
        repository: the URL.
        version: exact, or a range; empty for the newest.
    """

    folder: str
    repository: str
    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Parts:
    """The files and charts that a build of a kustomization may read.

    Attributes:
        files: all files below its folder, and below other folders that it names.
        charts: whether a kustomization among them has charts.
        elsewhere: whether a kustomization may name something outside of the repository.
        pulled: the charts that come from chart repositories.
    """

    files: list[str]
    charts: bool
    elsewhere: bool
    pulled: list[PulledChart] = field(default_factory=list)


def files_of_kustomization(folder: Path, root: Path) -> list[str] | None:
    """Return the files that a build of a kustomization may read, or None if it has remote parts or charts.

    Args:
        root: the folder of the repository.
    """
    parts = parts_of_kustomization([folder], root)
    return None if parts is None or parts.charts or parts.elsewhere else parts.files


def parts_of_kustomization(folders: Iterable[Path], root: Path) -> Parts | None:
    """Return the parts of a kustomization, or None if its build may read any file.

    It may with custom generators, transformers and validators, with links, and with more parts than are followed.

    Args:
        folders: the folder of the kustomization first, then others that it will name.
        root: the folder of the repository.
    """
    pending, seen, files = [str(folder) for folder in folders], set[str](), list[str]()
    charts = elsewhere = False
    pulled: list[PulledChart] = []
    while pending:
        place = os.path.normpath(pending.pop())
        if place in seen:
            continue
        seen.add(place)
        if len(seen) > _MAX_PARTS or not f"{place}/".startswith(f"{root}/") or os.path.islink(place):
            return None
        if os.path.isfile(place):
            files.append(place)
            continue
        if not os.path.isdir(place):
            elsewhere = True  # perhaps a remote part without a scheme
            continue
        for _, entry in walk(place, skip=is_git):
            if entry.is_symlink():
                return None
            if entry.is_file():
                files.append(entry.path)
        for name in KUSTOMIZATIONS:
            named = _named(Path(place, name))
            if named is None:
                return None
            pending += [os.path.join(place, entry) for entry in named.files]
            charts, elsewhere = charts or named.charts, elsewhere or named.elsewhere
            pulled += named.pulled
    return Parts(sorted(set(files)), charts, elsewhere, pulled)


def check_sources(folder: Path, root: Path) -> None:
    """Refuse a kustomization that names a link-local address.

    Args:
        root: the folder of the repository.

    Raises:
        PolicyError: CMD-CONF-011.
    """

    def read(path: str) -> bytes:
        if not f"{os.path.realpath(path)}/".startswith(f"{os.path.realpath(root)}/"):
            raise FileNotFoundError(path)
        return Path(path).read_bytes()

    for _, name in all_named(str(folder), read, _MAX_PARTS, is_strict=False):
        if is_remote(name):
            check_source(name, f"the base {redact(name)}")


def _named(file: Path) -> Parts | None:
    """Return the paths that a kustomization names, relative to its folder, or None if it may read any file."""
    try:
        text = file.read_bytes()
        content: Any = next(read_documents(text, place=file.name), None)
    except FileNotFoundError:
        return Parts([], charts=False, elsewhere=False)
    except (InputError, OSError):
        return None
    if not isinstance(content, Mapping):
        return None
    content = _in_lower_case(content)
    if any(map(content.get, _OWN_PROGRAMS)):
        return None
    charts = any(map(content.get, _CHARTS))
    elsewhere = b"://" in text or b"?ref=" in text
    return Parts([*_paths(content), *_folders_of_charts(content)], charts, elsewhere, list(_pulled(content, file)))


def _paths(content: Mapping[str, Any]) -> Iterator[str]:
    for key in _LISTS:
        listed = content.get(key)
        for path in listed if isinstance(listed, list) else ():
            if isinstance(path, str) and "\n" not in path and "\0" not in path:
                yield path


def _folders_of_charts(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the folders with the charts of a kustomization. Only these may be outside of its own folder."""
    of_all = content.get("helmglobals")
    listed = content.get("helmchartinflationgenerator")
    for entry in (of_all, *(listed if isinstance(listed, list) else ())):
        home = _in_lower_case(entry).get("charthome") if isinstance(entry, Mapping) else None
        if isinstance(home, str) and "\0" not in home:
            yield home


def _pulled(content: Mapping[str, Any], file: Path) -> Iterator[PulledChart]:
    listed, of_all = content.get("helmcharts"), content.get("helmglobals")
    home = _in_lower_case(of_all).get("charthome") if isinstance(of_all, Mapping) else None
    for entry in listed if isinstance(listed, list) else ():
        chart = _in_lower_case(entry) if isinstance(entry, Mapping) else {}
        name, repository, version = chart.get("name"), chart.get("repo"), chart.get("version") or ""
        if (
            not all(isinstance(text, str) for text in (name, repository, version))
            or not repository
            or chart.get("devel")
        ):
            continue
        place = f"{name}-{version}" if version else ""
        folder = os.path.join(file.parent, home if isinstance(home, str) and home else "charts", place, str(name))
        if "\0" not in folder:
            yield PulledChart(os.path.normpath(folder), str(repository), str(name), str(version))


def _in_lower_case(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a mapping with case-folded keys, as kustomize compares them."""
    return {key.casefold(): value for key, value in content.items()}
