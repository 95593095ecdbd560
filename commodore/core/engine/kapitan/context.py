"""What a worker works on at the moment, for the functions that stand in for Kapitan's. Runs in workers only."""

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
    """Kapitan's list of search paths, ending with the folder that holds this run's `compiled`.

    Names below `compiled/` are looked up in that folder alone: `compiled` of an earlier run may lie in a search path.

    Args:
        folders: the search paths.
        workplace: the folder that holds this run's `compiled`.
        directory: the folder of the instance's component, below which absolute paths lie.
    """

    def __init__(self, folders: Iterable[str], workplace: str, directory: str = "") -> None:
        super().__init__([*folders, workplace])
        self.workplace = workplace
        self._known = sorted({*self, directory} - {""}, key=len, reverse=True)

    def for_name(self, name: str) -> list[str]:
        """The folders in which `name` is looked up."""
        if os.path.isabs(name):
            return list(self)
        first = os.path.normpath(name).split(os.sep)[0]
        if first == "compiled":
            return [self.workplace]
        # The package offers its libraries. Its code has folders with everyday names, such as `base`.
        return [folder for folder in self if first == "lib" or folder != _PACKAGE]

    def split(self, path: str) -> tuple[str, str]:
        """The known folder that a path lies in, and the rest of the path: what a user may have written as a pattern."""
        for folder in self._known:
            if path.startswith(folder + os.sep):
                return folder, path[len(folder) + 1 :]
        return "", path


@dataclass(frozen=True, slots=True)
class WholeChart:
    """A chart with all charts that it lists.

    Attributes:
        path: its folder, or a copy of it.
        brought: the folders of the charts that were fetched for the copy, where they are packed.
    """

    path: str
    brought: tuple[str, ...] = ()


class Charts(Protocol):
    """Brings the charts that a chart lists."""

    def complete(self, folder: str, program: str | None, *, is_updated: bool, is_built: bool) -> WholeChart:
        """A chart with all charts that it lists: see `chart_dependencies`."""


@dataclass(frozen=True, slots=True)
class CurrentWork:
    """What the worker works on.

    Args:
        inventory: what templates ask for.
        confinement: what the instance may read, write and do.
        instance: its name.
        imported: the texts of imports, by path.
        limits: bounds of sizes.
        reads: records what is read.
        watches: the kustomizations that are built at the moment.
        evaluator: evaluates Jsonnet.
        parts: the parts of instances that are kept by themselves.
        context: takes what is wrong and may be allowed.
        known_paths: paths that are put into the texts of commands.
        charts: brings the charts that a chart lists.
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
    """While this lasts, Kapitan's inputs read and write for an instance."""
    _current.append(work)
    try:
        yield
    finally:
        _current.pop()


def current() -> CurrentWork:
    """What is worked on now."""
    return _current[-1]
