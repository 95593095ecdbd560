"""Results of earlier runs in one call of `Engine.compile_batches`: found, unpacked, checked by rendering again."""

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
from commodore.core.engine.cache.keys import SETTINGS, SOURCE, WRITTEN, Key, Nodes, Today, World
from commodore.core.engine.cache.portable_paths import PortablePaths
from commodore.core.engine.cache.remote_identity import KeptSources, SourceIdentities, source_keys
from commodore.core.engine.cache.static_key import installed, settings_digest, subject_of
from commodore.core.engine.cache.trace import Match, Shape, TraceRecorder, find_match, usable, wanted
from commodore.core.engine.remote_results import RemoteCache, RemoteResults, ResultShape
from commodore.core.engine.tasks import BatchRun, KapitanDependency, Record
from commodore.core.render.tool_identity import Programs
from commodore.core.results.result_store import FOLDER_MODE, ResultStore, holds, read_folder, write_folder


def begin(run: BatchRun, instance: str, programs: Programs | None) -> TraceRecorder:  # runs in workers
    """An empty record of an instance."""
    return TraceRecorder(instance, PortablePaths.of(run, instance, installed()), programs)


def finish(  # runs in workers
    run: BatchRun,
    node: Mapping[str, Any],
    reads: TraceRecorder,
    dependencies: Sequence[KapitanDependency],
    traces: Sequence[str],
    warnings: Sequence[Warned],
) -> Record:
    """The record of an instance that is rendered and filtered. Its result is kept, if that can be.

    Args:
        dependencies: what this run has fetched for the instance.
        traces: what its Jsonnet files had to tell.
        warnings: what is wrong with it, and allowed.
    """
    instance = reads.instance
    reads.note(SETTINGS.key(), settings_digest(node, reads.places))
    reads.value(instance, node, "parameters", "multiline_string_style")
    reads.value(instance, node, "parameters", "commodore", "postprocess")
    reads.value(instance, node, "parameters", "commodore", "jsonnet")
    _note_sources(run, node, reads, dependencies)
    result = read_folder(run.rendered(instance), traces)
    if result is None:
        reads.refuse("it has rendered something that is no file", unseen=False)
        return Record(reads.conclude(), reads.refusal, reads.unseen)
    told = tuple((one.code, one.message, one.hint) for one in warnings)
    result = replace(result, outside=reads.outside(), warnings=told)
    if result.mentions(reads.places.folders):
        reads.location()
    record = Record(reads.conclude(), reads.refusal, reads.unseen)
    subject = run.subjects.get(instance)
    if record.refusal or subject is None or run.result_cache is None:
        return record
    kept = ResultStore(run.result_cache, run.limits).add(subject, record.found, result)
    return record if reads.is_private else replace(record, kept=kept)


def _note_sources(  # runs in workers
    run: BatchRun, node: Mapping[str, Any], reads: TraceRecorder, dependencies: Sequence[KapitanDependency]
) -> None:
    """Note where fetched files are from. They stand for the files, so the files must be theirs and nothing else."""
    keys = source_keys(node)
    if keys is None or (dependencies and len(keys) != len(dependencies)):
        reads.refuse("a dependency whose changes cannot be detected", unseen=False)
        return
    kept = KeptSources(run.dependency_cache, run.limits)
    for key, dependency in zip(keys, dependencies, strict=False):
        identity = run.sources.get(key)
        if identity is None or not kept.holds(key, identity, dependency.output, reads.wrote):
            reads.refuse(f"{dependency.output} holds more than {dependency.source}", unseen=False)
            return
        reads.note(key, identity)


@dataclass(frozen=True, slots=True)
class ResultCandidate:
    """An instance for which there may be a result.

    Args:
        subject: under what name results of it are kept.
        places: how paths are named.
        shapes: what earlier renderings have read.
    """

    instance: str
    subject: str
    places: PortablePaths
    shapes: tuple[Shape, ...]

    @property
    def keys(self) -> set[Key]:
        """Everything that one of the earlier renderings has read."""
        return {key for _, keys in self.shapes for key in keys}

    @property
    def written(self) -> frozenset[str]:
        """Where it has written outside of its own folder."""
        return _written(self.keys, self.places)


