"""Maintenance of remote stores: count, prune and verify their objects. Only for stores that can be listed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from commodore.base.errors import EnvironmentFault
from commodore.base.limits import Limits
from commodore.base.values.units import moment_text
from commodore.core.results.remote_store.objects import Objects, StoredObject, StoreFault, check_url, folder_of
from commodore.core.results.remote_store.signed import NotAcceptedError, Trust

_HINT = "web servers cannot be listed; in a bucket it takes the right to list, and to remove objects"


@dataclass(frozen=True, slots=True)
class RemoteSurvey:
    """The number and size of a store's objects.

    Attributes:
        objects: the number of objects.
        bytes: their total size.
        oldest, newest: when the first and the last object was written, in seconds since 1970; None in an empty store.
    """

    url: str
    objects: int
    bytes: int
    oldest: float | None = field(metadata={"json": moment_text})
    newest: float | None = field(metadata={"json": moment_text})


@dataclass(frozen=True, slots=True)
class RemotePruned:
    """The objects removed from a store (in a dry run: that would be removed), and the remaining ones."""

    url: str
    removed: int
    removed_bytes: int
    left: int
    left_bytes: int


@dataclass(frozen=True, slots=True)
class RemoteVerified:
    """The result of verifying a store.

    Attributes:
        damaged: names of objects that are not what was written; they were removed, except in a dry run.
        not_trusted: names of objects that no trusted key has signed; they stay.
    """

    url: str
    objects: int
    damaged: tuple[str, ...]
    not_trusted: tuple[str, ...]


class RemoteMaintenance:
    """Maintenance of one store.

    Raises:
        UsageError: CMD-CACHE-024, its URL is invalid.
        EnvironmentFault: CMD-CACHE-026, the library is not installed; CMD-CACHE-028, its folder does not exist. Methods
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
        """Count the objects."""
        objects = self._list()
        times = [object_.written for object_ in objects]
        size = sum(object_.bytes for object_ in objects)
        return RemoteSurvey(self._url, len(objects), size, min(times, default=None), max(times, default=None))

    def prune(self, before: float | None, most: int | None, *, dry_run: bool) -> RemotePruned:
        """Remove objects, the oldest first.

        Args:
            before: remove objects written before this time, in seconds since 1970.
            most: remove objects until at most so many bytes are left.
        """
        objects = sorted(self._list(), key=lambda object_: (object_.written, object_.name))
        left = sum(object_.bytes for object_ in objects)
        removed: list[StoredObject] = []
        for object_ in objects:
            if not (before is not None and object_.written < before) and not (most is not None and left > most):
                break
            removed.append(object_)
            left -= object_.bytes
        if not dry_run:
            self._remove(object_.name for object_ in removed)
        gone = sum(object_.bytes for object_ in removed)
        return RemotePruned(self._url, len(removed), gone, len(objects) - len(removed), left)

    def verify(self, trust: Trust, *, dry_run: bool) -> RemoteVerified:
        """Read all objects, and remove damaged ones.

        Args:
            dry_run: do not remove them.
        """
        objects = self._list()
        with ThreadPoolExecutor(self._limits.remote_threads, thread_name_prefix="remote cache") as pool:
            judged = list(pool.map(lambda object_: self._judge(object_, trust), objects))
        by_fault: dict[str, list[str]] = {"damaged": [], "not trusted": [], "": []}
        for object_, fault in zip(objects, judged, strict=True):
            by_fault[fault].append(object_.name)
        if not dry_run:
            self._remove(by_fault["damaged"])
        return RemoteVerified(self._url, len(objects), tuple(by_fault["damaged"]), tuple(by_fault["not trusted"]))

    def _judge(self, object_: StoredObject, trust: Trust) -> str:
        most = 2 * self._limits.result_bytes
        if object_.bytes > most:
            return "damaged"
        try:
            response = self._objects.get(object_.name, most)
            if response is not None:  # else it was removed meanwhile
                trust.open(object_.name, response[0])
        except StoreFault as fault:
            raise self._failed(fault) from None
        except NotAcceptedError as refused:
            return refused.reason
        return ""

    def _list(self) -> Sequence[StoredObject]:
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
