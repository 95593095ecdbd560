"""Which Kapitan dependencies are fetched together, one after another, or not at all."""

from __future__ import annotations

import contextlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from commodore.base.files.tree import lies_in, walk
from commodore.core.engine.cache.keys import WAY, Key, placed
from commodore.core.engine.cache.portable_paths import PortablePaths
from commodore.core.engine.tasks import BatchRun, FetchGroup, FetchTask, KapitanDependency, Unit

Owner = TypeVar("Owner")


class Overlaps(Generic[Owner]):
    """PortablePaths with their owners. Two places touch if they are one, or one lies in the other."""

    def __init__(self) -> None:
        self._at: dict[str, list[Owner]] = defaultdict(list)
        self._below: dict[str, list[Owner]] = defaultdict(list)

    def __bool__(self) -> bool:
        return bool(self._at)

    def add(self, place: str | Path, owner: Owner) -> None:
        """An owner has a place, as it is spelt and where that leads with all links followed."""
        for text in {str(place), os.path.realpath(place)}:
            self._at[text].append(owner)
            for folder in _parents(text):
                self._below[folder].append(owner)

    def touching(self, place: str | Path) -> Iterator[Owner]:
        """The owners of all places that this one touches; one may come several times."""
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
    """Where files were looked for, according to a record: as it was spelt, and where that leads by links.

    Args:
        places: how the record names paths.
    """
    folders: dict[str, str] = {}
    for kind, _, which in placed(keys):
        path = kind.touched(which, places)
        yield path
        if kind is WAY:  # to what the instance has fetched itself
            continue
        real = _real(path, folders)
        if real != path:
            yield real
        if kind.is_folder:
            yield from _linked(real, kind.excluded(which, places))


def _real(path: str, folders: dict[str, str]) -> str:
    """The path with all links followed; few folders hold many files."""
    if os.path.islink(path):
        return os.path.realpath(path)
    folder, name = os.path.split(path)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return os.path.join(folders[folder], name)


def _linked(folder: str, excluded: Iterable[str]) -> Iterator[str]:
    """Where the links in a folder lead, and those in the folders that they lead to."""
    excluded = set(excluded)
    with contextlib.suppress(OSError):  # a folder that cannot be read is not the same
        for _, entry in walk(folder, follow=True, skip=lambda entry: entry.path in excluded):
            if entry.is_symlink():
                yield os.path.realpath(entry.path)


Wanted = tuple[BatchRun, KapitanDependency]

_ORDER = ("http", "git", "helm", "oci")
"""Kapitan's order of kinds; it decides where several kinds write to one folder."""


Place = tuple[str, str]
"""Where something is fetched to, and what."""


def fetched_places(run: BatchRun, node: Mapping[str, Any]) -> Iterator[Place]:
    """What a run fetches for an instance if it renders it.

    Args:
        node: the instance's rendered node, not validated.
    """
    settings = node["parameters"].get("kapitan")
    found = settings.get("dependencies") if isinstance(settings, Mapping) else None
    entries = [entry for entry in found if isinstance(entry, Mapping)] if isinstance(found, list) else []
    if run.request.fetch or any(entry.get("force_fetch") for entry in entries):
        for entry in entries:
            output = os.path.normpath(run.request.output / str(entry.get("output_path", "")))
            what = {key: value for key, value in entry.items() if key not in ("output_path", "force_fetch")}
            try:
                yield output, json.dumps(what, sort_keys=True, default=str)
            except TypeError:  # keys that cannot be sorted, which validation refuses
                yield output, repr(what)


def in_waves(runs: Sequence[BatchRun], wanted: Iterable[Wanted]) -> list[list[BatchRun]]:
    """The runs that may work at the same time, in their order.

    Runs that fetch different things to one place follow one another: the later one fetches when no instance compiles
    with what the former has fetched.
    """
    contents: dict[str, dict[tuple[Any, ...], KapitanDependency]] = {run.key: {} for run in runs}
    for run, item in wanted:
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


def _disagree(one: dict[tuple[Any, ...], KapitanDependency], other: dict[tuple[Any, ...], KapitanDependency]) -> bool:
    return any(
        overlap(one[a].output, item.output) for a in one.keys() - other.keys() for item in other.values()
    ) or any(overlap(other[b].output, item.output) for b in other.keys() - one.keys() for item in one.values())


def _source(run: BatchRun, item: KapitanDependency) -> tuple[Any, ...]:
    """What is fetched once: Kapitan's group, and of the request what fetching depends on."""
    relative = ":" not in item.source and not os.path.isabs(item.source)
    directory = (run.request.directory or run.request.root) if relative else None
    return (item.group, tuple(sorted(run.request.environment.items())), str(directory), run.policy.hosts)


def plan(wanted: Iterable[Wanted], staging: Path) -> list[FetchTask]:
    """Every group once (Kapitan's grouping); groups that write to the same place one after another, in fixed order.

    Args:
        wanted: what is to be fetched, for runs of one wave.
        staging: a folder that lasts as long as the runs; each task gets one below it.
    """
    places: dict[tuple[Any, ...], dict[Path, KapitanDependency]] = defaultdict(dict)
    units: dict[tuple[Any, ...], set[Unit]] = defaultdict(set)
    runs: dict[tuple[Any, ...], BatchRun] = {}
    for run, item in wanted:
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
    """Where an instance writes outside of its own folder, as far as its compile entries tell.

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


class Arrivals:
    """What is put into places that others may read, and which of it is not there yet: what a run fetches, and what
    instances write outside of their folders. It is named by the tasks' places and the instances' workplaces.

    Args:
        writers: where instances write, in the order in which they do.
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
        """What is not there yet and comes before an instance: all that is fetched, and all that others write, but of
        two that write the first one never waits for the second.
        """
        names = list(self._writers)
        later = names[names.index(instance) :] if instance in self._writers else []
        return self.awaited.difference(self._writers[name] for name in later)

    def read_by(self, paths: Iterable[str | Path]) -> set[Path]:
        """The tasks that write to one of these paths."""
        return {place for path in paths for place in self._outputs.touching(path)}


def _rank(group: tuple[str, ...]) -> int:
    return _ORDER.index(group[0])


def _touch(one: FetchGroup, other: FetchGroup) -> bool:
    return any(overlap(a.output, b.output) for a in one.items for b in other.items)


def overlap(one: Path, other: Path) -> bool:
    """Whether two places are one, or one lies in the other."""
    return one == other or one in other.parents or other in one.parents
