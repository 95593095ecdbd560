"""The dependencies of charts, for `helm_params.dependency_update` and `dependency_build`: fetched before helm runs,
which then needs no network. Runs in workers only.

An update fetches nothing if all listed charts are in `charts`; else all of them are fetched, in the newest matching
version, without regard to the lock: as helm's option. A build fetches the versions in the lock, and without a lock the
newest ones: as helm's command `dependency build`.
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
    """Fetches the dependencies of charts.

    Args:
        source: the source of charts.
    """

    def __init__(self, source: ChartSource, limits: Limits) -> None:
        self._source = source
        self._limits = limits

    def complete(self, folder: str, program: str | None, *, is_updated: bool, is_built: bool) -> WholeChart:
        """Return a chart with its dependencies, if they are requested.

        Args:
            folder: the chart, already checked.
            program: helm; None for the one in PATH.
            is_updated: fetch all dependencies if one is missing.
            is_built: fetch the dependencies in the lock, also if they exist.

        Raises:
            CommodoreError: CMD-ENG-062, a dependency cannot be located; CMD-ENG-065, the lock is out of date; and
                errors of fetching.
        """
        if not is_updated and not is_built:
            return WholeChart(folder)
        chart = Path(os.path.abspath(folder))
        listed, files = listed_charts(chart)
        present = list(contained_charts(chart))
        if not is_built and {item.name for item in listed} <= {name for name, _ in present}:
            return WholeChart(folder)
        if is_built and (chart / files.lock).is_file():
            listed = _locked(chart, files)
        if not listed:
            return WholeChart(folder)
        place = Path(tempfile.mkdtemp())
        copy = place / chart.name
        shutil.copytree(chart, copy, ignore_dangling_symlinks=True)
        kept = {item.name for item in listed if not item.repository}
        for name, path in present:
            if path.is_file() and name not in kept:  # possibly of another version
                (copy / "charts" / path.name).unlink()
        (copy / "charts").mkdir(exist_ok=True)
        brought = []
        for number, item in enumerate(dict.fromkeys(listed)):
            if item.repository or item.name not in {name for name, _ in present}:
                target = place / str(number) / item.name
                target.parent.mkdir()
                try:
                    self._bring(item, chart, target, program)
                except CommodoreError as error:
                    raise error.about(f"the dependency {item.name!r} of the chart {chart.name}") from error
                current().confinement.write(copy / "charts" / f"{item.name}-{number}.tgz", _packed(target))
                brought.append(str(target))
        return WholeChart(str(copy), tuple(brought))

    def _bring(self, dependency: ListedChart, chart: Path, target: Path, program: str | None) -> None:
        """Write the files of a listed chart to the new folder `target`."""
        repository = dependency.repository
        if (
            not dependency.name
            or os.path.basename(dependency.name) != dependency.name
            or dependency.name in (".", "..")
        ):
            raise _refuse(
                f"{dependency.name!r} is not a name of a chart", "every dependency has name, version and repository"
            )
        if repository.startswith(_LOCAL):
            self._pack_local(dependency, chart / repository.removeprefix(_LOCAL), target, program)
            return
        if repository.startswith(_NAMED):
            message = f"its repository {repository!r} is one of a user's helm configuration"
            raise _refuse(message, "name the URL of its chart repository, so that all users compile the same")
        if not repository.startswith(("http://", "https://", "oci://")):
            where = f"its repository is {redact(repository)!r}" if repository else "names no repository"
            raise _refuse(f"it is not in `charts`, and {where}", "name the URL of its chart repository")
        if redact(repository) != repository:
            raise PolicyError(
                "CMD-ENG-063",
                f"its repository {redact(repository)} is given with a password, which all who see the chart can read",
                hint="put the chart into `charts`, or let it come from a repository that needs no password",
            )
        if not self._source.bring(repository, dependency.name, dependency.version or None, target, program):
            current().reads.refuse(f"the newest version of the chart {dependency.name} is taken", unseen=False)

    def _pack_local(self, dependency: ListedChart, folder: Path, target: Path, program: str | None) -> None:
        """Let helm pack a chart of this machine, as it applies the chart's `.helmignore`."""
        source, work = os.path.normpath(folder), current()
        work.confinement.check_tree(source, "chart")
        if not os.path.isdir(source):
            raise _refuse(f"there is no folder {dependency.repository!r}", "the path begins at the folder of the chart")
        work.reads.tree(source)
        scratch = target.parent / "packing"
        scratch.mkdir()
        entry = {"name": dependency.name, "version": dependency.version, "repository": f"{_LOCAL}{source}"}
        content = {"apiVersion": "v2", "name": "packing", "version": "0.0.0", "dependencies": [entry]}
        work.confinement.write(scratch / "Chart.yaml", json.dumps(content).encode())
        output = helm_cli(program, ["dependency", "update", "--skip-refresh", str(scratch)])
        packed = sorted((scratch / "charts").glob("*.tgz")) if (scratch / "charts").is_dir() else []
        if output or len(packed) != 1:
            reason = redact_text(tail(output)) or "helm has packed no chart"
            raise _refuse(
                f"helm cannot pack {dependency.repository!r}: {reason}", "does its version match the requested one?"
            )
        archives.unpack(packed[0], scratch / "unpacked", "application/gzip", self._limits)
        (scratch / "unpacked" / dependency.name).rename(target)
        work.reads.tree(source)  # recorded again: a change in between shows as two digests


def _locked(chart: Path, files: ListingFiles) -> list[ListedChart]:
    """Return the dependencies in the lock of a chart."""
    if not is_in_sync(chart, files):
        raise InputError(
            "CMD-ENG-065",
            f"the chart {chart.name}: {files.lock} does not match the dependencies in {files.listing}",
            hint="run `helm dependency update` in the chart, and commit the lock",
            locations=[str(chart / files.lock)],
        )
    return dependencies_in(chart / files.lock)


def _packed(folder: Path) -> bytes:
    """Pack a chart as an archive, whose files helm uses without `.helmignore`; the same bytes for the same files."""
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
