"""The dependencies of a chart: missing ones are fetched into a copy of it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from commodore.argocd.rendering.model import Unit
from commodore.argocd.trees import check_inside
from commodore.base.errors import InputError, Location
from commodore.base.yaml.chart_files import ListedChart, ListingFiles, contained_charts, dependencies_in, listed_charts
from commodore.core.sources.git import redact

_NAMED = re.compile(r"(?:@|alias:)(.+)")
"""A repository that is given by its name in an installation."""
_GIT = shutil.ignore_patterns(".git")


def with_dependencies(unit: Unit) -> Path:
    """Return the folder of a chart with all its dependencies: its own, or a copy with the missing ones and without
    `.git`.

    Raises:
        InputError: CMD-ARGO-406, a dependency has no usable repository, or the lock file does not match.
        CommodoreError: a dependency cannot be fetched, see `Charts.chart`.
    """
    chart = unit.folder
    dependencies, files = _listed(chart)
    present = {name for name, _ in contained_charts(chart)}
    missing = [dependency for dependency in dependencies if dependency.name not in present]
    if not missing and not (chart / ".git").exists():
        return chart
    locked = _locked(chart / files.lock, dependencies) if missing else {}
    copy = unit.scratch / "chart"
    shutil.copytree(chart, copy, ignore_dangling_symlinks=True, ignore=_GIT)
    (copy / "charts").mkdir(exist_ok=True)
    for number, dependency in enumerate(missing):
        locked_dependency = locked.get((dependency.name, dependency.repository), dependency)
        _add(unit, locked_dependency, copy / "charts" / f"{dependency.name}-{number}", files.listing)
    return copy


def _listed(chart: Path) -> tuple[list[ListedChart], ListingFiles]:
    """Return the dependencies that a chart lists, and the names of the files that list and lock them."""
    listed, files = listed_charts(chart)
    if any(not dependency.name or "/" in dependency.name for dependency in listed):
        raise InputError(
            "CMD-ARGO-406",
            "the chart lists a dependency without a name",
            hint="every dependency has name, version and repository",
            locations=[Location(files.listing)],
        )
    return listed, files


def _locked(file: Path, dependencies: list[ListedChart]) -> dict[tuple[str, str], ListedChart]:
    locked = {(dependency.name, dependency.repository): dependency for dependency in dependencies_in(file)}
    unlocked = [
        dependency.name for dependency in dependencies if (dependency.name, dependency.repository) not in locked
    ]
    if locked and unlocked:
        raise InputError(
            "CMD-ARGO-406",
            f"{file.name} does not list the dependency {unlocked[0]} of the chart",
            hint="run: helm dependency update",
            locations=[Location(file.name)],
        )
    return locked


def _add(unit: Unit, dependency: ListedChart, place: Path, listing: str) -> None:
    if dependency.repository.startswith("file://"):
        source = unit.folder / dependency.repository.removeprefix("file://")
        check_inside(source, unit.root, dependency.repository)
        if not (source / "Chart.yaml").is_file():
            raise InputError(
                "CMD-ARGO-406",
                f"the dependency {dependency.name} is not at {dependency.repository}",
                hint="the path begins at the folder of the chart",
                locations=[Location(listing)],
            )
        shutil.copytree(source, place, ignore_dangling_symlinks=True, ignore=_GIT)
        return
    repository = dependency.repository
    if name := _NAMED.fullmatch(repository):
        repository = unit.settings.chart_repository(name[1])
    if "://" not in repository:
        where = (
            f"names the repository {redact(dependency.repository)!r}"
            if dependency.repository
            else "names no repository"
        )
        raise InputError(
            "CMD-ARGO-406",
            f"the dependency {dependency.name} is not in charts/ and {where}",
            hint="name the URL of its chart repository, or the Secret that has it by --installation, or put it into "
            "charts/",
            locations=[Location(listing)],
        )
    chart = unit.charts.chart(repository, dependency.name, dependency.version)
    shutil.copytree(chart.folder, place)
