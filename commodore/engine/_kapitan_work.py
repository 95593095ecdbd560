"""What a worker works on at the moment, for the functions that stand in for Kapitan's. Runs in workers only."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from commodore.engine._confine import Confinement
from commodore.engine._evaluation import Evaluator
from commodore.engine._kapitan_inventory import RenderedInventory
from commodore.engine.reuse.kustomize import Kustomize
from commodore.engine.reuse.reads import Reads
from commodore.limits import Limits


class SearchPaths(list[str]):
    """Kapitan's list of search paths, ending with the folder that holds this run's `compiled`.

    Names below `compiled/` are looked up in that folder alone: `compiled` of an earlier run may lie in a search path.
    """

    def __init__(self, folders: Iterable[str], workplace: str) -> None:
        super().__init__([*folders, workplace])
        self.workplace = workplace

    def for_name(self, name: str) -> list[str]:
        """The folders in which `name` is looked up."""
        if not os.path.isabs(name) and os.path.normpath(name).split(os.sep)[0] == "compiled":
            return [self.workplace]
        return list(self)


@dataclass(frozen=True, slots=True)
class Work:
    """What the worker works on."""

    inventory: RenderedInventory
    confinement: Confinement
    instance: str
    imported: dict[str, bytes]
    limits: Limits
    reads: Reads
    watches: list[Kustomize]
    evaluator: Evaluator


_current: list[Work] = []


@contextlib.contextmanager
def working(
    inventory: RenderedInventory,
    confinement: Confinement,
    instance: str,
    limits: Limits,
    reads: Reads,
    evaluator: Evaluator,
) -> Iterator[None]:
    """While this lasts, Kapitan's inputs read and write for this instance, `reads` is told what they read, and
    `evaluator` evaluates Jsonnet.
    """
    _current.append(Work(inventory, confinement, instance, {}, limits, reads, [], evaluator))
    try:
        yield
    finally:
        _current.pop()


def current() -> Work:
    """What is worked on now."""
    return _current[-1]
