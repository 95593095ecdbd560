"""What remote stores hold: counted, thinned out, and read again. Only stores that can be listed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from commodore.base.errors import EnvironmentFault
from commodore.base.limits import Limits
from commodore.base.values.units import moment_text
from commodore.core.results.remote_store.objects import Objects, Stored, StoreFault, check_url, folder_of
from commodore.core.results.remote_store.signed import NotAcceptedError, Trust

_HINT = "web servers cannot be listed; in a bucket it takes the right to list, and to remove objects"


@dataclass(frozen=True, slots=True)
class RemoteSurvey:
    """What a store holds.

    Attributes:
        objects: how many objects.
        bytes: all of them together.
        oldest, newest: when the first and the last of them were written, in seconds since 1970; None if there are none.
    """

    url: str
    objects: int
    bytes: int
    oldest: float | None = field(metadata={"json": moment_text})
    newest: float | None = field(metadata={"json": moment_text})


@dataclass(frozen=True, slots=True)
class RemotePruned:
    """What was removed from a store, or would be, and what is left."""

    url: str
    removed: int
    removed_bytes: int
    left: int
    left_bytes: int


@dataclass(frozen=True, slots=True)
class RemoteVerified:
    """What reading a store again has shown.

    Attributes:
        damaged: names of objects that are not what was written; they were removed, unless that was not wanted.
        not_trusted: names of objects that no trusted key has signed; they stay.
    """

    url: str
    objects: int
    damaged: tuple[str, ...]
    not_trusted: tuple[str, ...]


class RemoteCare:
    """Looks after one store.

    Raises:
        UsageError: CMD-CACHE-024, its URL is none.
        EnvironmentFault: CMD-CACHE-026, the library is not installed; CMD-CACHE-028, its folder is not there. Methods
            raise CMD-CACHE-028, the store fails, or cannot be listed.
    """

    def __init__(self, url: str, limits: Limits) -> None:
        check_url(url)
        self._url = url
        self._limits = limits
        folder = folder_of(url)
        if folder is not None and not os.path.isdir(folder):
            raise self._failed(StoreFault("there is no such folder"), hint="correct the URL; runs that write make it")
        self._objects = Objects(url, limits)

    def survey(self) -> RemoteSurvey:
        """What it holds."""
        found = self._list()
        times = [one.written for one in found]
        size = sum(one.bytes for one in found)
        return RemoteSurvey(self._url, len(found), size, min(times, default=None), max(times, default=None))

    def prune(self, before: float | None, most: int | None, *, dry_run: bool) -> RemotePruned:
        """Remove objects, the oldest first.

        Args:
            before: those written before this moment, in seconds since 1970.
            most: as many as it takes until no more bytes than this are left.
        """
        found = sorted(self._list(), key=lambda one: (one.written, one.name))
        left = sum(one.bytes for one in found)
        removed: list[Stored] = []
        for one in found:
            if not (before is not None and one.written < before) and not (most is not None and left > most):
                break
            removed.append(one)
            left -= one.bytes
        if not dry_run:
            self._remove(one.name for one in removed)
        gone = sum(one.bytes for one in removed)
        return RemotePruned(self._url, len(removed), gone, len(found) - len(removed), left)

    def verify(self, trust: Trust, *, dry_run: bool) -> RemoteVerified:
        """Read all objects, and remove damaged ones.

        Args:
            dry_run: leave them.
        """
        found = self._list()
        with ThreadPoolExecutor(self._limits.remote_threads, thread_name_prefix="remote cache") as pool:
            judged = list(pool.map(lambda one: self._judge(one, trust), found))
        by_fault: dict[str, list[str]] = {"damaged": [], "not trusted": [], "": []}
        for one, fault in zip(found, judged, strict=True):
            by_fault[fault].append(one.name)
        if not dry_run:
            self._remove(by_fault["damaged"])
        return RemoteVerified(self._url, len(found), tuple(by_fault["damaged"]), tuple(by_fault["not trusted"]))

    def _judge(self, one: Stored, trust: Trust) -> str:
        most = 2 * self._limits.result_bytes
        if one.bytes > most:
            return "damaged"
        try:
            found = self._objects.get(one.name, most)
            if found is not None:  # else it was removed meanwhile
                trust.open(one.name, found[0])
        except StoreFault as fault:
            raise self._failed(fault) from None
        except NotAcceptedError as refused:
            return refused.why
        return ""

    def _list(self) -> Sequence[Stored]:
        try:
            return self._objects.list()
        except StoreFault as fault:
            raise self._failed(fault) from None

    def _remove(self, names: Iterable[str]) -> None:
        try:
            self._objects.remove(list(names))
        except StoreFault as fault:
            raise self._failed(fault) from None

    def _failed(self, fault: StoreFault, hint: str = _HINT) -> EnvironmentFault:
        message = f"the remote cache {self._url} cannot be managed: {fault}"
        return EnvironmentFault("CMD-CACHE-028", message, hint=hint)
