"""Reuse of results of earlier runs in a call of `Engine.compile_batches`: lookup, unpacking, and comparison."""

from __future__ import annotations

import itertools
import os
import random
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import InternalError
from commodore.base.events import Warned
from commodore.base.files.tree import lies_in
from commodore.base.files.workspace import is_inside, write_atomically
from commodore.base.limits import Limits
from commodore.core.engine.cache.fetch_plan import Overlaps, Owner, Place, fetched_places, places_read, written_places
from commodore.core.engine.cache.fetched_files import FetchedFiles
from commodore.core.engine.cache.keys import SETTINGS, SOURCE, WRITTEN, CurrentState, Key, Nodes, RunEnvironment
from commodore.core.engine.cache.portable_paths import PortablePaths
from commodore.core.engine.cache.remote_identity import CachedSources, SourceIdentities, source_keys
from commodore.core.engine.cache.static_key import installed, settings_digest, subject_of
from commodore.core.engine.cache.trace import Match, Shape, TraceRecorder, find_match, requested_results, usable
from commodore.core.engine.remote_results import RemoteCache, RemoteResults, RequestedResult
from commodore.core.engine.tasks import BatchRun, KapitanDependency, Record
from commodore.core.render.tool_identity import Programs
from commodore.core.results.result_store import FOLDER_MODE, ResultStore, holds, read_folder, write_folder


def begin(run: BatchRun, instance: str, programs: Programs | None) -> TraceRecorder:  # runs in workers
    """Return an empty recorder for an instance."""
    return TraceRecorder(instance, PortablePaths.of(run, instance, installed()), programs)


def finish(  # runs in workers
    run: BatchRun,
    node: Mapping[str, Any],
    reads: TraceRecorder,
    dependencies: Sequence[KapitanDependency],
    traces: Sequence[str],
    warnings: Sequence[Warned],
) -> Record:
    """Return the record of a rendered and filtered instance, and store its result if possible.

    Args:
        dependencies: the dependencies that this run has fetched for the instance.
        traces: the output of `std.trace` in its Jsonnet files.
        warnings: its allowed errors.
    """
    instance = reads.instance
    reads.note(SETTINGS.key(), settings_digest(node, reads.places))
    reads.value(instance, node, "parameters", "multiline_string_style")
    reads.value(instance, node, "parameters", "commodore", "postprocess")
    reads.value(instance, node, "parameters", "commodore", "jsonnet")
    _note_sources(run, node, reads, dependencies)
    result = read_folder(run.rendered(instance), traces)
    if result is None:
        reads.refuse("it has rendered a special file", unseen=False)
        return Record(reads.conclude(), reads.refusal, reads.unseen)
    allowed = tuple((warning.code, warning.message, warning.hint) for warning in warnings)
    result = replace(result, outside=reads.outside(), warnings=allowed)
    if result.mentions(reads.places.folders):
        reads.location()
    record = Record(reads.conclude(), reads.refusal, reads.unseen)
    subject = run.subjects.get(instance)
    if record.refusal or subject is None or run.result_cache is None:
        return record
    kept = ResultStore(run.result_cache, run.limits).add(subject, record.digests, result)
    return record if reads.is_private else replace(record, kept=kept)


def _note_sources(  # runs in workers
    run: BatchRun, node: Mapping[str, Any], reads: TraceRecorder, dependencies: Sequence[KapitanDependency]
) -> None:
    """Record the sources of fetched files. They replace the files in the record, so the files must match exactly."""
    keys = source_keys(node)
    if keys is None or (dependencies and len(keys) != len(dependencies)):
        reads.refuse("a dependency whose changes cannot be detected", unseen=False)
        return
    kept = CachedSources(run.dependency_cache, run.limits)
    for key, dependency in zip(keys, dependencies, strict=False):
        identity = run.sources.get(key)
        if identity is None or not kept.holds(key, identity, dependency.output, reads.wrote):
            reads.refuse(f"{dependency.output} differs from {dependency.source}", unseen=False)
            return
        reads.note(key, identity)


