"""Which instances need not be rendered, because all that their last rendering has read is still the same."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from commodore.engine._tasks import Run
from commodore.engine.reuse.places import Places
from commodore.engine.reuse.programs import Programs
from commodore.engine.reuse.reads import Key
from commodore.engine.reuse.sources import Sources, source_keys
from commodore.engine.reuse.store import Result, ResultStore
from commodore.engine.reuse.subject import installed, subject_of
from commodore.engine.reuse.today import Nodes, Shape, Today, find_match
from commodore.limits import Limits


@dataclass(frozen=True, slots=True)
class Hit:
    """A result that still holds.

    Args:
        subject, shape, digests: where the store has it.
        keys: what was read, in the order of the digests.
        written: the paths outside of its folder that the instance has written.
    """

    subject: str
    shape: str
    keys: tuple[Key, ...]
    digests: tuple[str, ...]
    result: Result
    written: tuple[str, ...] = ()


class Lookup:
    """Finds results for the instances of one or more runs. Looks at each file and asks for each source once.

    Args:
        store: where results are kept.
        sources: tells what sources are today.
        memory: a file for the digests of programs.
    """

    def __init__(self, store: ResultStore, sources: Sources, memory: Path, limits: Limits) -> None:
        self._store = store
        self.sources = sources
        self._memory = memory
        self._limits = limits
        self._seen: dict[tuple[str, ...], str] = {}
        self._programs: dict[tuple[str, str], Programs] = {}

    def find(self, run: Run, nodes: Nodes) -> tuple[dict[str, Hit], dict[str, str]]:
        """The instances of a run whose results still hold, and the subject of every instance."""
        candidates: dict[str, tuple[str, Places, list[Shape]]] = {}
        subjects: dict[str, str] = {}
        wanted: list[Key] = []
        for name in run.jobs:
            keys = source_keys(nodes[name]) if run.request.fetch else []
            places = Places.of(run, name, installed())
            subjects[name] = subject_of(run, name, places, fetched=keys is None or bool(keys))
            if keys is None:
                continue  # its parts may be kept all the same
            shapes = list(self._store.shapes(subjects[name]))[: self._limits.shapes]
            candidates[name] = (subjects[name], places, shapes)
            wanted += keys
            wanted += [key for _, shape in shapes for key in shape if key[0] == "source"]
        self.sources.ask(wanted)
        hits: dict[str, Hit] = {}
        for name, (subject, places, shapes) in candidates.items():
            hit = self._first(run, nodes, name, subject, places, shapes)
            if hit is not None:
                hits[name] = hit
        return hits, subjects

    def _first(
        self, run: Run, nodes: Nodes, instance: str, subject: str, places: Places, shapes: Iterable[Shape]
    ) -> Hit | None:
        environment = {**os.environ, **run.request.environment}
        today = Today(instance, places, nodes, self._seen, self._of(run), self.sources, environment)
        match = find_match(self._store, subject, shapes, today)
        if match is None:
            return None
        written = tuple(places.path(key[1]) for key in match.keys if key[0] == "written")
        return Hit(subject, match.shape, match.keys, match.digests, match.result, written)

    def _of(self, run: Run) -> Programs:
        environment = {**os.environ, **run.request.environment}
        directory = run.request.directory or run.request.root
        key = (environment.get("PATH", os.defpath), str(directory))
        if key not in self._programs:
            self._programs[key] = Programs(environment, directory, self._memory, self._limits)
        return self._programs[key]
