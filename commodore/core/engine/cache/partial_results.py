"""Parts of instances that are kept by themselves: what helm, kustomize and filters make.

Most instances read something that differs from cluster to cluster, such as the URL of the catalog for an Argo CD
application. Their expensive parts mostly do not. A part has a subject, which is what is fixed before it is made, a
record of what it alone reads, and the files that it makes, all of it in the store of results. What it reads is noted
for the instance, too, whether it was made or taken.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Mapping
from typing import Any

from commodore.core.engine.cache.keys import SOURCE, Key, Nodes, Today, World
from commodore.core.engine.cache.portable_paths import PortablePaths, value_digest
from commodore.core.engine.cache.remote_identity import SourceIdentities
from commodore.core.engine.cache.static_key import installed
from commodore.core.engine.cache.trace import Match, TraceRecorder, find_match, usable, wanted
from commodore.core.engine.remote_results import open_dependencies, open_results
from commodore.core.engine.tasks import BatchRun
from commodore.core.render.tool_identity import Programs
from commodore.core.results.remote_store import Counts
from commodore.core.results.result_store import Result, ResultAddress, ResultStore


class PartialResult:
    """One part while it is made, or taken.

    Args:
        parts: where it may be.
        name: what it is called.
        subject: what is fixed before it is made; empty if it is not to be kept.
        reads: where the instance notes what it reads.
        places: how paths are named: all of them, those that the instance makes itself as well.
    """

    def __init__(self, parts: Parts, name: str, subject: str, reads: TraceRecorder, places: PortablePaths) -> None:
        self._parts = parts
        self._name = name
        self._subject = subject
        self._owner = reads
        self._places = places
        self.reads = TraceRecorder(reads.instance, places, reads.programs)

    def take(self) -> Result | None:
        """What was made before, if all that was read for it is what it was; None if it has to be made."""
        match = self._parts.find(self._subject, self._owner.instance, self._places)
        if match is None:
            return None
        self._owner.absorb(dict(zip(match.keys, match.digests, strict=True)), self._places)
        self._parts.taken.append(self._name)
        return match.result

    def conclude(self, result: Result | None) -> None:
        """The part is made: note what it has read, and keep the result, if there is one and that can be."""
        if result is not None and result.mentions(self._places.folders):
            self.reads.location()
        found = self.reads.conclude()
        self._owner.absorb(found, self._places)
        if self.reads.refusal:
            self._owner.refuse(self.reads.refusal, unseen=self.reads.unseen)
        elif result is not None and not result.mentions(self._places.passing):
            self._parts.keep(self._subject, found, result, private=self._owner.is_private)


class Parts:
    """Finds and keeps parts of the instances of one run. In workers.

    Args:
        run: says where parts are kept; without such a place, everything is made.
        nodes: the rendered inventory.
        programs: the identities of programs; None if nothing is kept.
        sources: tells what sources are today.

    Attributes:
        dependencies: those of remote stores; None if there are none.
    """

    def __init__(self, run: BatchRun, nodes: Nodes, programs: Programs | None, sources: SourceIdentities) -> None:
        self._run = run
        self._nodes = nodes
        self._programs = programs
        self._sources = sources
        self._store = ResultStore(run.part_cache, run.limits) if run.part_cache is not None else None
        self._remote = open_results(run.remote, self._store) if self._store is not None else None
        self.dependencies = open_dependencies(self._remote.store, run.limits) if self._remote is not None else None
        self.taken: list[str] = []
        self.kept: list[ResultAddress] = []

    @property
    def are_kept(self) -> bool:
        """Whether parts are kept at all in this run."""
        return self._store is not None

    def begin(self, name: str, details: Any, reads: TraceRecorder) -> PartialResult:
        """A part of an instance that is about to be made.

        Args:
            name: what it is called: its kind, and which one.
            details: plain data: what the part depends on that it does not read.
            reads: where the instance notes what it reads.
        """
        owner = self._run.subjects.get(reads.instance)
        fixed = json.dumps(["part", name, owner, value_digest(details)]).encode()
        return self.named(name, hashlib.sha256(fixed).hexdigest() if owner is not None else "", reads)

    def named(self, name: str, subject: str, reads: TraceRecorder) -> PartialResult:
        """The same with a subject that the caller has made, empty if the part is not to be kept."""
        return PartialResult(
            self, name, subject, reads, PortablePaths.of(self._run, reads.instance, installed(), whole=False)
        )

    def find(self, subject: str, instance: str, places: PortablePaths) -> Match | None:
        """What is kept of a part and still holds."""
        if self._store is None or self._programs is None or not subject:
            return None
        shapes = list(itertools.islice(self._store.shapes(subject), self._run.limits.shapes))
        self._sources.ask(key for _, keys in shapes for key in keys if key[0] == SOURCE.name)
        today = Today(places, self._nodes, None, World(instance, self._programs, self._sources, os.environ))
        match = find_match(self._store, subject, shapes, today)
        if match is not None or self._remote is None:
            return match
        shapes = list(usable(self._remote.shapes([subject])[subject]))
        self._sources.ask(key for _, keys in shapes for key in keys if key[0] == SOURCE.name)
        self._remote.bring(wanted(subject, shapes, today))
        return find_match(self._store, subject, shapes, today)

    def keep(self, subject: str, found: Mapping[Key, str], result: Result, *, private: bool) -> None:
        """Keep a part. Nothing happens if that is not wanted, it is too large, or the disk refuses.

        Args:
            private: it stays on this machine.
        """
        kept = self._store.add(subject, found, result) if self._store is not None and subject else None
        if kept is not None and not private:
            self.kept.append(kept)

    def take_counts(self) -> Counts | None:
        """What came of asking remote stores since the last time."""
        return self._remote.store.take_counts() if self._remote is not None else None
