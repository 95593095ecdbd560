"""What a remote has right now: its branches and tags, asked with one round trip and without moving any object.

Every remote is asked at most once per run. Those that are expected to be needed are asked all at once when the run
begins, in the background, so that their answers are there when they are needed.
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
"""A remote's URL without credentials, and a version as it was asked for."""


@dataclass(frozen=True, slots=True)
class RemoteState:
    """A remote's refs when it was asked: short name -> object id.

    Attributes:
        branches, tags: what they point at; of annotated tags, the tag object.
        peeled: what annotated tags finally stand for.
        head: the branch that the remote's HEAD names, if the server says so.
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
        """The object that a branch's or tag's name, short or full, stands for; a branch beats a tag."""
        for prefix, known in ((_HEADS, self.branches), (_TAGS, {**self.tags, **self.peeled})):
            for name in (version, version.removeprefix(prefix)):
                if name in known:
                    return known[name]
        return None

    def guess_head(self) -> str:
        """For servers that do not say which branch HEAD is: one that points at the same commit."""
        same = sorted(name for name, sha in self.branches.items() if sha == self.head_sha)
        return next((name for name in (FALLBACK_BRANCH, "main", *same) if name in same), FALLBACK_BRANCH)


def ask(url: str, context: Context, clone: Path | None = None) -> RemoteState:
    """Ask a remote what it has: one git process, one round trip.

    Args:
        url: where the remote is, in normal form.
        clone: a repository whose `origin` it is, with settings of its own perhaps; None for none.

    Raises:
        EnvironmentFault: the remote does not answer.
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
        # A temporary folder says nothing; the repository does.
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
    """What remotes have, each of them asked once. Its methods may be called from several threads.

    Several runs that have one of these in common see the same commit of a branch: what a version was for the first of
    them it is for all (`settle`).

    Args:
        context: of the questions; ending the answers cancels a part of it.
        pins: what versions are, as in `RemoteAnswers.pins`; later ones are added.
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
        """The commits that versions are: by URL without credentials and version, `HEAD` for the default branch."""
        with self._lock:
            return dict(self._pins)

    def adopt(self, pins: Mapping[Pin, str]) -> None:
        """Take over what versions are elsewhere, where that decides."""
        with self._lock:
            self._pins.update(pins)

    def settle(self, url: str, version: str, sha: str) -> str:
        """The commit that a version of the remote at `url` is for all runs: the one it was for the first of them."""
        with self._lock:
            return self._pins.setdefault((redact(url), version), sha)

    def begin(self, url: str, clone: Path | None) -> Future[RemoteState]:
        """Ask the remote at this URL (in normal form) in the background, unless it was asked before.

        Args:
            clone: a repository whose `origin` it is; None for none.
        """
        with self._lock:
            if url not in self._begun:
                if self._pool is None:
                    self._pool = ThreadPoolExecutor(self._context.limits.git_questions, thread_name_prefix="ask")
                self._begun[url] = self._pool.submit(self._ask, url, clone)
            return self._begun[url]

    def forget(self, *urls: str) -> None:
        """Ask these remotes again when they are needed again, and all that have not answered."""
        with self._lock:
            for url, answer in list(self._begun.items()):
                if url in urls or (answer.done() and (answer.cancelled() or answer.exception() is not None)):
                    del self._begun[url]

    def end(self) -> None:
        """End what is still being asked; nothing can be asked afterwards."""
        self._context.cancellation.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _ask(self, url: str, clone: Path | None) -> RemoteState:
        # SSH servers refuse clients that open many connections at the same time.
        with self._ssh if url.startswith("ssh://") else contextlib.nullcontext():
            return ask(url, self._context, clone)


class RemoteQueries:
    """The questions of one run. Its methods may be called from several threads.

    Args:
        root: the folder of the bare clones.
        shared: answers that the run has in common with others, whose owner ends them; None for its own.
    """

    def __init__(self, root: Path, context: Context, shared: RemoteAnswers | None = None) -> None:
        self._root = root
        self._shared = shared
        self._answers = shared or RemoteAnswers(context)
        self._lock = threading.Lock()
        self._wanted: set[str] = set()

    def foresee(self, urls: Iterable[str]) -> None:
        """Begin to ask these remotes, all at once, in the background. Failures are raised when an answer is used."""
        for url in urls:
            self._answers.begin(url, self._clone(url))

    def answer(self, url: str, clone: Path | None = None, noted: bool = True) -> RemoteState:
        """What the remote at this URL (in normal form) has, as of the one time it was asked in this run.

        Args:
            clone: a repository elsewhere than below the root whose `origin` it is.
            noted: whether the next run would ask that, too, if nothing changes.

        Raises:
            EnvironmentFault: the remote does not answer.
        """
        if noted:
            with self._lock:
                self._wanted.add(url)
        return self._answers.begin(url, clone or self._clone(url)).result()

    def settle(self, url: str, version: str, sha: str) -> str:
        """The commit that a version is in all runs that share the answers; without others, `sha`."""
        return sha if self._shared is None else self._shared.settle(url, version, sha)

    @property
    def wanted(self) -> list[str]:
        """The URLs of the remotes whose answers were used, sorted."""
        with self._lock:
            return sorted(self._wanted)

    def end(self) -> None:
        """End what is still being asked for this run alone; it can ask nothing afterwards."""
        if self._shared is None:
            self._answers.end()

    def _clone(self, url: str) -> Path | None:
        bare = self._root / repository_key(url)
        return bare if is_remote(bare / "config", url) else None
