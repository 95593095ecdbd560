"""A synchronized copy of all objects of a kind: list, watch, and list again if needed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from commodore.base.errors import EnvironmentFault
from commodore.observe.cluster.client import ApiError, Client, Object, Resource
from commodore.observe.kargo import KargoObject, UnreadableError, read_object

_LOG = logging.getLogger(__name__)

Changed = Callable[[KargoObject | None, KargoObject | None], None]
"""The old and the new version of an added, changed or deleted object. Twice None: the list is complete."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds: the backoff, the pause after a persistent error, and the duration of a watch."""

    first: float = 0.8
    longest: float = 30.0
    forbidden: float = 60.0
    absent: float = 30.0
    watch: tuple[int, int] = (240, 480)

    def backoff(self, failures: int) -> float:
        """Return the longest pause after a number of consecutive failures."""
        longest: float = min(self.first * 2 ** min(failures - 1, 10), self.longest)
        return longest


@dataclass(slots=True)
class Health:
    """The state of a reflector. `since` is the time of the last answer, by the loop's clock."""

    synced: bool = False
    problem: str = ""
    since: float = 0.0
    restarts: int = 0


class Reflector:
    """All objects of a kind in a namespace, or in all. `changed` is called in the loop, after the copy has changed."""

    def __init__(
        self, client: Client, resource: Resource, namespace: str | None, changed: Changed, pauses: Pauses | None = None
    ) -> None:
        self.resource = resource
        self.namespace = namespace
        self.health = Health()
        self._client = client
        self._changed = changed
        self._pauses = pauses or Pauses()
        self._objects: dict[Key, KargoObject] = {}
        self._version = ""
        self._failures = 0

    @property
    def objects(self) -> Mapping[Key, KargoObject]:
        return self._objects

    async def run(self) -> None:
        """Follow the server until cancelled."""
        self.health.since = asyncio.get_running_loop().time()
        while True:
            try:
                if not self._version:
                    await self._list()
                await self._watch()
                self._answered()  # a regular end, possibly without an event: nothing has changed
            except ApiError as error:
                await asyncio.sleep(self._pause(error))

    async def _list(self) -> None:
        gone = set(self._objects)
        version = ""
        async for page, version in self._client.list_pages(self.resource, self.namespace):  # noqa: B007
            for body in page:
                gone.discard(self._take(body))
        for key in gone:
            self._drop(key)
        self._version = version
        self._answered()
        self.health.synced = True
        self._changed(None, None)

    async def _watch(self) -> None:
        seconds = random.randint(*self._pauses.watch)  # noqa: S311 - so that not all watches end at once
        async for kind, body in self._client.watch(self.resource, self.namespace, self._version, seconds):
            self._answered()
            self._version = str((body.get("metadata") or {}).get("resourceVersion") or self._version)
            if kind == "DELETED":
                self._drop(_key(body))
            elif kind != "BOOKMARK":
                self._take(body)

    def _answered(self) -> None:
        self.health.since = asyncio.get_running_loop().time()
        self.health.problem = ""
        self._failures = 0

    def _take(self, body: Object) -> Key:
        key = _key(body)
        try:
            read = read_object(body)
        except UnreadableError as error:
            _LOG.warning("%s %s/%s cannot be read: %s", self.resource.kind, *key, str(error)[:500])
            self._drop(key)
            return key
        if read is not None:
            old, new = self._objects.get(key), read[0]
            self._objects[key] = new
            if old != new:
                self._changed(old, new)
        return key

    def _drop(self, key: Key) -> None:
        old = self._objects.pop(key, None)
        if old is not None:
            self._changed(old, None)

    def _pause(self, error: ApiError) -> float:
        """Handle an error. Returns the pause before the next attempt."""
        self.health.restarts += 1
        if error.code == 410:  # the server does not have the changes since our version any more
            self._version = ""
            self._failures += 1
            return 0.0 if self._failures == 1 else self._backoff()
        self._failures += 1
        if not self.health.problem:
            _LOG.warning("%s: %s (%d)", self.resource.plural, error.message[:500], error.code)
        self.health.problem = error.message[:500]
        if error.code == 401:
            with contextlib.suppress(EnvironmentFault):  # possibly being written: the next attempt reads it again
                self._client.reload()
        elif error.code == 403:
            # A server that has just started may refuse allowed requests at first, so the first pauses are short.
            soon: float = min(self._pauses.first * 2 ** min(self._failures, 10), self._pauses.forbidden)
            return soon
        elif error.code == 404:
            self.health.synced = False
            self._version = ""
            return self._pauses.absent
        return error.retry_after if error.retry_after is not None else self._backoff()

    def _backoff(self) -> float:
        return self._pauses.backoff(self._failures) * random.uniform(0.75, 1.0)  # noqa: S311


def _key(body: Object) -> Key:
    meta = body.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    return str(meta.get("namespace") or "default"), str(meta.get("name") or "")