@dataclass(frozen=True, slots=True)
class ResultCandidate:
    """An instance that may have a stored result.

    Args:
        subject: the subject of its results.
        places: the names of paths.
        shapes: the inputs of earlier renderings.
    """

    instance: str
    subject: str
    places: PortablePaths
    shapes: tuple[Shape, ...]

    @property
    def keys(self) -> set[Key]:
        """Return the inputs of all earlier renderings."""
        return {key for _, keys in self.shapes for key in keys}

    @property
    def written(self) -> frozenset[str]:
        """Return the paths outside of its own folder that it has written to."""
        return _written(self.keys, self.places)


class Lookup:
    """Finds results for the instances of one or more runs. Requests each source once, and reads each file once until
    `forget` is called.

    Args:
        store: the store of results.
        sources: the identities of sources.
        memory: a file for the digests of programs.
        remote: remote stores for missing results; None without one.
    """

    def __init__(
        self, store: ResultStore, sources: SourceIdentities, memory: Path, limits: Limits, remote: RemoteResults | None
    ) -> None:
        self._store = store
        self._remote = remote
        self.sources = sources
        self._memory = memory
        self._limits = limits
        self._seen: dict[tuple[str, ...], str] = {}
        self._programs: dict[tuple[str, tuple[tuple[str, str], ...]], Programs] = {}
        self._brought: set[tuple[str, str, tuple[str, ...]]] = set()

    def candidates(self, run: BatchRun, nodes: Nodes) -> tuple[dict[str, ResultCandidate], dict[str, str]]:
        """Return the instances of a run that may have results, and the subject of every instance."""
        candidates: dict[str, ResultCandidate] = {}
        subjects: dict[str, str] = {}
        sources: list[Key] = []
        for name in run.jobs:
            keys = source_keys(nodes[name]) if run.request.fetch else []
            places = PortablePaths.of(run, name, installed())
            subjects[name] = subject_of(run, name, places, fetched=keys is None or bool(keys))
            if keys is None:
                continue  # its parts may be stored anyway
            shapes = tuple(itertools.islice(self._store.shapes(subjects[name]), self._limits.shapes))
            candidates[name] = ResultCandidate(name, subjects[name], places, shapes)
            sources += keys
            sources += [key for _, shape in shapes for key in shape if key[0] == SOURCE.name]
        self.sources.ask(sources, run.check_host)
        return candidates, subjects

    def forget(self) -> None:
        """Drop the digests of files, as files have changed."""
        self._seen.clear()

    def find(
        self, run: BatchRun, nodes: Nodes, candidates: dict[str, ResultCandidate], names: Iterable[str]
    ) -> dict[str, Match | None]:
        """Return the valid results of instances. Missing ones are looked up in remote stores, too.

        Args:
            candidates: updated with the shapes of other machines.
            names: the instances.
        """
        matches = {name: self._find(run, nodes, candidates[name]) for name in names}
        missing = [name for name, match in matches.items() if match is None]
        if self._remote is None or not missing:
            return matches
        shapes_of = self._remote.shapes(candidates[name].subject for name in missing)
        remote = {subject: usable(shapes) for subject, shapes in shapes_of.items()}
        sources = [key for shapes in remote.values() for _, keys in shapes for key in keys if key[0] == SOURCE.name]
        self.sources.ask(sources, run.check_host)
        results: list[RequestedResult] = []
        for name in missing:
            candidate = candidates[name]
            shapes = remote[candidate.subject]
            candidates[name] = replace(candidate, shapes=tuple(dict((*candidate.shapes, *shapes)).items()))
            results += requested_results(candidate.subject, shapes, self._current(run, nodes, candidate))
        self._remote.bring(results)
        brought = {name: self._find(run, nodes, candidates[name]) for name in missing}
        self._brought |= {
            (match.subject, match.shape, match.digests) for match in brought.values() if match is not None
        }
        return matches | {name: match and replace(match, brought=True) for name, match in brought.items()}

    def _find(self, run: BatchRun, nodes: Nodes, candidate: ResultCandidate) -> Match | None:
        match = find_match(self._store, candidate.subject, candidate.shapes, self._current(run, nodes, candidate))
        if match is None or (match.subject, match.shape, match.digests) not in self._brought:
            return match
        return replace(match, brought=True)

    def _current(self, run: BatchRun, nodes: Nodes, candidate: ResultCandidate) -> CurrentState:
        world = RunEnvironment(candidate.instance, self._of(run), self.sources, run.environment)
        return CurrentState(candidate.places, nodes, self._seen, world)

    def _of(self, run: BatchRun) -> Programs:
        directory = run.request.directory or run.request.root
        key = (str(directory), tuple(sorted(run.environment.items())))
        if key not in self._programs:
            self._programs[key] = Programs(run.environment, directory, self._memory, self._limits)
        return self._programs[key]