class Lookup:
    """Finds results for the instances of one or more runs. Asks for each source once, and looks at each file once as
    long as nothing is put into its place.

    Args:
        store: where results are kept.
        sources: tells what sources are today.
        memory: a file for the digests of programs.
        remote: where results are brought from that are not there; None for nowhere.
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
        """The instances of a run for which there may be results, and the subject of every instance."""
        candidates: dict[str, ResultCandidate] = {}
        subjects: dict[str, str] = {}
        wanted: list[Key] = []
        for name in run.jobs:
            keys = source_keys(nodes[name]) if run.request.fetch else []
            places = PortablePaths.of(run, name, installed())
            subjects[name] = subject_of(run, name, places, fetched=keys is None or bool(keys))
            if keys is None:
                continue  # its parts may be kept all the same
            shapes = tuple(itertools.islice(self._store.shapes(subjects[name]), self._limits.shapes))
            candidates[name] = ResultCandidate(name, subjects[name], places, shapes)
            wanted += keys
            wanted += [key for _, shape in shapes for key in shape if key[0] == SOURCE.name]
        self.sources.ask(wanted, run.check_host)
        return candidates, subjects

    def forget(self) -> None:
        """Files have changed: look at them again."""
        self._seen.clear()

    def find(
        self, run: BatchRun, nodes: Nodes, candidates: dict[str, ResultCandidate], names: Iterable[str]
    ) -> dict[str, Match | None]:
        """The results of instances, if they still hold. What is not there is looked for in remote stores, too.

        Args:
            candidates: gets what renderings on other machines have read.
            names: the instances.
        """
        found = {name: self._find(run, nodes, candidates[name]) for name in names}
        missing = [name for name, match in found.items() if match is None]
        if self._remote is None or not missing:
            return found
        shapes_of = self._remote.shapes(candidates[name].subject for name in missing)
        remote = {subject: usable(shapes) for subject, shapes in shapes_of.items()}
        sources = [key for shapes in remote.values() for _, keys in shapes for key in keys if key[0] == SOURCE.name]
        self.sources.ask(sources, run.check_host)
        results: list[ResultShape] = []
        for name in missing:
            one = candidates[name]
            shapes = remote[one.subject]
            candidates[name] = replace(one, shapes=tuple(dict((*one.shapes, *shapes)).items()))
            results += wanted(one.subject, shapes, self._today(run, nodes, one))
        self._remote.bring(results)
        brought = {name: self._find(run, nodes, candidates[name]) for name in missing}
        self._brought |= {(one.subject, one.shape, one.digests) for one in brought.values() if one is not None}
        return found | {name: match and replace(match, brought=True) for name, match in brought.items()}

    def _find(self, run: BatchRun, nodes: Nodes, candidate: ResultCandidate) -> Match | None:
        match = find_match(self._store, candidate.subject, candidate.shapes, self._today(run, nodes, candidate))
        if match is None or (match.subject, match.shape, match.digests) not in self._brought:
            return match
        return replace(match, brought=True)

    def _today(self, run: BatchRun, nodes: Nodes, candidate: ResultCandidate) -> Today:
        world = World(candidate.instance, self._of(run), self.sources, run.environment)
        return Today(candidate.places, nodes, self._seen, world)

    def _of(self, run: BatchRun) -> Programs:
        directory = run.request.directory or run.request.root
        key = (str(directory), tuple(sorted(run.environment.items())))
        if key not in self._programs:
            self._programs[key] = Programs(run.environment, directory, self._memory, self._limits)
        return self._programs[key]


@dataclass(slots=True)
class Reuse:
    """The results of one run: those that hold before anything is rendered, and those that turn out to hold once what
    they depend on has been fetched.

    Args:
        hits: the results that still hold and are used.
        shadowed: those that hold, but are rendered all the same, to see that both are equal.
        candidates: the instances for which there may be results.
        deferred: the instances whose results depend on what this run fetches.
        finder: looks for results; None if none are used.
        in_place: whether the results of all instances lie there already, so that nothing has to be written.
    """

    hits: dict[str, Match] = field(default_factory=dict)
    shadowed: dict[str, Match] = field(default_factory=dict)
    candidates: Mapping[str, ResultCandidate] = field(default_factory=dict)
    deferred: frozenset[str] = frozenset()
    finder: ResultFinder | None = None
    in_place: bool = False

    def written_places(self, run: BatchRun, name: str, node: Mapping[str, Any]) -> frozenset[str]:
        """Where an instance writes outside of its own folder: by its entries, and by what it has written before."""
        before = self.candidates.get(name)
        return frozenset(written_places(run, name, node)) | (before.written if before is not None else frozenset())

    def look_again(self, run: BatchRun, nodes: Nodes, name: str) -> bool:
        """Whether an instance need not be rendered, now that what it depends on has been fetched. Its files are put
        where rendering would have put them.
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
        """Whether all that is to be compiled lies where the last run has put it, and nothing else."""
        if not run.request.replace_all or self.hits.keys() != run.jobs.keys():
            return False
        compiled = run.request.output / "compiled"
        try:
            names = set(os.listdir(compiled)) if _is_plain(compiled) else set()
        except OSError:
            return False
        wanted = {name: hit.result for name, hit in self.hits.items() if hit.result.has_files}
        return names == wanted.keys() and all(
            not (compiled / name).is_symlink() and holds(compiled / name, result) for name, result in wanted.items()
        )

    def unpack(self, run: BatchRun) -> None:
        """Put the files where rendering would have put them."""
        for name, hit in self.hits.items():
            write_folder(hit.result, run.rendered(name))

    def records(self) -> dict[str, Record]:
        """What was read when the results were made."""
        return {name: Record(dict(zip(hit.keys, hit.digests, strict=True))) for name, hit in self.hits.items()}

    def check(self, run: BatchRun) -> list[InternalError]:
        """How the shadowed instances differ from what was kept. What is wrong is not kept any longer."""
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
                        hint="a chart that makes random values does that; if this instance has none, report it",
                    )
                )
        return errors


