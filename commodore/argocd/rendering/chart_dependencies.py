"""The charts that a chart is made of: those that are missing are fetched into a copy of it."""

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
"""A repository by the name that an installation has for it."""
_GIT = shutil.ignore_patterns(".git")


def with_dependencies(unit: Unit) -> Path:
    """The folder of a chart with all its dependencies: its own, or a copy that has those that are missing there,
    and nothing of git.

    Raises:
        InputError: CMD-ARGO-406, a dependency says no repository that can be asked, or its lock does not fit.
        CommodoreError: one cannot be fetched, see `Charts.chart`.
    """
    chart = unit.folder
    wanted, files = _wanted(chart)
    present = {name for name, _ in contained_charts(chart)}
    missing = [one for one in wanted if one.name not in present]
    if not missing and not (chart / ".git").exists():
        return chart
    locked = _locked(chart / files.lock, wanted) if missing else {}
    copy = unit.scratch / "chart"
    shutil.copytree(chart, copy, ignore_dangling_symlinks=True, ignore=_GIT)
    (copy / "charts").mkdir(exist_ok=True)
    for number, one in enumerate(missing):
        locked_one = locked.get((one.name, one.repository), one)
        _bring(unit, locked_one, copy / "charts" / f"{one.name}-{number}", files.listing)
    return copy


def _wanted(chart: Path) -> tuple[list[ListedChart], ListingFiles]:
    """The dependencies that a chart lists, and the names of the files that list and lock them."""
    listed, files = listed_charts(chart)
    if any(not one.name or "/" in one.name for one in listed):
        raise InputError(
            "CMD-ARGO-406",
            "the chart lists a dependency without a name",
            hint="every dependency has name, version and repository",
            locations=[Location(files.listing)],
        )
    return listed, files


def _locked(file: Path, wanted: list[ListedChart]) -> dict[tuple[str, str], ListedChart]:
    locked = {(one.name, one.repository): one for one in dependencies_in(file)}
    unlocked = [one.name for one in wanted if (one.name, one.repository) not in locked]
    if locked and unlocked:
        raise InputError(
            "CMD-ARGO-406",
            f"{file.name} does not know the dependency {unlocked[0]} of the chart",
            hint="run: helm dependency update",
            locations=[Location(file.name)],
        )
    return locked


def _bring(unit: Unit, one: ListedChart, place: Path, listing: str) -> None:
    if one.repository.startswith("file://"):
        source = unit.folder / one.repository.removeprefix("file://")
        check_inside(source, unit.root, one.repository)
        if not (source / "Chart.yaml").is_file():
            raise InputError(
                "CMD-ARGO-406",
                f"the dependency {one.name} is not at {one.repository}",
                hint="the path begins at the folder of the chart",
                locations=[Location(listing)],
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
            hint="name the URL of its chart repository, or the Secret that has it by --installation, or put it into "
            "charts/",
            locations=[Location(listing)],
        )
    chart = unit.charts.chart(repository, one.name, one.version)
    shutil.copytree(chart.folder, place)
