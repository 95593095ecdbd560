"""The charts that a chart is made of: those that are missing are fetched into a copy of it."""

from __future__ import annotations

import os
import re
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.argocd.rendering.model import Unit
from commodore.argocd.trees import check_inside
from commodore.errors import InputError, Location
from commodore.git import redact
from commodore.manifests.kube_yaml import read_documents

_NAMED = re.compile(r"(?:@|alias:)(.+)")
"""A repository by the name that an installation has for it."""
_GIT = shutil.ignore_patterns(".git")


@dataclass(frozen=True, slots=True)
class _Dependency:
    name: str
    version: str
    repository: str


def with_dependencies(unit: Unit) -> Path:
    """The folder of a chart with all its dependencies: its own, or a copy that has those that are missing there,
    and nothing of git.

    Raises:
        InputError: CMD-ARGO-406, a dependency says no repository that can be asked, or its lock does not fit.
        CommodoreError: one cannot be fetched, see `Charts.chart`.
    """
    chart = unit.folder
    wanted, lock = _wanted(chart)
    present = set(_present(chart))
    missing = [one for one in wanted if one.name not in present]
    if not missing and not (chart / ".git").exists():
        return chart
    locked = _locked(chart / lock, wanted) if missing else {}
    copy = unit.scratch / "chart"
    shutil.copytree(chart, copy, ignore_dangling_symlinks=True, ignore=_GIT)
    (copy / "charts").mkdir(exist_ok=True)
    for number, one in enumerate(missing):
        _bring(unit, locked.get((one.name, one.repository), one), copy / "charts" / f"{one.name}-{number}")
    return copy


def _wanted(chart: Path) -> tuple[list[_Dependency], str]:
    """The dependencies that a chart lists, and the name of their lock file."""
    for file, lock in (("Chart.yaml", "Chart.lock"), ("requirements.yaml", "requirements.lock")):
        if listed := _listed(chart / file):
            return listed, lock
    return [], "Chart.lock"


def _listed(file: Path) -> list[_Dependency]:
    if not file.is_file():
        return []
    content = next(read_documents(file.read_bytes(), place=file.name), None)
    entries = content.get("dependencies") if isinstance(content, Mapping) else None
    if not isinstance(entries, list):
        return []
    return [_dependency(one, file.name) for one in entries if isinstance(one, Mapping)]


def _dependency(entry: Mapping[str, Any], place: str) -> _Dependency:
    name = entry.get("name")
    if not isinstance(name, str) or "/" in name or not name:
        raise InputError(
            "CMD-ARGO-406",
            f"{place} lists a dependency without a name",
            hint="every dependency has name, version and repository",
            locations=[Location(place)],
        )
    return _Dependency(name, str(entry.get("version") or ""), str(entry.get("repository") or "").rstrip("/"))


def _locked(file: Path, wanted: list[_Dependency]) -> dict[tuple[str, str], _Dependency]:
    locked = {(one.name, one.repository): one for one in _listed(file)}
    unlocked = [one.name for one in wanted if (one.name, one.repository) not in locked]
    if locked and unlocked:
        raise InputError(
            "CMD-ARGO-406",
            f"{file.name} does not know the dependency {unlocked[0]} of the chart",
            hint="run: helm dependency update",
            locations=[Location(file.name)],
        )
    return locked


def _present(chart: Path) -> Iterator[str]:
    """The names of the charts in `charts`."""
    folder = chart / "charts"
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
        path = folder / name
        if (path / "Chart.yaml").is_file():
            content = next(read_documents((path / "Chart.yaml").read_bytes(), place=f"{name}/Chart.yaml"), None)
            if isinstance(content, Mapping):
                yield str(content.get("name"))
        elif name.endswith(".tgz"):
            try:
                with tarfile.open(path) as archive:
                    first = archive.next()
            except (OSError, tarfile.TarError):
                continue
            if first is not None:
                yield first.name.removeprefix("./").partition("/")[0]


def _bring(unit: Unit, one: _Dependency, place: Path) -> None:
    if one.repository.startswith("file://"):
        source = unit.folder / one.repository.removeprefix("file://")
        check_inside(source, unit.root, one.repository)
        if not (source / "Chart.yaml").is_file():
            raise InputError(
                "CMD-ARGO-406",
                f"the dependency {one.name} is not at {one.repository}",
                hint="the path begins at the folder of the chart",
            )
        shutil.copytree(source, place, ignore_dangling_symlinks=True, ignore=_GIT)
        return
    repository = one.repository
    if name := _NAMED.fullmatch(repository):
        repository = unit.settings.chart_repository(name[1])
    if "://" not in repository:
        where = f"names the repository {redact(one.repository)!r}" if one.repository else "names no repository"
        raise InputError(
            "CMD-ARGO-406",
            f"the dependency {one.name} is not in charts/ and {where}",
            hint="name the URL of its chart repository, or the Secret that has it by --repo-secret, or put it into "
            "charts/",
        )
    chart = unit.charts.chart(repository, one.name, one.version)
    shutil.copytree(chart.folder, place)
