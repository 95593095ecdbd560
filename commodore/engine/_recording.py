"""The record of one rendering: begun before it, checked and kept after it. Runs in workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from commodore.engine._dependency_cache import DependencyCache
from commodore.engine._tasks import Dependency, Record, Run
from commodore.engine.reuse.places import Places
from commodore.engine.reuse.programs import Programs
from commodore.engine.reuse.reads import Key, Reads
from commodore.engine.reuse.sources import cache_key, is_download, source_keys
from commodore.engine.reuse.store import ResultStore, read_folder
from commodore.engine.reuse.subject import installed, settings_digest


def begin(run: Run, instance: str, programs: Programs | None) -> Reads:
    """An empty record of an instance."""
    return Reads(instance, Places.of(run, instance, installed()), programs)


def finish(
    run: Run, node: Mapping[str, Any], reads: Reads, dependencies: Sequence[Dependency], traces: Sequence[str]
) -> Record:
    """The record of an instance that is rendered and filtered. Its result is kept, if that can be.

    Args:
        dependencies: what this run has fetched for the instance.
        traces: what its Jsonnet files had to tell.
    """
    instance = reads.instance
    reads.note(("settings",), settings_digest(node, reads.places))
    reads.value(instance, node, "parameters", "multiline_string_style")
    reads.value(instance, node, "parameters", "commodore", "postprocess")
    reads.value(instance, node, "parameters", "commodore", "jsonnet")
    _note_sources(run, node, reads, dependencies)
    result = read_folder(run.rendered(instance), traces)
    if result is None:
        reads.refuse("it has rendered something that is no file", unseen=False)
        return Record(reads.conclude(), reads.refusal, reads.unseen)
    result = replace(result, outside=reads.outside())
    if result.mentions(reads.places.folders):
        reads.location()
    record = Record(reads.conclude(), reads.refusal, reads.unseen)
    subject = run.subjects.get(instance)
    if not record.refusal and subject is not None and run.result_cache is not None:
        ResultStore(run.result_cache, run.limits).add(subject, record.found, result)
    return record


def _note_sources(run: Run, node: Mapping[str, Any], reads: Reads, dependencies: Sequence[Dependency]) -> None:
    """Note where fetched files are from. They stand for the files, so the files must be theirs and nothing else."""
    keys = source_keys(node)
    if keys is None or (dependencies and len(keys) != len(dependencies)):
        reads.refuse("a dependency of which nobody knows when it changes", unseen=False)
        return
    cache = DependencyCache(run.dependency_cache, run.limits) if run.dependency_cache is not None else None
    for key, dependency in zip(keys, dependencies, strict=False):
        identity = run.sources.get(key)
        if identity is None or not _is_pure(cache, key, identity, dependency, reads):
            reads.refuse(f"{dependency.output} holds more than {dependency.source}", unseen=False)
            return
        reads.note(key, identity)


def _is_pure(cache: DependencyCache | None, key: Key, identity: str, dependency: Dependency, reads: Reads) -> bool:
    if dependency.kind in ("http", "https"):
        return is_download(dependency.output, identity)
    entry = cache_key(key, identity)
    return cache is not None and entry is not None and cache.holds(entry, dependency.output, reads.wrote)