@dataclass(slots=True)
class Reuse:
    """The reused results of one run: valid ones before rendering starts, and ones that are valid after their inputs
    have been fetched.

    Args:
        hits: the valid results, which are used.
        shadowed: valid results of instances that are rendered anyway, to compare both.
        candidates: the instances that may have results.
        deferred: the instances whose results depend on fetches of this run.
        finder: finds results; None without a cache.
        in_place: whether the output has the results of all instances already, so that nothing has to be written.
    """

    hits: dict[str, Match] = field(default_factory=dict)
    shadowed: dict[str, Match] = field(default_factory=dict)
    candidates: Mapping[str, ResultCandidate] = field(default_factory=dict)
    deferred: frozenset[str] = frozenset()
    finder: ResultFinder | None = None
    in_place: bool = False

    def written_places(self, run: BatchRun, name: str, node: Mapping[str, Any]) -> frozenset[str]:
        """Return the paths outside of its own folder that an instance writes to, according to its entries and to
        earlier renderings.
        """
        before = self.candidates.get(name)
        return frozenset(written_places(run, name, node)) | (before.written if before is not None else frozenset())

    def look_again(self, run: BatchRun, nodes: Nodes, name: str) -> bool:
        """Look up an instance again after its inputs were fetched. With a valid result, write it to the instance's
        rendered folder, and return True.
        """
        if self.finder is None or name not in self.candidates:
            return False
        hit = self.finder.find_again(run, nodes, self.candidates[name])
        if hit is None:
            return False
        if self.finder.is_sampled():
            self.shadowed[name] = hit
            return False
        self.shadowed.pop(name, None)
        self.hits[name] = hit
        write_folder(hit.result, run.rendered(name))
        return True

    def is_in_place(self, run: BatchRun) -> bool:
        """Check if the output has exactly the results of all instances already."""
        if not run.request.replace_all or self.hits.keys() != run.jobs.keys():
            return False
        compiled = run.request.output / "compiled"
        try:
            names = set(os.listdir(compiled)) if _is_plain(compiled) else set()
        except OSError:
            return False
        expected = {name: hit.result for name, hit in self.hits.items() if hit.result.has_files}
        return names == expected.keys() and all(
            not (compiled / name).is_symlink() and holds(compiled / name, result) for name, result in expected.items()
        )

    def unpack(self, run: BatchRun) -> None:
        """Write the results to the instances' rendered folders."""
        for name, hit in self.hits.items():
            write_folder(hit.result, run.rendered(name))

    def records(self) -> dict[str, Record]:
        """Return the records of the reused results."""
        return {name: Record(dict(zip(hit.keys, hit.digests, strict=True))) for name, hit in self.hits.items()}

    def check(self, run: BatchRun) -> list[InternalError]:
        """Compare the shadowed instances with their results. Wrong results are removed from the store."""
        errors = []
        for name, hit in self.shadowed.items():
            fresh = read_folder(run.rendered(name))
            files = hit.result.differences(fresh) if fresh is not None else []
            if files:
                if run.result_cache is not None:
                    ResultStore(run.result_cache, run.limits).forget(hit.subject, hit.shape, hit.digests)
                listed = ", ".join(files)
                errors.append(
                    InternalError(
                        "CMD-ENG-052",
                        f"instance {name!r}: re-rendering differs from the cached result in: {listed}",
                        hint="a chart with random values causes that; if this instance has none, report it",
                    )
                )
        return errors


