"""Plan the fetches of Kapitan dependencies: the ones fetched together, one after another, or not at all."""

from __future__ import annotations

import contextlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from commodore.base.files.tree import lies_in, walk
from commodore.core.engine.cache.keys import LINK, Key, path_keys
from commodore.core.engine.cache.portable_paths import PortablePaths
from commodore.core.engine.tasks import BatchRun, FetchGroup, FetchTask, KapitanDependency, Unit

Owner = TypeVar("Owner")


class Overlaps(Generic[Owner]):
    """Paths with their owners. Two paths touch if they are equal, or one is below the other."""

    def __init__(self) -> None:
        self._at: dict[str, list[Owner]] = defaultdict(list)
        self._below: dict[str, list[Owner]] = defaultdict(list)

    def __bool__(self) -> bool:
        return bool(self._at)

    def add(self, place: str | Path, owner: Owner) -> None:
        """Add a path of an owner, as it is written and with all links resolved."""
        for text in {str(place), os.path.realpath(place)}:
            self._at[text].append(owner)
            for folder in _parents(text):
                self._below[folder].append(owner)

    def touching(self, place: str | Path) -> Iterator[Owner]:
        """Yield the owners of all paths that this one touches, possibly several times."""
        text = str(place)
        yield from self._at.get(text, ())
        yield from self._below.get(text, ())
        for folder in _parents(text):
            yield from self._at.get(folder, ())


def _parents(text: str) -> Iterator[str]:
    while (folder := os.path.dirname(text)) != text:
        yield folder
        text = folder


def places_read(keys: Iterable[Key], places: PortablePaths) -> Iterator[str]:
    """Yield the paths of a record's inputs: as they were written, and with links resolved.

    Args:
        places: the names of paths in the record.
    """
    folders: dict[str, str] = {}
    for kind, _, which in path_keys(keys):
        path = kind.touched(which, places)
        yield path
        if kind is LINK:  # to files that the instance has fetched itself
            continue
        real = _real(path, folders)
        if real != path:
            yield real
        if kind.is_folder:
            yield from _linked(real, kind.excluded(which, places))


def _real(path: str, folders: dict[str, str]) -> str:
    """Resolve all links of a path. Folders are resolved once, as they have many files."""
    if os.path.islink(path):
        return os.path.realpath(path)
    folder, name = os.path.split(path)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return os.path.join(folders[folder], name)


def _linked(folder: str, excluded: Iterable[str]) -> Iterator[str]:
    """Yield the targets of the links in a folder, and of links in linked folders."""
    excluded = set(excluded)
    with contextlib.suppress(OSError):  # a folder that cannot be read is not the same
        for _, entry in walk(folder, follow=True, skip=lambda entry: entry.path in excluded):
            if entry.is_symlink():
                yield os.path.realpath(entry.path)


RunDependency = tuple[BatchRun, KapitanDependency]

_ORDER = ("http", "git", "helm", "oci")
"""Kapitan's order of kinds; it decides where several kinds write to one folder."""


Place = tuple[str, str]
"""An output path, and the dependency fetched to it as text."""


def fetched_places(run: BatchRun, node: Mapping[str, Any]) -> Iterator[Place]:
    """Yield the places that a run fetches to if it renders an instance.

    Args:
        node: the instance's rendered node, not validated.
    """
    settings = node["parameters"].get("kapitan")
    dependencies = settings.get("dependencies") if isinstance(settings, Mapping) else None
    entries = [entry for entry in dependencies if isinstance(entry, Mapping)] if isinstance(dependencies, list) else []
    if run.request.fetch or any(entry.get("force_fetch") for entry in entries):
        for entry in entries:
            output = os.path.normpath(run.request.output / str(entry.get("output_path", "")))
            what = {key: value for key, value in entry.items() if key not in ("output_path", "force_fetch")}
            try:
                yield output, json.dumps(what, sort_keys=True, default=str)
            except TypeError:  # keys that cannot be sorted, which validation refuses
                yield output, repr(what)


def in_waves(runs: Sequence[BatchRun], dependencies: Iterable[RunDependency]) -> list[list[BatchRun]]:
    """Divide the runs into waves that may work at the same time, in their order.

    Runs that fetch different dependencies to one place are in different waves: the later one fetches when no instance
    compiles with files of the former.
    """
    contents: dict[str, dict[tuple[Any, ...], KapitanDependency]] = {run.key: {} for run in runs}
    for run, item in dependencies:
        contents[run.key].setdefault(_content(run, item), item)
    waves: list[list[BatchRun]] = []
    for run in runs:
        own = contents[run.key]
        for wave in waves:
            if not any(_disagree(own, contents[other.key]) for other in wave):
                wave.append(run)
                break
        else:
            waves.append([run])
    return waves


