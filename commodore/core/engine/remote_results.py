"""Results in remote stores. Valid ones are copied into the local store, which all lookups use; new ones are written
from it. The same applies to fetched dependencies.

Below `v1/<first two digits of the subject>/<subject>/` in a store are

* `<name>.result`: the content of a file of the local store, without its seal;
* `shapes.json`: up to sixteen shapes (lists of inputs), the newest first, as remote stores are not listed;

and dependencies, see `commodore.core.sources.fetching.remote_dependencies`.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from commodore.base.events import Announce, Noted, Warned
from commodore.base.limits import Limits
from commodore.core.results.remote_store import Counts, ReadAccess, RemoteOptions, RemoteStore
from commodore.core.results.result_store import Key, ResultAddress, ResultStore, result_name, shape_of
from commodore.core.sources.fetching import CacheKey, DependencyCache, RemoteDependencies, object_name

Shape = tuple[str, tuple[Key, ...]]
"""The digest of a list of inputs, and the list."""


@dataclass(frozen=True, slots=True)
class RequestedResult:
    """A result that is valid now: its subject, the inputs of its shape, and their current digests."""

    subject: str
    keys: tuple[Key, ...]
    digests: tuple[str, ...]


@dataclass(slots=True)
class RemoteResults:
    """The results of remote stores, for lookups. Methods do not raise.

    Args:
        local: the store that results are copied to.
        store: the stores that they are read from.
    """

    local: ResultStore
    store: RemoteStore
    _shapes: dict[str, tuple[Shape, ...]] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_on(self) -> bool:
        """Return True if a store is left that has not been turned off."""
        return self.store.is_on

    def shapes(self, subjects: Iterable[str]) -> dict[str, tuple[Shape, ...]]:
        """Return the shapes by subject. Each subject is requested once."""
        with self._lock:  # another thread may be requesting the same
            return self._shapes_of(set(subjects))

    def _shapes_of(self, subjects: set[str]) -> dict[str, tuple[Shape, ...]]:
        names = {_index(subject): subject for subject in subjects - self._shapes.keys()}
        limits = self.local.limits
        contents = self.store.fetch(names, limits.remote_index_bytes, every=True) if names else {}
        for name, subject in names.items():
            merged = [shape for content in contents.get(name, ()) for shape in _read_index(content)]
            self._shapes[subject] = tuple(dict(merged[: limits.shapes]).items())
        return {subject: self._shapes[subject] for subject in subjects}

    def bring(self, results: Iterable[RequestedResult]) -> None:
        """Copy results into the local store, if they exist. Each is requested once."""
        with self._lock:
            self._bring(results)

    def _bring(self, results: Iterable[RequestedResult]) -> None:
        by_name = {
            _result(result.subject, result_name(shape_of(result.keys), result.digests)): result for result in results
        }
        names = by_name.keys() - self._asked
        self._asked |= names
        most = 2 * self.local.limits.result_bytes  # includes the names of its files, and its messages
        for name, (content, *_) in (self.store.fetch(names, most) if names else {}).items():
            result = by_name[name]
            self.local.adopt(result.subject, dict(zip(result.keys, result.digests, strict=True)), content)


class ResultWriter:
    """Writes new results, and dependencies, to a remote store in the background.

    Args:
        local: the store of results.
        fetched: the store of dependencies; None without one.
    """

    def __init__(self, local: ResultStore, store: RemoteStore, fetched: DependencyCache | None = None) -> None:
        self._local = local
        self._store = store
        self._fetched = fetched
        self._waiting: queue.Queue[ResultAddress | CacheKey] = queue.Queue(local.limits.remote_waiting)
        self._threads: list[threading.Thread] = []
        self._stopped = threading.Event()

    def offer(self, kept: Iterable[ResultAddress | CacheKey]) -> int:
        """Queue results and dependencies to write. Returns the number of dropped ones if the queue is full."""
        left_out = 0
        for item in kept:
            try:
                self._waiting.put_nowait(item)
            except queue.Full:
                left_out += 1
        while len(self._threads) < min(self._local.limits.remote_write_threads, self._waiting.qsize()):
            thread = threading.Thread(target=self._work, name="remote cache", daemon=True)
            self._threads.append(thread)
            thread.start()
        return left_out

    def finish(self) -> int:
        """Wait until the queue is written, but limited in time. Returns the number of unwritten items."""
        deadline = time.monotonic() + self._local.limits.remote_finish_seconds
        with contextlib.suppress(queue.Full):  # a store that does not respond
            for _ in self._threads:
                self._waiting.put(_END, timeout=max(0.0, deadline - time.monotonic()))
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._stopped.set()
        return sum(thread.is_alive() for thread in self._threads) + sum(
            item is not _END for item in self._waiting.queue
        )

    def drop(self) -> None:
        """Stop writing and drop the queue."""
        self._stopped.set()

    def _work(self) -> None:
        while not self._stopped.is_set():
            item = self._waiting.get()
            if item is _END:
                return
            if not self._stopped.is_set() and self._store.is_on:
                self._write(item)

    def _write(self, item: ResultAddress | CacheKey) -> None:
        if isinstance(item, CacheKey):
            packed = self._fetched.pack(item) if self._fetched is not None else None
            if packed is not None:
                self._store.create(object_name(item.digest), packed)
            return
        kept = self._local.read_packed(item)
        if kept is None:
            return
        keys, content = kept
        self._store.create(_result(item.subject, item.name), content)
        limits = self._local.limits

        def with_shape(before: bytes | None) -> bytes | None:
            known = _read_index(before) if before is not None else []
            if any(shape == item.shape for shape, _ in known):
                return None
            return json.dumps([keys, *(others for _, others in known)][: limits.shapes]).encode()

        self._store.change(_index(item.subject), with_shape, limits.remote_index_bytes)


_END = ResultAddress("", "", "")


class RemoteCache:
    """The remote stores of a command, for engines to read and write.

    Args:
        options: the stores and their options.
        local: the store of results.
        fetched: the store of dependencies; None without one.

    Attributes:
        results, dependencies: access for the main process.

    Raises:
        EnvironmentFault, UsageError: see `RemoteOptions` and `commodore.core.results.remote_store.objects.Objects`.
    """

    def __init__(self, options: RemoteOptions, local: ResultStore, fetched: DependencyCache | None = None) -> None:
        access, signer = options.reading(), options.signer()
        store = RemoteStore(access, signer, local.limits)
        self.results = RemoteResults(local, store)
        self.dependencies = open_dependencies(store, local.limits)
        self._exclude = options.exclude
        self._writer = ResultWriter(local, store, fetched) if signer is not None else None
        self._counts = Counts()
        self._left_out = 0

    @property
    def access(self) -> ReadAccess | None:
        """Return the read access for workers; None if all stores have been turned off."""
        return self.results.store.access if self.results.is_on else None

    def count(self, counts: Counts | None) -> None:
        """Add the counts of a worker."""
        if counts is not None:
            self._counts.add(counts)

    def offer(self, components: Iterable[str], kept: Iterable[ResultAddress | CacheKey]) -> None:
        """Queue additions to the local caches for instances of components, unless a component is excluded."""
        if self._writer is not None and self._exclude.isdisjoint(components):
            self._left_out += self._writer.offer(kept)

    def close(self, announce: Announce, *, at_once: bool = False) -> None:
        """Write the rest of the queue, and report the counts.

        Args:
            at_once: drop the queue.
        """
        if self._writer is not None:
            if at_once:
                self._writer.drop()
            else:
                self._left_out += self._writer.finish()
        self._counts.add(self.results.store.take_counts())
        _report(self._counts, self._left_out, announce)


def open_results(access: ReadAccess | None, local: ResultStore) -> RemoteResults | None:
    """Return the results of remote stores for a worker; None without access."""
    return RemoteResults(local, RemoteStore(access, None, local.limits)) if access is not None else None


def open_dependencies(store: RemoteStore, limits: Limits) -> RemoteDependencies:
    """Return the dependencies in remote stores."""
    return RemoteDependencies(store, 2 * limits.result_bytes)


def _report(counts: Counts, left_out: int, announce: Announce) -> None:
    summary = f"remote cache: {counts.used} used, {counts.missing} missing, {counts.written} written"
    announce(Noted(summary, level=1))
    failed = {(url, reason): count for (url, reason), count in counts.failures.items() if url not in counts.off}
    reasons = ", ".join(f"{count} to {url}: {reason}" for (url, reason), count in sorted(failed.items()))
    trouble = [f"{url} is not used any more in this run: {reason}" for url, reason in counts.off.items()]
    trouble += [f"requests that failed: {sum(failed.values())} ({reasons})"] if failed else []
    trouble += [f"results that were not written: {left_out}"] if left_out else []
    if trouble:
        hint = "the run continued without it; missing results were rendered here"
        announce(Warned("CMD-CACHE-020", f"remote cache: {'; '.join(trouble)}", hint))
    if refused := counts.refused["damaged"]:
        example = counts.examples["damaged"]
        announce(
            Warned("CMD-CACHE-021", f"remote cache: {refused} damaged, such as {example}", "remove damaged objects")
        )
    if refused := counts.refused["not trusted"]:
        example = counts.examples["not trusted"]
        hint = "add the writer's key to the file of --cache-trust, or find out who wrote it"
        announce(Warned("CMD-CACHE-022", f"remote cache: {refused} not from a trusted key, such as {example}", hint))


def _read_index(content: bytes) -> list[Shape]:
    """Return the shapes of an index, without invalid ones."""
    try:
        lists = json.loads(content)
    except (ValueError, RecursionError):
        return []
    shapes = [_as_keys(keys) for keys in lists] if isinstance(lists, list) else []
    return [(shape_of(keys), keys) for keys in shapes if keys is not None]


def _as_keys(value: object) -> tuple[Key, ...] | None:
    """Convert a list of keys; None if it is invalid."""
    keys = [tuple(key) if isinstance(key, list) else () for key in value] if isinstance(value, list) else [()]
    return tuple(keys) if all(key and all(isinstance(word, str) for word in key) for key in keys) else None


def _folder(subject: str) -> str:
    return f"v1/{subject[:2]}/{subject}"


def _index(subject: str) -> str:
    return f"{_folder(subject)}/shapes.json"


def _result(subject: str, name: str) -> str:
    return f"{_folder(subject)}/{name}.result"
