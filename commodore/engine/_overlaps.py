"""Which of many places a path touches, found by looking up instead of by comparing with each."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

Owner = TypeVar("Owner")


class Overlaps(Generic[Owner]):
    """Places with their owners. Two places touch if they are one, or one lies in the other."""

    def __init__(self) -> None:
        self._at: dict[str, list[Owner]] = defaultdict(list)
        self._below: dict[str, list[Owner]] = defaultdict(list)

    def add(self, place: Path, owner: Owner) -> None:
        """An owner has a place."""
        self._at[str(place)].append(owner)
        for folder in _parents(str(place)):
            self._below[folder].append(owner)

    def touching(self, place: Path) -> Iterator[Owner]:
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
