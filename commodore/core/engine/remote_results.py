"""Results in remote stores, beside the local one that all lookups use: those that hold are brought into it, new ones
are written from it. So are dependencies that were fetched.

Below the URL of a store lie `v1/<first two digits of the subject>/<subject>/`

* `<name>.result`: what a file of the local store holds, without its seal;
* `shapes.json`: up to sixteen lists of what renderings have read, the newest first, as remote stores are not listed;

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
"""The name of a list of things that were read, and the list."""


@dataclass(frozen=True, slots=True)
class ResultShape:
    """A result that would hold today: the shape of what was read, and what is found for each of its things."""

    subject: str
    keys: tuple[Key, ...]
    digests: tuple[str, ...]


@dataclass(slots=True)
class RemoteResults:
    """The results of remote stores that a lookup may need. None of its methods raises.

    Args:
        local: where results are brought to.
        store: where they come from.
    """

    local: ResultStore
    store: RemoteStore
    _shapes: dict[str, tuple[Shape, ...]] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_on(self) -> bool:
        """Whether there is a store left to ask."""
        return self.store.is_on

    def shapes(self, subjects: Iterable[str]) -> dict[str, tuple[Shape, ...]]:
        """What renderings of subjects have read, by subject. Each is asked for once."""
        with self._lock:  # what another thread asks for is waited for
            return self._shapes_of(set(subjects))

    def _shapes_of(self, subjects: set[str]) -> dict[str, tuple[Shape, ...]]:
        names = {_index(subject): subject for subject in subjects - self._shapes.keys()}
        limits = self.local.limits
        found = self.store.fetch(names, limits.remote_index_bytes, every=True) if names else {}
        for name, subject in names.items():
            merged = [shape for content in found.get(name, ()) for shape in _read_index(content)]
            self._shapes[subject] = tuple(dict(merged[: limits.shapes]).items())
        return {subject: self._shapes[subject] for subject in subjects}

    def bring(self, wanted: Iterable[ResultShape]) -> None:
        """Bring results into the local store, as far as there are any. Each is asked for once."""
        with self._lock:
            self._bring(wanted)

    def _bring(self, wanted: Iterable[ResultShape]) -> None:
        by_name = {_result(one.subject, result_name(shape_of(one.keys), one.digests)): one for one in wanted}
        names = by_name.keys() - self._asked
        self._asked |= names
        most = 2 * self.local.limits.result_bytes  # with the names of its files, and its messages
        for name, (content, *_) in (self.store.fetch(names, most) if names else {}).items():
            one = by_name[name]
            self.local.adopt(one.subject, dict(zip(one.keys, one.digests, strict=True)), content)


class ResultWriter:
    """Writes new results, and dependencies, to a remote store in the background.

    Args:
        local: where results are.
        fetched: where dependencies are; None if they are not kept.
    """

    def __init__(self, local: ResultStore, store: RemoteStore, fetched: DependencyCache | None = None) -> None:
        self._local = local
        self._store = store
        self._fetched = fetched
        self._waiting: queue.Queue[ResultAddress | CacheKey] = queue.Queue(local.limits.remote_waiting)
        self._threads: list[threading.Thread] = []
        self._stopped = threading.Event()

    def offer(self, kept: Iterable[ResultAddress | CacheKey]) -> int:
        """Write results and dependencies, soon. Returns how many are left out because too many wait already."""
        left_out = 0
        for one in kept:
            try:
                self._waiting.put_nowait(one)
            except queue.Full:
                left_out += 1
        while len(self._threads) < min(self._local.limits.remote_write_threads, self._waiting.qsize()):
            thread = threading.Thread(target=self._work, name="remote cache", daemon=True)
            self._threads.append(thread)
            thread.start()
        return left_out

    def finish(self) -> int:
        """Wait for what is not written yet, for some time. Returns how much is left out then."""
        deadline = time.monotonic() + self._local.limits.remote_finish_seconds
        with contextlib.suppress(queue.Full):  # a store that takes nothing
            for _ in self._threads:
                self._waiting.put(_END, timeout=max(0.0, deadline - time.monotonic()))
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._stopped.set()
        return sum(thread.is_alive() for thread in self._threads) + sum(one is not _END for one in self._waiting.queue)

    def drop(self) -> None:
        """Write nothing more."""
        self._stopped.set()

    def _work(self) -> None:
        while not self._stopped.is_set():
            one = self._waiting.get()
            if one is _END:
                return
            if not self._stopped.is_set() and self._store.is_on:
                self._write(one)

    def _write(self, one: ResultAddress | CacheKey) -> None:
        if isinstance(one, CacheKey):
            packed = self._fetched.pack(one) if self._fetched is not None else None
            if packed is not None:
                self._store.create(object_name(one.digest), packed)
            return
        kept = self._local.read_packed(one)
        if kept is None:
            return
        keys, content = kept
        self._store.create(_result(one.subject, one.name), content)
        limits = self._local.limits

        def with_shape(before: bytes | None) -> bytes | None:
            known = _read_index(before) if before is not None else []
            if any(shape == one.shape for shape, _ in known):
                return None
            return json.dumps([keys, *(others for _, others in known)][: limits.shapes]).encode()

        self._store.change(_index(one.subject), with_shape, limits.remote_index_bytes)


_END = ResultAddress("", "", "")


class RemoteCache:
    """The remote stores of a command: what engines read from, and write to.

    Args:
        options: which stores, and how.
        local: where results are.
        fetched: where dependencies are; None if they are not kept.

    Attributes:
        results, dependencies: what the main process reads.

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
        """What workers need to read from the stores; None if there is none left to ask."""
        return self.results.store.access if self.results.is_on else None

    def count(self, counts: Counts | None) -> None:
        """What a worker has counted."""
        if counts is not None:
            self._counts.add(counts)

    def offer(self, components: Iterable[str], kept: Iterable[ResultAddress | CacheKey]) -> None:
        """What was added to the local caches for instances of components."""
        if self._writer is not None and self._exclude.isdisjoint(components):
            self._left_out += self._writer.offer(kept)

    def close(self, announce: Announce, *, at_once: bool = False) -> None:
        """Write what is left, and tell what came of all.

        Args:
            at_once: leave out what is not written yet.
        """
        if self._writer is not None:
            if at_once:
                self._writer.drop()
            else:
                self._left_out += self._writer.finish()
        self._counts.add(self.results.store.take_counts())
        _report(self._counts, self._left_out, announce)


