"""The confinement of an instance: the folders that it may read and write. Runs in workers only."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

import kapitan

from commodore.base.files.workspace import Workspace
from commodore.core.confinement import Confinement, Roots
from commodore.core.engine.tasks import BatchRun

_KAPITAN = Path(kapitan.__file__).parent
_PACKAGE = Path(__file__).resolve().parents[3]


class Confinements:
    """The confinements of a run's instances.

    Readable: the working directory, its dependencies and libraries, the other search paths, fetched and rendered files.
    Writable: the instance's output and temporary files, and its own checkout, where some components generate files for
    kustomize.
    """

    def __init__(self, run: BatchRun) -> None:
        self._run = run

    def of(self, instance: str) -> Confinement:
        """Return the confinement of a rendering of an instance."""
        run, job = self._run, self._run.jobs[instance]
        workplace = run.workplace(instance)
        roots = Roots(
            read=(*self._read, job.repository or job.directory, workplace),
            write=(workplace / "tmp", job.directory),
            working=self._working,
            closed=(Workspace(run.request.root).repositories,),
        )
        return Confinement(run.rendered(instance), roots, run.limits, job.component, run.policy)

    @cached_property
    def _working(self) -> tuple[Path, ...]:
        return tuple({self._run.request.root, self._run.request.output})

    @cached_property
    def _read(self) -> tuple[Path, ...]:
        request = self._run.request
        inside = tuple(os.path.realpath(path) + os.sep for path in self._working)
        folders = {*request.search_paths, *request.filter_search_paths}
        folders |= {job.directory for job in self._run.jobs.values()}
        # Folders in the working directory are covered by it; others are the user's links, and folders elsewhere.
        apart = {path for path in map(os.path.realpath, folders) if not path.startswith(inside)}
        # References are in the catalog's staging folder, a hidden folder of the working directory: not readable.
        return (_KAPITAN, _PACKAGE, request.refs, *map(Path, sorted(apart)))
