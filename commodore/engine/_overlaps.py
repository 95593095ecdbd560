"""Which of many places a path touches, found by looking up instead of by comparing with each."""

from __future__ import annotations

import glob
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from commodore.engine.reuse.places import Places
from commodore.engine.reuse.reads import FILE_KINDS, FOLDER_KINDS, Key

Owner = TypeVar("Owner")


class Overlaps(Generic[Owner]):
    """Places with their owners. Two places touch if they are one, or one lies in the other."""

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


def places_read(keys: Iterable[Key], places: Places) -> Iterator[str]:
    """Where files were looked for, according to a record: as it was spelt, and where that leads by links.

    Args:
        places: how the record names paths.
    """
    folders: dict[str, str] = {}
    for kind, *names in keys:
        if kind not in FILE_KINDS and kind != "way":
            continue
        path = places.path(_fixed_part(names[0]) if kind == "glob" else names[0])
        yield path
        if kind == "way":  # to what the instance has fetched itself
            continue
        real = _real(path, folders)
        if real != path:
            yield real
        if kind in FOLDER_KINDS:
            yield from _linked(real, {places.path(name) for name in names[1:]})


def _fixed_part(name: str) -> str:
    """The innermost folder that all matches of a pattern lie in, by the name that a record has for it."""
    root, _, pattern = name.partition(":")
    while glob.has_magic(pattern):
        pattern = os.path.dirname(pattern)
    return f"{root}:{pattern}"


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
    seen = {folder}
    above = [folder]
    while above:
        try:
            entries = list(os.scandir(above.pop()))
        except OSError:
            continue
        for entry in entries:
            if entry.path in excluded:
                continue
            inner = entry.path
            if entry.is_symlink():
                inner = os.path.realpath(entry.path)
                yield inner
            if entry.is_dir() and inner not in seen:
                seen.add(inner)
                above.append(inner)
