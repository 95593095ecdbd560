"""Partial results: the output of helm, kustomize and filters, which is cached independently of the instance.

Most instances read an input that differs from cluster to cluster, such as the URL of the catalog for an Argo CD
application. Their expensive parts mostly do not. Like an instance, a part has a subject (everything that is fixed
before it is rendered), a record of its own inputs, and its files, in the store of results. Its inputs are recorded for
the instance, too, if it was rendered as well as if it was cached.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Mapping
from typing import Any

from commodore.core.engine.cache.keys import SOURCE, CurrentState, Key, Nodes, RunEnvironment
from commodore.core.engine.cache.portable_paths import PortablePaths, value_digest
from commodore.core.engine.cache.remote_identity import SourceIdentities
from commodore.core.engine.cache.static_key import installed
from commodore.core.engine.cache.trace import Match, TraceRecorder, find_match, requested_results, usable
from commodore.core.engine.remote_results import open_dependencies, open_results
from commodore.core.engine.tasks import BatchRun
from commodore.core.render.tool_identity import Programs
from commodore.core.results.remote_store import Counts
from commodore.core.results.result_store import Result, ResultAddress, ResultStore


class PartialResult:
    """A part that is rendered, or read from the cache.

    Args:
        parts: the cache.
        name: its name.
        subject: its subject; empty if it must not be stored.
        reads: the instance's recorder of inputs.
        places: the names of paths, including files that the instance writes itself.
    """

    def __init__(self, parts: Parts, name: str, subject: str, reads: TraceRecorder, places: PortablePaths) -> None:
        self._parts = parts
        self._name = name
        self._subject = subject
        self._owner = reads
        self._places = places
        self.reads = TraceRecorder(reads.instance, places, reads.programs)

    def take(self) -> Result | None:
        """Return the cached result if its inputs are unchanged; None if the part has to be rendered."""
        match = self._parts.find(self._subject, self._owner.instance, self._places)
        if match is None:
            return None
        self._owner.absorb(dict(zip(match.keys, match.digests, strict=True)), self._places)
        self._parts.taken.append(self._name)
        return match.result

    def conclude(self, result: Result | None) -> None:
        """Record the inputs of a rendered part, and store its result, if there is one and it may be stored."""
        if result is not None and result.mentions(self._places.folders):
            self.reads.location()
        inputs = self.reads.conclude()
        self._owner.absorb(inputs, self._places)
        if self.reads.refusal:
            self._owner.refuse(self.reads.refusal, unseen=self.reads.unseen)
        elif result is not None and not result.mentions(self._places.temporary):
            self._parts.keep(self._subject, inputs, result, private=self._owner.is_private)


class Parts:
    """The cache of partial results of one run. Used in workers.

    Args:
        run: the run; without a `part_cache`, all parts are rendered.
        nodes: the rendered inventory.
        programs: the identities of programs; None if nothing is stored.
        sources: the identities of sources.

    Attributes:
        dependencies: the dependencies of remote stores; None without a store.
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
        """Return True if this run stores parts."""
        return self._store is not None

    def begin(self, name: str, details: Any, reads: TraceRecorder) -> PartialResult:
        """Return a part of an instance before it is rendered.

        Args:
            name: its name: the kind, and the name of its input.
            details: the part's inputs that are not recorded, as plain data.
            reads: the instance's recorder of inputs.
        """
        owner = self._run.subjects.get(reads.instance)
        fixed = json.dumps(["part", name, owner, value_digest(details)]).encode()
        return self.named(name, hashlib.sha256(fixed).hexdigest() if owner is not None else "", reads)

    def named(self, name: str, subject: str, reads: TraceRecorder) -> PartialResult:
        """Like `begin`, with a subject from the caller, empty if the part must not be stored."""
        return PartialResult(
            self, name, subject, reads, PortablePaths.of(self._run, reads.instance, installed(), whole=False)
        )

    def find(self, subject: str, instance: str, places: PortablePaths) -> Match | None:
        """Return a stored part whose inputs are unchanged, or None."""
        if self._store is None or self._programs is None or not subject:
            return None
        shapes = list(itertools.islice(self._store.shapes(subject), self._run.limits.shapes))
        self._sources.ask(key for _, keys in shapes for key in keys if key[0] == SOURCE.name)
        current = CurrentState(
            places, self._nodes, None, RunEnvironment(instance, self._programs, self._sources, os.environ)
        )
        match = find_match(self._store, subject, shapes, current)
        if match is not None or self._remote is None:
            return match
        shapes = list(usable(self._remote.shapes([subject])[subject]))
        self._sources.ask(key for _, keys in shapes for key in keys if key[0] == SOURCE.name)
        self._remote.bring(requested_results(subject, shapes, current))
        return find_match(self._store, subject, shapes, current)

    def keep(self, subject: str, inputs: Mapping[Key, str], result: Result, *, private: bool) -> None:
        """Store a part. Nothing happens without a store, if it is too large, or if the disk refuses.

        Args:
            private: do not write it to remote stores.
        """
        kept = self._store.add(subject, inputs, result) if self._store is not None and subject else None
        if kept is not None and not private:
            self.kept.append(kept)

    def take_counts(self) -> Counts | None:
        """Return the counts of requests to remote stores since the last call."""
        return self._remote.store.take_counts() if self._remote is not None else None