def _is_plain(folder: Path) -> bool:
    """Check that a folder is not a link, and has the mode that a run sets."""
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and stat.S_IMODE(status.st_mode) == FOLDER_MODE


class ResultFinder:
    """Finds results in a call of `Engine.compile_batches`.

    Args:
        cache: the folder of results.
        dependency_cache: the folder of downloads.
        shadow: the share of results that are rendered anyway, from 0 to 1.
        remote: remote stores of results and dependencies; None without one.
    """

    def __init__(
        self,
        cache: Path,
        dependency_cache: Path | None,
        shadow: float,
        context: Context,
        remote: RemoteCache | None = None,
    ) -> None:
        limits = context.limits
        self._cache = cache
        self._kept = CachedSources(dependency_cache, limits, remote.dependencies if remote is not None else None)
        self._limits = limits
        self._shadow = shadow
        self._lookup = Lookup(
            ResultStore(cache, limits),
            SourceIdentities(dependency_cache, context),
            cache / "programs.json",
            limits,
            remote.results if remote is not None else None,
        )

    def find(self, run: BatchRun, nodes: Nodes) -> tuple[BatchRun, Reuse]:
        """Return the run with the instances left to render, and the reused results."""
        candidates, subjects = self._lookup.candidates(run, nodes)
        matches = self._find_all(run, nodes, candidates)
        deferred = _to_defer(run, nodes, candidates, matches)
        matches = {name: hit for name, hit in matches.items() if name not in deferred}
        shadowed = {name: hit for name, hit in matches.items() if self.is_sampled()}
        hits = {name: hit for name, hit in matches.items() if name not in shadowed}
        sources = {key: digest for key, digest in self._lookup.sources.known.items() if digest is not None}
        pending = tuple(name for name in run.jobs if name not in hits)
        return (
            replace(
                run,
                result_cache=self._cache,
                part_cache=self._cache if self._shadow == 0 else None,
                pending=pending,
                subjects=subjects,
                sources=sources,
            ),
            Reuse(hits, shadowed, candidates, deferred, self),
        )

    def find_again(self, run: BatchRun, nodes: Nodes, candidate: ResultCandidate) -> Match | None:
        """Return the result of an instance after its inputs were fetched, or None."""
        self._lookup.forget()
        name = candidate.instance
        hit = self._lookup.find(run, nodes, {name: candidate}, [name])[name]
        if hit is None or self._restore(run, nodes[name], hit, candidate.places) is None:
            return None
        self._write(run, name, hit, candidate.places)
        return hit

    def is_sampled(self) -> bool:
        """Decide at random if a result is rendered anyway."""
        return random.random() < self._shadow  # noqa: S311 - a sample

    def _find_all(self, run: BatchRun, nodes: Nodes, candidates: dict[str, ResultCandidate]) -> dict[str, Match]:
        """Return all valid results, with their dependencies restored. Files restored for one instance may be inputs of
        others, so these are looked up again.
        """
        matches: dict[str, Match] = {}
        names = list(candidates)
        written: set[str] = set()
        while names:
            restored: Overlaps[str] = Overlaps()
            hits = self._lookup.find(run, nodes, candidates, names)
            self._bring(run, [nodes[name] for name, hit in hits.items() if hit is not None])
            for name, hit in hits.items():
                outputs = self._restore(run, nodes[name], hit, candidates[name].places) if hit is not None else None
                if hit is None or outputs is None:
                    matches.pop(name, None)
                    continue
                matches[name] = hit
                if name not in written:  # once: several instances may write to one place
                    written.add(name)
                    outputs += self._write(run, name, hit, candidates[name].places)
                for output in outputs:
                    restored.add(output, name)
            if not restored:
                break
            self._lookup.forget()
            names = [name for name, candidate in candidates.items() if _reads(candidate, restored) - {name}]
        return matches

    def _bring(self, run: BatchRun, nodes: Iterable[Mapping[str, Any]]) -> None:
        """Copy dependencies of reused instances from remote stores, if they exist."""
        keys = [key for node in nodes for key in source_keys(node) or []] if run.request.fetch else []
        known = ((key, self._lookup.sources.digest(key)) for key in keys)
        self._kept.bring((key, identity) for key, identity in known if identity is not None)

    def _restore(self, run: BatchRun, node: Mapping[str, Any], hit: Match, places: PortablePaths) -> list[Path] | None:
        """Ensure that the output paths of an instance's dependencies have exactly the files that rendering would fetch;
        missing ones are copied from the cache. Other instances, and a later run without fetching, may read them.

        Returns:
            The restored paths; None if the instance has to be rendered.
        """
        written = _written(hit.keys, places)

        def is_written(path: str) -> bool:  # the instance writes this file each time it is rendered
            return lies_in(path, *written)

        restored: list[Path] = []
        if not run.request.fetch:
            return restored
        settings = node["parameters"].get("kapitan") or {}
        entries = settings.get("dependencies") or []
        for key, entry in zip(source_keys(node) or [], entries, strict=True):
            output = Path(os.path.normpath(run.request.output / str(entry["output_path"])))
            identity = self._lookup.sources.digest(key)
            if os.path.lexists(output):
                if identity is None or not self._kept.holds(key, identity, output, is_written):
                    return None  # rendering would find other files there
                continue
            files = FetchedFiles(run.request.root, [output])
            if identity is None or not self._kept.copy(key, identity, output):
                return None
            files.conclude(complete=True)
            restored.append(output)
        return restored

    def _write(self, run: BatchRun, name: str, hit: Match, places: PortablePaths) -> list[Path]:
        """Write the files of a result that are outside of the instance's folder. Others may read them.

        Returns:
            The new and changed files.
        """
        written = []
        for file, mode, content in hit.result.outside:
            path = Path(places.path(file))
            if is_inside(path, run.jobs[name].directory) and write_atomically(path, content, mode=mode):
                written.append(path)
        return written


