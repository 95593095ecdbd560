"""All repositories of a working directory: one bare clone each, fetched at most once per run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Self

from commodore.errors import CommodoreError, EnvironmentFault, InputError, raise_all
from commodore.events import Announce, StageAdvanced, ignore
from commodore.git._empty_repository import Blueprint
from commodore.git._refs import FULL_SHA
from commodore.git.ls_remote import RemoteQueries, RemoteState
from commodore.git.mirrors import Mirrors
from commodore.git.repository import Repository
from commodore.git.runner import DAMAGED, Children
from commodore.git.urls import is_local, normalize, redact, repository_key
from commodore.limits import DEFAULT_LIMITS, Limits

FETCH_STAGE = "fetch"
"""The stage name under which fetched repositories are announced."""


class RepositoryStore:
    """The bare clones below one folder. Use one store per run; its methods may be called from several threads.

    Args:
        root: the folder of the bare clones (`Workspace.repositories`).
        offline: never talk to a remote; what is not there is an error.
        mirrors: where everything that is fetched is kept for other working directories
            (`commodore.caches.repository_cache()`); None keeps and takes nothing. The attribute gives access to it.
    """

    def __init__(
        self,
        root: Path,
        *,
        announce: Announce = ignore,
        limits: Limits = DEFAULT_LIMITS,
        offline: bool = False,
        mirrors: Path | None = None,
    ) -> None:
        self.root = root
        self.offline = offline
        self._announce = announce
        self._limits = limits
        self._children = Children()
        self._blueprint = Blueprint(limits)
        self.mirrors = Mirrors(mirrors, limits) if mirrors is not None else None
        self._questions = RemoteQueries(root, limits=limits)
        self._lock = threading.Lock()
        self._repositories: dict[str, Repository] = {}
        self._followed: set[str] = set()
        self._sought: set[tuple[str, str]] = set()

    def repository(self, url: str) -> Repository:
        """The repository a URL stands for; all URLs of one key share it.

        The first URL is the one to fetch from, unless a later one literally begins with `ssh://`. Nothing is created
        or fetched yet.

        Raises:
            InputError: the URL is not usable, or a local and a remote repository would share one clone.
        """
        key = repository_key(url)
        with self._lock:
            known = self._repositories.get(key)
            if known is None:
                known = self._repositories[key] = Repository(
                    url,
                    self.root / key,
                    announce=self._announce,
                    limits=self._limits,
                    offline=self.offline,
                    children=self._children,
                    ask_remote=self._questions.answer,
                    blueprint=self._blueprint,
                    mirrors=self.mirrors,
                )
            elif is_local(known.url) != is_local(normalize(url)):
                raise InputError(
                    "CMD-GIT-013",
                    f"the repositories {known.display_url} and {redact(url)} would share the clone {known.path}",
                    hint="move the local repository to another folder",
                )
            elif url.startswith("ssh://") and not known.url.startswith("ssh://"):
                known.prefer_url(url)
        return known

    def foresee(self, urls: Iterable[str]) -> None:
        """Begin to ask remotes what they have before it is known whether that is needed; offline, do nothing.

        Each is asked in the background, all at the same time. `close` must be called afterwards.
        """
        if not self.offline:
            self._questions.foresee(urls)

    def ask(self, url: str, clone: Path | None = None) -> RemoteState:
        """What the remote at this URL (in normal form) has; each is asked once per run.

        Args:
            clone: a repository that is none of the store's, whose `origin` it is.

        Raises:
            EnvironmentFault: offline, or the remote does not answer.
        """
        if self.offline:
            return self.repository(url).ask()
        return self._questions.answer(url, clone)

    @property
    def asked(self) -> list[str]:
        """The URLs of all remotes that an unchanged run would ask, sorted: what is wanted of them is no commit id."""
        with self._lock:
            return sorted({*self._questions.wanted, *self._followed})

    def close(self) -> None:
        """End everything that still talks to a remote. The store cannot fetch any more."""
        self._children.end()
        self._questions.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def sync(self, wanted: Iterable[tuple[str, str | None]]) -> None:
        """Fetch what is needed for these (URL, version) pairs, all repositories in parallel.

        A repository is fetched at most once per run; not at all when every version wanted of it is a full commit id
        that is there already, or its remote says that none of them has changed; and once more only when a version is
        asked for that the first fetch did not bring.
        Versions that stay unknown are no error here: `Repository.resolve` says so when they are used. Offline,
        only the presence of clones is checked.

        Raises:
            InputError: a URL is not usable.
            EnvironmentFault: a repository could not be fetched.
            Findings: several of these.
        """
        if self.mirrors is not None:
            self.mirrors.sweep()
        failures: list[CommodoreError] = []
        versions: dict[str, tuple[Repository, set[str | None]]] = {}
        for url, version in wanted:
            try:
                repository = self.repository(url)
            except CommodoreError as error:
                failures.append(error)
            else:
                versions.setdefault(repository.key, (repository, set()))[1].add(version)
        failures += self._sync_all([versions[key] for key in sorted(versions)])
        raise_all(failures)

    def _sync_all(self, work: list[tuple[Repository, set[str | None]]]) -> list[CommodoreError]:
        if not work:
            return []
        self.foresee(repository.url for repository, wanted in work if self._must_be_asked(repository, wanted))
        pool = ThreadPoolExecutor(min(self._limits.git_threads, len(work)), thread_name_prefix="fetch")
        try:
            futures = [pool.submit(self._sync_one, repository, wanted) for repository, wanted in work]
            wait(futures, return_when=FIRST_EXCEPTION)
            return [error for future in futures if (error := _outcome(future)) is not None]
        except BaseException:  # Ctrl-C above all
            self.close()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _must_be_asked(self, repository: Repository, wanted: set[str | None]) -> bool:
        """Whether it is certain that this repository's remote will be asked; a new clone is fetched at once instead,
        unless other working directories have fetched it.
        """
        asked = not repository.fetched and repository.can_be_mirrored
        if all(version is not None and FULL_SHA.match(version) for version in wanted):
            return asked
        with self._lock:
            self._followed.add(repository.url)
        return asked or (not repository.fetched and repository.path.exists())

    def _sync_one(self, repository: Repository, wanted: set[str | None]) -> CommodoreError | None:
        start = time.perf_counter()
        try:
            with repository.lock:
                asked = self._bring_or_rebuild(repository, wanted)
            if asked:
                self._announce(StageAdvanced(FETCH_STAGE, repository.display_url, time.perf_counter() - start))
        except CommodoreError as error:
            return error
        return None

    def _bring_or_rebuild(self, repository: Repository, wanted: set[str | None]) -> bool:
        try:
            return self._bring(repository, wanted)
        except EnvironmentFault as error:
            if error.code != DAMAGED or not self._rebuild(repository, error):
                raise
        return self._bring(repository, wanted) or True

    def _rebuild(self, repository: Repository, damage: EnvironmentFault) -> bool:
        try:
            return repository.rebuild()
        except EnvironmentFault as error:
            raise damage from error

    def _bring(self, repository: Repository, wanted: set[str | None]) -> bool:
        """Make the wanted versions resolvable, as far as they exist. Returns whether the remote was asked."""
        mirrored = repository.obtain()
        if self.offline:
            return False
        shas = sorted(version for version in wanted if version is not None and FULL_SHA.match(version))
        if len(shas) == len(wanted) and repository.has_commits(shas):
            return mirrored
        asked = self._fetch_if_needed(repository, wanted) or mirrored
        if None in wanted:
            repository.default_branch()
        for sha in shas:
            if not repository.has_commits([sha]):
                asked = repository.fetch_commit(sha) or asked
        return asked

    def _fetch_if_needed(self, repository: Repository, wanted: set[str | None]) -> bool:
        """A remote that has been fetched from before is only asked what it has; it mostly has nothing new."""
        if repository.fetched:
            named = [version for version in wanted if version is not None]
            needed = any(self._is_new_and_unknown(repository, version) for version in named)
            if needed:
                repository.fetch()
            return needed
        asked = repository.state is None
        if not repository.refs().branches or not all(map(repository.is_current, sorted(wanted, key=str))):
            repository.fetch()
            return True
        return asked

    def _is_new_and_unknown(self, repository: Repository, version: str) -> bool:
        """Whether a version does not resolve and has not been sought by a fetch of its own yet."""
        with self._lock:
            if (repository.key, version) in self._sought:
                return False
        try:
            repository.resolve(version)
        except InputError:
            with self._lock:
                self._sought.add((repository.key, version))
            return True
        return False


def _outcome(future: Future[CommodoreError | None]) -> CommodoreError | None:
    return future.result()