def _is_plain(folder: Path) -> bool:
    """Whether a folder is none that a link leads to, with the mode that a run gives it."""
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and stat.S_IMODE(status.st_mode) == FOLDER_MODE


class ResultFinder:
    """Looks for results in one call of `Engine.compile_batches`.

    Args:
        cache: where results are kept.
        dependency_cache: where downloads are kept.
        shadow: how much of what is found is rendered all the same, from 0 to 1.
        remote: where results and what was fetched are brought from; None for nowhere.
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
        self._kept = KeptSources(dependency_cache, limits, remote.dependencies if remote is not None else None)
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
        """The run with what is left to render, and the results that were found."""
        candidates, subjects = self._lookup.candidates(run, nodes)
        found = self._find_all(run, nodes, candidates)
        deferred = _to_defer(run, nodes, candidates, found)
        found = {name: hit for name, hit in found.items() if name not in deferred}
        shadowed = {name: hit for name, hit in found.items() if self.is_sampled()}
        hits = {name: hit for name, hit in found.items() if name not in shadowed}
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
        """The result of an instance for which something has been fetched since the first look."""
        self._lookup.forget()
        name = candidate.instance
        hit = self._lookup.find(run, nodes, {name: candidate}, [name])[name]
        if hit is None or self._restore(run, nodes[name], hit, candidate.places) is None:
            return None
        self._write(run, name, hit, candidate.places)
        return hit

    def is_sampled(self) -> bool:
        """Whether a result is one of those that are rendered all the same."""
        return random.random() < self._shadow  # noqa: S311 - a sample

    def _find_all(self, run: BatchRun, nodes: Nodes, candidates: dict[str, ResultCandidate]) -> dict[str, Match]:
        """All results that hold, their dependencies in their places. What is put there for one instance may be read by
        others, so these are looked at again.
        """
        found: dict[str, Match] = {}
        names = list(candidates)
        written: set[str] = set()
        while names:
            restored: Overlaps[str] = Overlaps()
            looked = self._lookup.find(run, nodes, candidates, names)
            self._bring(run, [nodes[name] for name, hit in looked.items() if hit is not None])
            for name, hit in looked.items():
                outputs = self._restore(run, nodes[name], hit, candidates[name].places) if hit is not None else None
                if hit is None or outputs is None:
                    found.pop(name, None)
                    continue
                found[name] = hit
                if name not in written:  # once: several instances may write to one place
                    written.add(name)
                    outputs += self._write(run, name, hit, candidates[name].places)
                for output in outputs:
                    restored.add(output, name)
            if not restored:
                break
            self._lookup.forget()
            names = [name for name, one in candidates.items() if _reads(one, restored) - {name}]
        return found

    def _bring(self, run: BatchRun, nodes: Iterable[Mapping[str, Any]]) -> None:
        """Bring dependencies of instances that need not be rendered from remote stores, as far as they are there."""
        keys = [key for node in nodes for key in source_keys(node) or []] if run.request.fetch else []
        known = ((key, self._lookup.sources.digest(key)) for key in keys)
        self._kept.bring((key, identity) for key, identity in known if identity is not None)

    def _restore(self, run: BatchRun, node: Mapping[str, Any], hit: Match, places: PortablePaths) -> list[Path] | None:
        """Make sure that an instance's dependencies lie where rendering would have put them, and nothing else does:
        what is missing comes from the cache. Other instances, and a later run without fetching, may read them.

        Returns:
            What was put there; None if an instance has to be rendered.
        """
        written = _written(hit.keys, places)

        def is_written(path: str) -> bool:  # the instance makes this file each time it is rendered
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
                    return None  # rendering would find foreign files there
                continue
            files = FetchedFiles(run.request.root, [output])
            if identity is None or not self._kept.copy(key, identity, output):
                return None
            files.conclude(complete=True)
            restored.append(output)
        return restored

    def _write(self, run: BatchRun, name: str, hit: Match, places: PortablePaths) -> list[Path]:
        """Write what an instance writes outside of its folder. Others may read it.

        Returns:
            The files that were not there, or another one.
        """
        written = []
        for file, mode, content in hit.result.outside:
            path = Path(places.path(file))
            if is_inside(path, run.jobs[name].directory) and write_atomically(path, content, mode=mode):
                written.append(path)
        return written


def _written(keys: Iterable[Key], places: PortablePaths) -> frozenset[str]:
    """Where an instance has written outside of its own folder, by what it has read."""
    return frozenset(places.path(key[1]) for key in keys if key[0] == WRITTEN.name)


def _reads(candidate: ResultCandidate, places: Overlaps[Owner]) -> set[Owner]:
    """Whose places an instance has looked at when it was rendered before."""
    paths = places_read(candidate.keys, candidate.places)
    return {owner for path in paths for owner in places.touching(path)}


def _to_defer(
    run: BatchRun, nodes: Nodes, candidates: Mapping[str, ResultCandidate], found: Mapping[str, Match]
) -> frozenset[str]:
    """The instances whose results hold so far, but have been made from what this run is going to fetch, or to write
    outside of instances' folders.

    What these fetch and write themselves counts as well. A place that an instance fetches the same things to does not,
    nor does a file that it writes itself.
    """
    own: dict[str, set[Place]] = {}
    for name in run.jobs:
        before = candidates.get(name)
        written = {*written_places(run, name, nodes[name]), *(before.written if before is not None else ())}
        own[name] = {*fetched_places(run, nodes[name]), *((place, "") for place in written)}
    fetched: Overlaps[Place] = Overlaps()
    deferred: set[str] = set()
    fetching = [name for name in run.jobs if name not in found]
    while any(own[name] for name in fetching):
        for name in fetching:
            for place in own[name]:
                fetched.add(place[0], place)
        fetching = []
        for name in found.keys() - deferred:
            keys, places = found[name].keys, candidates[name].places
            paths = (*places_read(keys, places), *(output for output, _ in own[name]))
            if any(place not in own[name] for path in paths for place in fetched.touching(path)):
                fetching.append(name)
        deferred.update(fetching)
    return frozenset(deferred)