def open_results(access: ReadAccess | None, local: ResultStore) -> RemoteResults | None:
    """The results that a worker reads from remote stores."""
    return RemoteResults(local, RemoteStore(access, None, local.limits)) if access is not None else None


def open_dependencies(store: RemoteStore, limits: Limits) -> RemoteDependencies:
    """The dependencies in remote stores."""
    return RemoteDependencies(store, 2 * limits.result_bytes)


def _report(counts: Counts, left_out: int, announce: Announce) -> None:
    said = f"remote cache: {counts.used} used, {counts.missing} missing, {counts.written} written"
    announce(Noted(said, level=1))
    failed = {(url, why): count for (url, why), count in counts.failures.items() if url not in counts.off}
    reasons = ", ".join(f"{count} to {url}: {why}" for (url, why), count in sorted(failed.items()))
    trouble = [f"{url} is not used any more in this run: {reason}" for url, reason in counts.off.items()]
    trouble += [f"requests that failed: {sum(failed.values())} ({reasons})"] if failed else []
    trouble += [f"results that were not written: {left_out}"] if left_out else []
    if trouble:
        hint = "the run went on without it; what was missing was rendered here"
        announce(Warned("CMD-CACHE-020", f"remote cache: {'; '.join(trouble)}", hint))
    if refused := counts.refused["damaged"]:
        example = counts.examples["damaged"]
        announce(
            Warned("CMD-CACHE-021", f"remote cache: {refused} damaged, such as {example}", "remove what is damaged")
        )
    if refused := counts.refused["not trusted"]:
        example = counts.examples["not trusted"]
        hint = "add the writer's key to the file of --cache-trust, or find out who has written it"
        announce(Warned("CMD-CACHE-022", f"remote cache: {refused} not from a trusted key, such as {example}", hint))


def _read_index(content: bytes) -> list[Shape]:
    """The shapes of an index; those that are no lists of keys are left out."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return []
    shapes = [_as_keys(keys) for keys in found] if isinstance(found, list) else []
    return [(shape_of(keys), keys) for keys in shapes if keys is not None]


def _as_keys(given: object) -> tuple[Key, ...] | None:
    """A list of what was read; None if something in it is not a key."""
    keys = [tuple(key) if isinstance(key, list) else () for key in given] if isinstance(given, list) else [()]
    return tuple(keys) if all(key and all(isinstance(word, str) for word in key) for key in keys) else None


def _folder(subject: str) -> str:
    return f"v1/{subject[:2]}/{subject}"


def _index(subject: str) -> str:
    return f"{_folder(subject)}/shapes.json"


def _result(subject: str, name: str) -> str:
    return f"{_folder(subject)}/{name}.result"
