"""The charts that a chart is made of, for `helm_params.dependency_update` and `dependency_build`: fetched before helm
runs, which then needs no network. Runs in workers only.

An update fetches nothing if all charts that are listed are in `charts`; else all of them are fetched, in the newest
version that fits, whatever the lock says: as helm's option. A build fetches the versions in the lock, and without a
lock the newest ones: as helm's command `dependency build`.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

from kapitan.helm_cli import helm_cli

from commodore.base.errors import CommodoreError, InputError, PolicyError
from commodore.base.files.tree import walk
from commodore.base.limits import Limits
from commodore.base.yaml.chart_files import (
    ListedChart,
    ListingFiles,
    contained_charts,
    dependencies_in,
    is_in_sync,
    listed_charts,
)
from commodore.core.engine.kapitan.context import WholeChart, current
from commodore.core.engine.kapitan.errors import tail
from commodore.core.engine.kapitan.fetch import ChartSource
from commodore.core.sources.fetching import archives
from commodore.core.sources.git import redact, redact_text

_LOCAL = "file://"
_NAMED = ("@", "alias:")


class ChartDependencies:
    """Brings the charts that a chart lists.

    Args:
        source: where they are fetched.
    """

    def __init__(self, source: ChartSource, limits: Limits) -> None:
        self._source = source
        self._limits = limits

    def complete(self, folder: str, program: str | None, *, is_updated: bool, is_built: bool) -> WholeChart:
        """A chart with those that it lists, if they are asked for.

        Args:
            folder: the chart, which was judged.
            program: helm; None for the one that is found.
            is_updated: fetch them if one is not there.
            is_built: fetch those in the lock, whatever is there.

        Raises:
            CommodoreError: CMD-ENG-062, one of them names no place that can be asked; CMD-ENG-065, the lock is that of
                other dependencies; and what fetching one raises.
        """
        if not is_updated and not is_built:
            return WholeChart(folder)
        chart = Path(os.path.abspath(folder))
        listed, files = listed_charts(chart)
        present = list(contained_charts(chart))
        if not is_built and {one.name for one in listed} <= {name for name, _ in present}:
            return WholeChart(folder)
        if is_built and (chart / files.lock).is_file():
            listed = _locked(chart, files)
        if not listed:
            return WholeChart(folder)
        place = Path(tempfile.mkdtemp())
        copy = place / chart.name
        shutil.copytree(chart, copy, ignore_dangling_symlinks=True)
        kept = {one.name for one in listed if not one.repository}
        for name, path in present:
            if path.is_file() and name not in kept:  # of another version, perhaps
                (copy / "charts" / path.name).unlink()
        (copy / "charts").mkdir(exist_ok=True)
        brought = []
        for number, one in enumerate(dict.fromkeys(listed)):
            if one.repository or one.name not in {name for name, _ in present}:
                target = place / str(number) / one.name
                target.parent.mkdir()
                try:
                    self._bring(one, chart, target, program)
                except CommodoreError as error:
                    raise error.about(f"the dependency {one.name!r} of the chart {chart.name}") from error
                current().confinement.write(copy / "charts" / f"{one.name}-{number}.tgz", _packed(target))
                brought.append(str(target))
        return WholeChart(str(copy), tuple(brought))

    def _bring(self, one: ListedChart, chart: Path, target: Path, program: str | None) -> None:
        """Put the files of a chart that is listed into the new folder `target`."""
        repository = one.repository
        if not one.name or os.path.basename(one.name) != one.name or one.name in (".", ".."):
            raise _refuse(f"{one.name!r} is not a name of a chart", "every dependency has name, version and repository")
        if repository.startswith(_LOCAL):
            self._pack_local(one, chart / repository.removeprefix(_LOCAL), target, program)
            return
        if repository.startswith(_NAMED):
            said = f"its repository {repository!r} is one of a user's helm configuration"
            raise _refuse(said, "name the URL of its chart repository, so that all who compile it have the same")
        if not repository.startswith(("http://", "https://", "oci://")):
            where = f"its repository is {redact(repository)!r}" if repository else "names no repository"
            raise _refuse(f"it is not in `charts`, and {where}", "name the URL of its chart repository")
        if redact(repository) != repository:
            raise PolicyError(
                "CMD-ENG-063",
                f"its repository {redact(repository)} is given with a password, which all who see the chart can read",
                hint="put the chart into `charts`, or let it come from a repository that needs no password",
            )
        if not self._source.bring(repository, one.name, one.version or None, target, program):
            current().reads.refuse(f"the newest version of the chart {one.name} is taken", unseen=False)

    def _pack_local(self, one: ListedChart, folder: Path, target: Path, program: str | None) -> None:
        """helm packs a chart of this machine, as it leaves out what the chart's `.helmignore` says."""
        source, work = os.path.normpath(folder), current()
        work.confinement.check_tree(source, "chart")
        if not os.path.isdir(source):
            raise _refuse(f"there is no folder {one.repository!r}", "the path begins at the folder of the chart")
        work.reads.tree(source)
        scratch = target.parent / "packing"
        scratch.mkdir()
        entry = {"name": one.name, "version": one.version, "repository": f"{_LOCAL}{source}"}
        content = {"apiVersion": "v2", "name": "packing", "version": "0.0.0", "dependencies": [entry]}
        work.confinement.write(scratch / "Chart.yaml", json.dumps(content).encode())
        said = helm_cli(program, ["dependency", "update", "--skip-refresh", str(scratch)])
        packed = sorted((scratch / "charts").glob("*.tgz")) if (scratch / "charts").is_dir() else []
        if said or len(packed) != 1:
            said = redact_text(tail(said)) or "helm has packed no chart"
            raise _refuse(f"helm cannot pack {one.repository!r}: {said}", "is its version one that is asked for?")
        archives.unpack(packed[0], scratch / "unpacked", "application/gzip", self._limits)
        (scratch / "unpacked" / one.name).rename(target)
        work.reads.tree(source)  # once more: it may have changed meanwhile


def _locked(chart: Path, files: ListingFiles) -> list[ListedChart]:
    """The charts in the lock of a chart."""
    if not is_in_sync(chart, files):
        raise InputError(
            "CMD-ENG-065",
            f"the chart {chart.name}: {files.lock} is not that of the dependencies in {files.listing}",
            hint="run `helm dependency update` in the chart, and commit the lock",
            locations=[str(chart / files.lock)],
        )
    return dependencies_in(chart / files.lock)


def _packed(folder: Path) -> bytes:
    """A chart as an archive, in which helm takes all files for the chart's; the same bytes for the same files."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, entry in walk(folder, follow=True):
            if entry.is_file():
                member = tarfile.TarInfo(f"{folder.name}/{name}")
                with open(entry.path, "rb") as file:
                    member.size = os.fstat(file.fileno()).st_size
                    archive.addfile(member, file)
    return gzip.compress(content.getvalue(), compresslevel=1, mtime=0)


def _refuse(message: str, hint: str) -> InputError:
    return InputError("CMD-ENG-062", message, hint=hint)