def _content(run: BatchRun, item: KapitanDependency) -> tuple[Any, ...]:
    fields = sorted((key, str(value)) for key, value in item.fields.items() if key != "force_fetch")
    return (_source(run, item), item.output, tuple(fields))


def _disagree(
    first: dict[tuple[Any, ...], KapitanDependency], second: dict[tuple[Any, ...], KapitanDependency]
) -> bool:
    return any(
        overlap(first[a].output, item.output) for a in first.keys() - second.keys() for item in second.values()
    ) or any(overlap(second[b].output, item.output) for b in second.keys() - first.keys() for item in first.values())


def _source(run: BatchRun, item: KapitanDependency) -> tuple[Any, ...]:
    """Return the key of dependencies that are fetched once: Kapitan's group, and the settings that affect fetching."""
    relative = ":" not in item.source and not os.path.isabs(item.source)
    directory = (run.request.directory or run.request.root) if relative else None
    return (item.group, tuple(sorted(run.request.environment.items())), str(directory), run.policy.hosts)


def plan(dependencies: Iterable[RunDependency], staging: Path) -> list[FetchTask]:
    """Return the tasks that fetch every group (Kapitan's grouping) once. Groups that write to the same place are
    fetched one after another, in fixed order.

    Args:
        dependencies: the dependencies to fetch for runs of one wave.
        staging: a folder that exists until the runs end; each task gets a folder in it.
    """
    places: dict[tuple[Any, ...], dict[Path, KapitanDependency]] = defaultdict(dict)
    units: dict[tuple[Any, ...], set[Unit]] = defaultdict(set)
    runs: dict[tuple[Any, ...], BatchRun] = {}
    for run, item in dependencies:
        source = _source(run, item)
        places[source].setdefault(item.output, item)
        units[source].add((run.key, item.instance))
        runs.setdefault(source, run)
    chains: list[list[tuple[BatchRun, FetchGroup]]] = []
    for source in sorted(places, key=lambda source: (_rank(source[0]), source)):
        group = FetchGroup(tuple(places[source].values()), frozenset(units[source]))
        touching = [chain for chain in chains if any(_touch(group, other) for _, other in chain)]
        joined = [*(other for chain in touching for other in chain), (runs[source], group)]
        chains = [chain for chain in chains if chain not in touching]
        chains.append(sorted(joined, key=lambda member: _rank(member[1].items[0].group)))
    return [
        FetchTask(chain[0][0], tuple(group for _, group in chain), staging / "fetch" / str(number))
        for number, chain in enumerate(chains)
    ]


def written_places(run: BatchRun, instance: str, node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths outside of its own folder that an instance writes to, according to its compile entries.

    Args:
        node: the instance's rendered node, not validated.
    """
    own = str(run.rendered(instance))
    settings = node["parameters"].get("kapitan")
    entries = settings.get("compile") if isinstance(settings, Mapping) else None
    for entry in entries if isinstance(entries, list) else ():
        path = entry.get("output_path", "") if isinstance(entry, Mapping) else ""
        place = os.path.normpath(os.path.join(own, str(path)))
        if not lies_in(place, own):
            yield place


class PendingOutputs:
    """Files that others may read and that are not complete yet: fetched ones, and ones that instances write outside of
    their folders. They are identified by the tasks' places and the instances' workplaces.

    Args:
        writers: the paths that instances write to, in the order of the instances.
    """

    def __init__(self, run: BatchRun, tasks: Iterable[FetchTask], writers: Mapping[str, Iterable[str]]) -> None:
        self._outputs: Overlaps[Path] = Overlaps()
        self.awaited: set[Path] = set()
        for task in tasks:
            if any(key == run.key for key, _ in task.units):
                self.awaited.add(task.place)
                for output in {item.output for group in task.groups for item in group.items}:
                    self._outputs.add(output, task.place)
        self._writers = {name: run.workplace(name) for name in writers}
        for name, places in writers.items():
            self.awaited.add(self._writers[name])
            for written in places:
                self._outputs.add(written, self._writers[name])

    def ahead_of(self, instance: str) -> set[Path]:
        """Return the outputs that an instance may have to wait for: all fetches, and all writers before it. Of two
        writers, the first one never waits for the second.
        """
        names = list(self._writers)
        later = names[names.index(instance) :] if instance in self._writers else []
        return self.awaited.difference(self._writers[name] for name in later)

    def read_by(self, paths: Iterable[str | Path]) -> set[Path]:
        """Return the outputs that write to one of these paths."""
        return {place for path in paths for place in self._outputs.touching(path)}


def _rank(group: tuple[str, ...]) -> int:
    return _ORDER.index(group[0])


def _touch(first: FetchGroup, second: FetchGroup) -> bool:
    return any(overlap(a.output, b.output) for a in first.items for b in second.items)


def overlap(first: Path, second: Path) -> bool:
    """Check if two paths are equal, or one is below the other."""
    return first == second or first in second.parents or second in first.parents
