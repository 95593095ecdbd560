"""Current branches and tags of remotes, read in one round trip without transferring objects.

Every remote is queried at most once per run. Remotes that are expected to be needed are queried all at once when the
run begins, in the background, so that the results are there when they are needed.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.core.sources.git._empty_repository import FALLBACK_BRANCH
from commodore.core.sources.git._remote_config import access, is_remote
from commodore.core.sources.git.runner import Git
from commodore.core.sources.git.urls import redact, repository_key

_HEADS, _TAGS, _NOTES, _PEELED = "refs/heads/", "refs/tags/", "refs/notes/", "^{}"
_SYMREF = re.compile(r"^ref: refs/heads/(?P<branch>.+)\tHEAD$")
_ASK = ("ls-remote", "--symref")
_PATTERNS = ("HEAD", "refs/heads/*", "refs/tags/*", "refs/notes/*")

Pin = tuple[str, str]
"""A remote's URL without credentials, and the requested version."""


@dataclass(frozen=True, slots=True)
class RemoteState:
    """A remote's refs at the time of the query: short name -> object id.

    Attributes:
        branches, tags: their objects; of annotated tags, the tag object.
        peeled: the objects that annotated tags finally point at.
        head: the branch that the remote's HEAD names, if the server reports it.
        head_sha: the commit HEAD is at; None in an empty repository.
        notes: the refs of notes, by full name.
    """

    branches: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    peeled: Mapping[str, str] = field(default_factory=dict)
    head: str | None = None
    head_sha: str | None = None
    notes: Mapping[str, str] = field(default_factory=dict)

    def find(self, version: str) -> str | None:
        """Return the object of a branch's or tag's name, short or full; a branch is preferred to a tag."""
        for prefix, known in ((_HEADS, self.branches), (_TAGS, {**self.tags, **self.peeled})):
            for name in (version, version.removeprefix(prefix)):
                if name in known:
                    return known[name]
        return None

    def guess_head(self) -> str:
        """Return a branch at the commit of HEAD, for servers that do not report the branch of HEAD."""
        same = sorted(name for name, sha in self.branches.items() if sha == self.head_sha)
        return next((name for name in (FALLBACK_BRANCH, "main", *same) if name in same), FALLBACK_BRANCH)


def ask(url: str, context: Context, clone: Path | None = None) -> RemoteState:
    """Query the refs of a remote: one git process, one round trip.

    Args:
        url: the remote's URL, in normal form.
        clone: a repository whose `origin` it is, whose settings apply; None without a repository.

    Raises:
        EnvironmentFault: the remote cannot be reached.
    """
    about, reached = redact(url), access(url, context)
    place = [reached.name] if clone is not None or reached.environment else ["--", url]
    folder = clone or Path(tempfile.gettempdir())
    arguments = [*_ASK, *place, *_PATTERNS]
    try:
        answer = Git(folder, context, about).run(arguments, environment=reached.environment)
    except CommodoreError as error:
        if clone is not None and not clone.name.startswith("."):
            raise
        # The error names the repository, not the temporary folder.
        raise type(error)(error.code, error.message, hint=error.hint, locations=[about]) from error
    return _read(answer.text)


def _read(text: str) -> RemoteState:
    branches: dict[str, str] = {}
    tags: dict[str, str] = {}
    peeled: dict[str, str] = {}
    notes: dict[str, str] = {}
    head = head_sha = None
    for line in text.splitlines():
        if symref := _SYMREF.match(line):
            head = symref["branch"]
            continue
        sha, _, name = line.partition("\t")
        if name == "HEAD":
            head_sha = sha
        elif name.startswith(_HEADS):
            branches[name.removeprefix(_HEADS)] = sha
        elif name.startswith(_TAGS):
            short = name.removeprefix(_TAGS)
            (peeled if short.endswith(_PEELED) else tags)[short.removesuffix(_PEELED)] = sha
        elif name.startswith(_NOTES):
            notes[name] = sha
    return RemoteState(branches, tags, peeled, head, head_sha, notes)


