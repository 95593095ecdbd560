"""Which instances need not be rendered, because all that their last rendering has read is still the same."""

from __future__ import annotations

import itertools
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


@dataclass(frozen=True, slots=True)
class Candidate:
    """An instance for which there may be a result.

    Args:
        subject: under what name results of it are kept.
        places: how paths are named.
        shapes: what earlier renderings have read.
    """

    instance: str
    subject: str
    places: Places
    shapes: tuple[Shape, ...]

    @property
    def keys(self) -> set[Key]:
        """Everything that one of the earlier renderings has read."""
        return {key for _, keys in self.shapes for key in keys}


class Lookup:
    """Finds results for the instances of one or more runs. Asks for each source once, and looks at each file once as
    long as nothing is put into its place.

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
        self._programs: dict[tuple[str, tuple[tuple[str, str], ...]], Programs] = {}

    def candidates(self, run: Run, nodes: Nodes) -> tuple[dict[str, Candidate], dict[str, str]]:
        """The instances of a run for which there may be results, and the subject of every instance."""
        candidates: dict[str, Candidate] = {}
        subjects: dict[str, str] = {}
        wanted: list[Key] = []
        for name in run.jobs:
            keys = source_keys(nodes[name]) if run.request.fetch else []
            places = Places.of(run, name, installed())
            subjects[name] = subject_of(run, name, places, fetched=keys is None or bool(keys))
            if keys is None:
                continue  # its parts may be kept all the same
            shapes = tuple(itertools.islice(self._store.shapes(subjects[name]), self._limits.shapes))
            candidates[name] = Candidate(name, subjects[name], places, shapes)
            wanted += keys
            wanted += [key for _, shape in shapes for key in shape if key[0] == "source"]
        self.sources.ask(wanted)
        return candidates, subjects

    def forget(self) -> None:
        """Files have changed: look at them again."""
        self._seen.clear()

    def find(self, run: Run, nodes: Nodes, candidate: Candidate) -> Hit | None:
        """The result of an instance, if one still holds."""
        programs, places = self._of(run), candidate.places
        today = Today(candidate.instance, places, nodes, self._seen, programs, self.sources, run.environment)
        match = find_match(self._store, candidate.subject, candidate.shapes, today)
        if match is None:
            return None
        written = tuple(places.path(key[1]) for key in match.keys if key[0] == "written")
        return Hit(candidate.subject, match.shape, match.keys, match.digests, match.result, written)

    def _of(self, run: Run) -> Programs:
        directory = run.request.directory or run.request.root
        key = (str(directory), tuple(sorted(run.environment.items())))
        if key not in self._programs:
            self._programs[key] = Programs(run.environment, directory, self._memory, self._limits)
        return self._programs[key]
