"""The current work of a worker, for the functions that replace Kapitan's. Runs in workers only."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from commodore.base.context import Context
from commodore.base.limits import Limits
from commodore.core.confinement import Confinement
from commodore.core.engine.cache.partial_results import Parts
from commodore.core.engine.cache.trace import TraceRecorder
from commodore.core.engine.jsonnet.evaluator import Evaluator
from commodore.core.engine.kapitan.inventory import RenderedInventory
from commodore.core.engine.kapitan.kustomize_trace import Kustomize

_PACKAGE = str(Path(__file__).resolve().parents[3])


class SearchPaths(list[str]):
    """Kapitan's list of search paths, ending with the folder of this run's `compiled`.

    Names below `compiled/` are searched in that folder only: a search path may contain `compiled` of an earlier run.

    Args:
        folders: the search paths.
        workplace: the folder of this run's `compiled`.
        directory: the folder of the instance's component, for absolute paths.
    """

    def __init__(self, folders: Iterable[str], workplace: str, directory: str = "") -> None:
        super().__init__([*folders, workplace])
        self.workplace = workplace
        self._known = sorted({*self, directory} - {""}, key=len, reverse=True)

    def for_name(self, name: str) -> list[str]:
        """Return the folders in which `name` is searched."""
        if os.path.isabs(name):
            return list(self)
        first = os.path.normpath(name).split(os.sep)[0]
        if first == "compiled":
            return [self.workplace]
        # Of the package, only the libraries are searched: its code has folders with common names, such as `base`.
        return [folder for folder in self if first == "lib" or folder != _PACKAGE]

    def split(self, path: str) -> tuple[str, str]:
        """Split a path into the known folder that contains it, and the rest, which may be a pattern of the user."""
        for folder in self._known:
            if path.startswith(folder + os.sep):
                return folder, path[len(folder) + 1 :]
        return "", path


@dataclass(frozen=True, slots=True)
class WholeChart:
    """A chart with all its dependencies.

    Attributes:
        path: its folder, or a copy of it.
        fetched: the folders of the charts that were fetched and packed into the copy.
    """

    path: str
    fetched: tuple[str, ...] = ()


class Charts(Protocol):
    """Fetches the dependencies of charts."""

    def complete(self, folder: str, program: str | None, *, is_updated: bool, is_built: bool) -> WholeChart:
        """Return a chart with its dependencies: see `chart_dependencies`."""


@dataclass(frozen=True, slots=True)
class CurrentWork:
    """The current work of the worker.

    Args:
        inventory: the inventory for templates.
        confinement: the permissions of the instance.
        instance: its name.
        imported: the texts of imports, by path.
        limits: limits of sizes.
        reads: records inputs.
        watches: the kustomizations that are being built.
        evaluator: evaluates Jsonnet.
        parts: the cache of partial results.
        context: takes problems that may be allowed.
        known_paths: paths that are put into the texts of commands.
        charts: fetches the dependencies of charts.
    """

    inventory: RenderedInventory
    confinement: Confinement
    instance: str
    imported: dict[str, bytes]
    limits: Limits
    reads: TraceRecorder
    watches: list[Kustomize]
    evaluator: Evaluator
    parts: Parts
    context: Context
    known_paths: tuple[str, ...]
    charts: Charts


_current: list[CurrentWork] = []


@contextlib.contextmanager
def working(work: CurrentWork) -> Iterator[None]:
    """Set the current work for Kapitan's inputs during the block."""
    _current.append(work)
    try:
        yield
    finally:
        _current.pop()


def current() -> CurrentWork:
    """Return the current work."""
    return _current[-1]