def _written(keys: Iterable[Key], places: PortablePaths) -> frozenset[str]:
    """Return the paths outside of its own folder that an instance has written to, by its record."""
    return frozenset(places.path(key[1]) for key in keys if key[0] == WRITTEN.name)


def _reads(candidate: ResultCandidate, places: Overlaps[Owner]) -> set[Owner]:
    """Return the owners of the paths that an instance has read when it was rendered before."""
    paths = places_read(candidate.keys, candidate.places)
    return {owner for path in paths for owner in places.touching(path)}


def _to_defer(
    run: BatchRun, nodes: Nodes, candidates: Mapping[str, ResultCandidate], matches: Mapping[str, Match]
) -> frozenset[str]:
    """Return the instances with a valid result whose inputs this run is going to fetch, or to write outside of
    instances' folders.

    Fetches and files of these instances count as well. An instance's own fetches, if they are the same, and its own
    files do not.
    """
    own: dict[str, set[Place]] = {}
    for name in run.jobs:
        before = candidates.get(name)
        written = {*written_places(run, name, nodes[name]), *(before.written if before is not None else ())}
        own[name] = {*fetched_places(run, nodes[name]), *((place, "") for place in written)}
    fetched: Overlaps[Place] = Overlaps()
    deferred: set[str] = set()
    fetching = [name for name in run.jobs if name not in matches]
    while any(own[name] for name in fetching):
        for name in fetching:
            for place in own[name]:
                fetched.add(place[0], place)
        fetching = []
        for name in matches.keys() - deferred:
            keys, places = matches[name].keys, candidates[name].places
            paths = (*places_read(keys, places), *(output for output, _ in own[name]))
            if any(place not in own[name] for path in paths for place in fetched.touching(path)):
                fetching.append(name)
        deferred.update(fetching)
    return frozenset(deferred)