class RemoteAnswers:
    """States of remotes, each queried once. Its methods may be called from several threads.

    Runs that share this object see the same commit of a branch: the first run that resolves a version pins it for all
    (`settle`).

    Args:
        context: the context of the queries; `end` cancels a nested context of it.
        pins: commits of versions, as in `RemoteAnswers.pins`; later ones are added.
    """

    def __init__(self, context: Context, pins: Mapping[Pin, str] = MappingProxyType({})) -> None:
        self._context = context.nested()
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._begun: dict[str, Future[RemoteState]] = {}
        self._pins = dict(pins)
        self._ssh = threading.BoundedSemaphore(context.limits.git_threads)

    @property
    def pins(self) -> Mapping[Pin, str]:
        """The commits of versions, by URL without credentials and version; `HEAD` is the default branch."""
        with self._lock:
            return dict(self._pins)

    def adopt(self, pins: Mapping[Pin, str]) -> None:
        """Add pins of another run, which take precedence."""
        with self._lock:
            self._pins.update(pins)

    def settle(self, url: str, version: str, sha: str) -> str:
        """Return the commit of a version for all runs: the commit of the first run that resolved it."""
        with self._lock:
            return self._pins.setdefault((redact(url), version), sha)

    def begin(self, url: str, clone: Path | None) -> Future[RemoteState]:
        """Query the remote at this URL (in normal form) in the background, unless it was queried before.

        Args:
            clone: a repository whose `origin` it is; None without a repository.
        """
        with self._lock:
            if url not in self._begun:
                if self._pool is None:
                    self._pool = ThreadPoolExecutor(self._context.limits.git_questions, thread_name_prefix="ask")
                self._begun[url] = self._pool.submit(self._ask, url, clone)
            return self._begun[url]

    def forget(self, *urls: str) -> None:
        """Forget the states of these remotes, and all failed queries, so that they are queried again when needed."""
        with self._lock:
            for url, answer in list(self._begun.items()):
                if url in urls or (answer.done() and (answer.cancelled() or answer.exception() is not None)):
                    del self._begun[url]

    def end(self) -> None:
        """Cancel running queries; no query can be made afterwards."""
        self._context.cancellation.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _ask(self, url: str, clone: Path | None) -> RemoteState:
        # SSH servers refuse clients that open many connections at the same time.
        with self._ssh if url.startswith("ssh://") else contextlib.nullcontext():
            return ask(url, self._context, clone)


class RemoteQueries:
    """The queries of one run. Its methods may be called from several threads.

    Args:
        root: the folder of the bare clones.
        shared: the states that the run shares with others, ended by their owner; None for separate ones.
    """

    def __init__(self, root: Path, context: Context, shared: RemoteAnswers | None = None) -> None:
        self._root = root
        self._shared = shared
        self._answers = shared or RemoteAnswers(context)
        self._lock = threading.Lock()
        self._used: set[str] = set()

    def foresee(self, urls: Iterable[str]) -> None:
        """Start queries of these remotes, all at once, in the background. Failures are raised when a result is used."""
        for url in urls:
            self._answers.begin(url, self._clone(url))

    def answer(self, url: str, clone: Path | None = None, noted: bool = True) -> RemoteState:
        """Return the state of the remote at this URL (in normal form) from the single query of this run.

        Args:
            clone: a repository outside of the root whose `origin` it is.
            noted: the next run would make this query, too, if nothing changes.

        Raises:
            EnvironmentFault: the remote cannot be reached.
        """
        if noted:
            with self._lock:
                self._used.add(url)
        return self._answers.begin(url, clone or self._clone(url)).result()

    def settle(self, url: str, version: str, sha: str) -> str:
        """Return the commit of a version in all runs that share the states; without other runs, `sha`."""
        return sha if self._shared is None else self._shared.settle(url, version, sha)

    @property
    def used(self) -> list[str]:
        """The URLs of the remotes whose states were used, sorted."""
        with self._lock:
            return sorted(self._used)

    def end(self) -> None:
        """Cancel the queries of this run alone; it can make no query afterwards."""
        if self._shared is None:
            self._answers.end()

    def _clone(self, url: str) -> Path | None:
        bare = self._root / repository_key(url)
        return bare if is_remote(bare / "config", url) else None
