"""Remote stores of signed objects. They never fail a run: faults are counted, and reported at its end."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from commodore.base.errors import UsageError
from commodore.base.limits import Limits
from commodore.core.results.remote_store.objects import Objects, StoreFault, check_url
from commodore.core.results.remote_store.signed import NotAcceptedError, Signer, Trust, read_signer, read_trust

Item = TypeVar("Item")
_TRIES = 3  # to change an object that others change at the same time


@dataclass(frozen=True, slots=True)
class RemoteOptions:
    """The remote stores of a run and their options. Plain data without secrets: keys are read where they are needed.

    Args:
        urls: the stores; the first is written to, all are read in this order.
        write: write the results of this run to the first store.
        key: the file with the private key that signs them.
        trust: the file with the keys whose objects are used.
        trust_anyone: use the objects of all writers, and unsigned ones.
        exclude: components whose results never leave this machine.
    """

    urls: tuple[str, ...]
    write: bool = False
    key: Path | None = None
    trust: Path | None = None
    trust_anyone: bool = False
    exclude: frozenset[str] = frozenset()

    @property
    def _are_folders(self) -> bool:
        return all(url.startswith("file:") for url in self.urls)

    def reading(self) -> ReadAccess:
        """Return the stores and trusted keys for reading.

        Raises:
            UsageError: CMD-CACHE-023 without a trust file, CMD-CACHE-024 about a URL, CMD-CACHE-025 about the file.
        """
        for url in self.urls:
            check_url(url)
        if self.trust is not None and not self.trust_anyone:
            return ReadAccess(self.urls, read_trust(self.trust))
        if not self.trust_anyone and not self._are_folders:
            raise UsageError(
                "CMD-CACHE-023",
                "a remote cache needs to know whose results are trusted",
                hint="specify a file with public keys with --cache-trust, or accept all results with --cache-trust any",
            )
        return ReadAccess(self.urls, Trust({}, anyone=True))

    def signer(self) -> Signer | None:
        """Return the signer of new objects; None without `write`.

        Raises:
            UsageError: CMD-CACHE-025 about the key, CMD-CACHE-027 without one.
        """
        if not self.write:
            return None
        if self.key is not None:
            return read_signer(self.key)
        if not self._are_folders:
            raise UsageError(
                "CMD-CACHE-027",
                "results written to a remote cache must be signed",
                hint="specify a private key with --cache-key; `commodore cache key --new FILE` creates one",
            )
        return Signer(None)


@dataclass(frozen=True, slots=True)
class ReadAccess:
    """Read access to remote stores.

    Args:
        urls: the stores, in the order in which they are read.
        trust: the writers whose objects are used.
    """

    urls: tuple[str, ...]
    trust: Trust


@dataclass(slots=True)
class Counts:
    """Counts of requests: used, missing, written and refused objects, and failures.

    Args:
    refused: the number of refused objects, by reason.
    examples: the name of a refused object, by reason.
        failures: the number of failed requests, by URL and reason.
        off: the reason why a store is not used any more, by URL.
    """

    used: int = 0
    missing: int = 0
    written: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    off: dict[str, str] = field(default_factory=dict)

    def add(self, other: Counts) -> None:
        """Add the counts of another process."""
        self.used += other.used
        self.missing += other.missing
        self.written += other.written
        self.refused += other.refused
        self.failures += other.failures
        self.examples = {**other.examples, **self.examples}
        self.off = {**other.off, **self.off}


class RemoteStore:
    """Remote stores, read in order; the first is written to, if there is a signer. Methods do not raise.

    A store that fails several times in a row, or lets a request time out, is not used again.

    Args:
        access: the stores, and the writers whose objects are used.
        signer: signs new objects; None writes nothing.

    Raises:
        EnvironmentFault, UsageError: see `Objects`.
    """

    def __init__(self, access: ReadAccess, signer: Signer | None, limits: Limits) -> None:
        self.access = access
        self._signer = signer
        self._limits = limits
        self._stores = {url: Objects(url, limits) for url in access.urls}
        self._in_a_row: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._counts = Counts()

    @property
    def is_on(self) -> bool:
        """Return True if a store is left that has not been turned off."""
        return any(url not in self._counts.off for url in self._stores)

    def take_counts(self) -> Counts:
        """Return the counts since the last call, and reset them."""
        with self._lock:
            taken, self._counts = self._counts, Counts(off=dict(self._counts.off))
        return taken

    def fetch(self, names: Collection[str], most: int, *, every: bool = False) -> dict[str, tuple[bytes, ...]]:
        """Return the contents of the objects with these names; missing and unusable ones are left out.

        Args:
            most: the maximum size of an object in bytes.
            every: return the objects of all stores, instead of the first match.
        """
        contents_by_name: dict[str, tuple[bytes, ...]] = {}

        def fetch_one(name: str) -> None:
            contents: list[bytes] = []
            for url in self._stores:
                content, _ = self._get(url, name, most)
                if content is not None:
                    contents.append(content)
                    if not every:
                        break
            contents_by_name[name] = tuple(contents)

        if not _in_parallel(fetch_one, names, self._limits.remote_threads, self._limits.remote_lookup_seconds):
            for url in self._stores:
                self._turn_off(url, f"it took more than {self._limits.remote_lookup_seconds:g} seconds")
        return {name: contents for name, contents in list(contents_by_name.items()) if contents}

    def create(self, name: str, content: bytes) -> None:
        """Create an object in the first store. An existing one stays."""
        url = next(iter(self._stores))
        whole = self._signer.seal(name, content) if self._signer is not None else None
        if whole is None or not self._guarded(url, lambda store: store.create(name, whole)):
            return
        with self._lock:
            self._counts.written += 1

    def change(self, name: str, change: Callable[[bytes | None], bytes | None], most: int) -> None:
        """Replace an object of the first store by the return value of `change`, which gets its content, or None without
        a usable object. Nothing happens if it returns None, or if others change the object all the time.
        """
        url = next(iter(self._stores))
        for _ in range(_TRIES if self._signer is not None else 0):
            before, e_tag = self._get(url, name, most)
            content = change(before)
            if content is None or self._signer is None or url in self._counts.off:
                return
            whole = self._signer.seal(name, content)
            if self._guarded(url, lambda store: _put(store, name, whole, e_tag)):  # noqa: B023 - called at once
                return

    def _get(self, url: str, name: str, most: int) -> tuple[bytes | None, _Tag | None]:
        """Return the content of a store's object, if it can be used; and the tag to replace it, if it exists."""
        response = self._guarded(url, lambda store: store.get(name, most) or ())
        if not response:
            with self._lock:
                self._counts.missing += 1
            return None, None
        whole, e_tag = response
        try:
            content = self.access.trust.open(name, whole)
        except NotAcceptedError as refused:
            with self._lock:
                self._counts.refused[refused.reason] += 1
                self._counts.examples.setdefault(refused.reason, name)
            return None, _Tag(e_tag)
        with self._lock:
            self._counts.used += 1
        return content, _Tag(e_tag)

    def _guarded(self, url: str, request: Callable[[Objects], Item]) -> Item | None:
        if url in self._counts.off:
            return None
        try:
            response = request(self._stores[url])
        except StoreFault as fault:
            with self._lock:
                self._counts.failures[url, str(fault)] += 1
                self._in_a_row[url] += 1
                is_enough = fault.late or self._in_a_row[url] >= self._limits.remote_failures
            if is_enough:
                self._turn_off(url, str(fault))
            return None
        self._in_a_row[url] = 0
        return response

    def _turn_off(self, url: str, reason: str) -> None:
        with self._lock:
            self._counts.off.setdefault(url, reason)


@dataclass(frozen=True, slots=True)
class _Tag:
    """An existing object and its entity tag, if the store has one."""

    e_tag: str | None


def _put(store: Objects, name: str, whole: bytes, tag: _Tag | None) -> bool:
    return store.create(name, whole) if tag is None else store.replace(name, whole, tag.e_tag)


def _in_parallel(work: Callable[[Item], None], items: Collection[Item], threads: int, seconds: float) -> bool:
    """Run `work` for all items in several threads. Returns False if that takes more than `seconds`: then it continues
    in daemon threads, which do not delay the exit.
    """
    waiting: queue.SimpleQueue[Item] = queue.SimpleQueue()
    size = len(items)
    for item in items:
        waiting.put(item)
    done: queue.SimpleQueue[None] = queue.SimpleQueue()

    def perform() -> None:
        while True:
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                work(item)
            finally:
                done.put(None)

    for _ in range(min(size, threads)):
        threading.Thread(target=perform, name="remote cache", daemon=True).start()
    deadline = time.monotonic() + seconds
    for _ in range(size):
        try:
            done.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return False
    return True
