"""Which instances need not be rendered, because all that their last rendering has read is still the same."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.engine._tasks import Run
from commodore.engine.reuse.places import Places, value_digest
from commodore.engine.reuse.programs import Programs, defaults_digest, tool_digest
from commodore.engine.reuse.reads import Key, Observer
from commodore.engine.reuse.sources import Sources, source_keys
from commodore.engine.reuse.store import Result, ResultStore
from commodore.engine.reuse.subject import installed, settings_digest, subject_of
from commodore.limits import Limits

Nodes = Mapping[str, Mapping[str, Any]]


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
        """The instances of a run whose results still hold, and the subject of every instance that may be kept."""
        candidates: dict[str, tuple[str, Places, list[tuple[str, tuple[Key, ...]]]]] = {}
        subjects: dict[str, str] = {}
        wanted: list[Key] = []
        for name in run.jobs:
            keys = source_keys(nodes[name]) if run.request.fetch else []
            if keys is None:
                continue
            places = Places.of(run, name, installed())
            subjects[name] = subject_of(run, name, places, fetched=bool(keys))
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
        self,
        run: Run,
        nodes: Nodes,
        instance: str,
        subject: str,
        places: Places,
        shapes: Iterable[tuple[str, tuple[Key, ...]]],
    ) -> Hit | None:
        observer = Observer(places, nodes, self._seen)
        for shape, keys in shapes:
            digests = self._digests(run, nodes, instance, places, observer, keys)
            if digests is not None and (result := self._store.find(subject, shape, digests)) is not None:
                written = tuple(places.path(key[1]) for key in keys if key[0] == "written")
                return Hit(subject, shape, keys, tuple(digests), result, written)
        return None

    def _digests(
        self, run: Run, nodes: Nodes, instance: str, places: Places, observer: Observer, keys: Sequence[Key]
    ) -> list[str] | None:
        found: list[str] = []
        for key in keys:
            digest = self._digest(run, nodes, instance, places, key) or observer.digest(key)
            if digest is None:
                return None
            found.append(digest)
        return found

    def _digest(self, run: Run, nodes: Nodes, instance: str, places: Places, key: Key) -> str | None:
        if key[0] == "source":
            return self.sources.digest(key)
        if key[0] == "settings":
            return settings_digest(nodes[instance], places)
        if key[0] == "root":
            return value_digest(list(places.folders))
        if key[0] == "tool":
            return tool_digest(key[1], self._of(run))
        if key[0] == "defaults":
            return defaults_digest(key[1], {**os.environ, **run.request.environment})
        return None

    def _of(self, run: Run) -> Programs:
        environment = {**os.environ, **run.request.environment}
        directory = run.request.directory or run.request.root
        key = (environment.get("PATH", os.defpath), str(directory))
        if key not in self._programs:
            self._programs[key] = Programs(environment, directory, self._memory, self._limits)
        return self._programs[key]
