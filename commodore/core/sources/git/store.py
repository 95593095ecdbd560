"""Repositories of a working directory: one bare clone each, fetched at most once per run."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, raise_all
from commodore.base.events import StageAdvanced, StageGrown
from commodore.base.exhaustion import is_exhaustion
from commodore.base.files.workspace import guard_disk
from commodore.base.values.commits import is_commit
from commodore.core.sources.git._bare_clone import looks_bare
from commodore.core.sources.git._empty_repository import Blueprint
from commodore.core.sources.git._remote_config import access
from commodore.core.sources.git.identity import Author
from commodore.core.sources.git.ls_remote import RemoteAnswers, RemoteQueries
from commodore.core.sources.git.mirrors import Mirrors
from commodore.core.sources.git.publish import PublishedClone, WorkingClone
from commodore.core.sources.git.repository import Repository
from commodore.core.sources.git.runner import DAMAGED, MISSING, Git
from commodore.core.sources.git.urls import is_local, normalize, redact, repository_key

FETCH_STAGE = "fetch"
"""The stage name of events about fetched repositories."""

Explain = Callable[[Collection[str], CommodoreError], CommodoreError]


class RepositoryStore:
    """The bare clones below one folder. Use one store per run; its methods may be called from several threads.

    Args:
        root: the folder of the bare clones (`Workspace.repositories`).
        context: offline, no remote is contacted, and missing clones are errors. `close` cancels a nested context of it.
        mirrors: the cache of fetched repositories for other working directories
            (`commodore.core.results.caches.repository_cache()`); None disables it.
        answers: states of remotes shared by stores that see the same commits of branches; their owner ends them.
    """

    def __init__(
        self, root: Path, context: Context, *, mirrors: Path | None = None, answers: RemoteAnswers | None = None
    ) -> None:
        self.root = root
        self.context = context.nested()
        self._blueprint = Blueprint(self.context)
        self._mirrors = Mirrors(mirrors, context) if mirrors is not None else None
        self._questions = RemoteQueries(root, self.context, answers)
        self._lock = threading.Lock()
        self._repositories: dict[str, Repository] = {}
        self._followed: set[str] = set()
        self._sought: set[tuple[str, str]] = set()

    def repository(self, url: str) -> Repository:
        """Return the repository of a URL; all URLs with the same key share it.

        Fetches use the first URL, unless a later one literally begins with `ssh://`. Nothing is created or fetched yet.

        Raises:
            InputError: the URL is not usable, or two repositories would share one clone, or be nested.
        """
        key = repository_key(url)
        with self._lock:
            known = self._repositories.get(key)
            if known is None:
                self._check_nesting(key, url)
                known = self._repositories[key] = Repository(
                    url,
                    self.root / key,
                    self.context,
                    self._questions,
                    blueprint=self._blueprint,
                    mirrors=self._mirrors,
                )
            elif not _may_be_same(known.url, normalize(url)):
                raise InputError(
                    "CMD-GIT-013",
                    f"the repositories {known.display_url} and {redact(url)} would share the clone {known.path}",
                    hint="a local repository can be moved to another folder; queries of URLs must be the same",
                )
            elif url.startswith("ssh://") and not known.url.startswith("ssh://"):
                known.prefer_url(url)
            else:
                known.add_name(url)
        return known

    def _check_nesting(self, key: str, url: str) -> None:
        """Refuse a repository whose clone would be inside of another clone, or contain one."""
        parents = [str(parent) for parent in Path(key).parents]
        outer = next(
            (parent for parent in parents if parent in self._repositories or looks_bare(self.root / parent)), None
        )
        inner = next((other for other in self._repositories if other.startswith(f"{key}/")), None)
        if (other := outer or inner) is not None:
            raise InputError(
                "CMD-GIT-013",
                f"the clone of {redact(url)} and the clone {self.root / other} would be nested",
                hint="correct the URL if it names a folder in a repository; or remove this clone if it is an old one",
            )

    def working_clone(
        self, url: str, folder: Path, *, author: Author | None = None, staging: Path | None = None
    ) -> PublishedClone:
        """Update an ordinary clone of `url` to the newest commit of its default branch, cloning it if necessary.

        Uncommitted changes are the output of an earlier run and are discarded; unpushed commits are kept under
        `refs/commodore/discarded` and announced. An empty remote gets a local, parentless commit of the empty tree with
        the message `Initial commit` on `master`. Offline, the clone is updated to the newest known commit of its
        current branch.

        Args:
            author: the author of the initial commit; None for git's own identity.
            staging: the folder in which a new clone is made; by default that of the clone.

        Raises:
            InputError: the URL is not usable.
            PolicyError: the folder holds something else that would be lost.
            EnvironmentFault: the remote cannot be reached, the clone is damaged, or offline without a clone.
        """
        repository_key(url)
        ask = self._questions.answer
        return WorkingClone(normalize(url), self.context, author, ask, self._mirrors).bring(folder, staging)

    def shallow_clone(self, url: str, shas: Sequence[str], folder: Path) -> Repository | None:
        """Fetch only these commits (full ids) into a new bare repository, which the caller removes.

        Returns:
            The repository, in offline mode; None without network access, or if the server does not allow it.
        """
        if self.context.offline:
            return None
        with guard_disk(folder):
            folder.mkdir()
        repository = self.repository(url)
        git = Git(folder, self.context)
        git.run(["init", "--quiet", "--bare", "--template=", "."])
        reached = access(repository.url, self.context, directly=True)
        arguments = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", reached.name, *shas]
        if git.run(arguments, check=False, environment=reached.environment).returncode != 0:
            return None
        offline = replace(self.context, offline=True)
        return Repository(url, folder, offline, self._questions, blueprint=self._blueprint, mirrors=None)

    def foresee(self, urls: Iterable[str]) -> None:
        """Start queries of remotes that may be needed; offline, do nothing.

        All are queried in the background at the same time. `close` must be called afterwards.
        """
        if not self.context.offline:
            self._questions.foresee(urls)

    @property
    def asked(self) -> list[str]:
        """The URLs of all remotes that an unchanged run would query, sorted: their versions are not commit ids."""
        with self._lock:
            return sorted({*self._questions.used, *self._followed})

    def close(self) -> None:
        """Cancel everything that still talks to a remote. The store cannot fetch afterwards."""
        self.context.cancellation.cancel()
        self._questions.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        self.close()
        if kind is None:
            with contextlib.suppress(EnvironmentFault):  # the run is complete, and the next one starts git
                for repository in list(self._repositories.values()):
                    repository.note_written()

    def sync(self, requested: Iterable[tuple[str, str | None]], explain: Explain = lambda _, error: error) -> None:
        """Fetch what is needed for these (URL, version) pairs, all repositories in parallel.

        A repository is fetched at most once per run; not at all if every requested version is a full commit id that
        exists already, or its remote reports all of them unchanged; and once more only if a version is requested that
        the first fetch did not find.
        Unknown versions are not an error here: `Repository.resolve` raises it when they are used. Offline, only the
        existence of clones is checked.

        Args:
            explain: maps the requested URLs of a repository and its error to the error to raise. It is not called for
                faults of this machine.

        Raises:
            InputError: a URL is not usable.
            EnvironmentFault: a repository could not be fetched.
            Findings: several of these.
        """
        if self._mirrors is not None:
            self._mirrors.sweep()
        failures: list[CommodoreError] = []
        versions: dict[str, tuple[Repository, set[str | None]]] = {}
        urls: dict[Repository, set[str]] = {}
        for url, version in requested:
            try:
                repository = self.repository(url)
            except CommodoreError as error:
                failures.append(explain({url}, error))
            else:
                versions.setdefault(repository.key, (repository, set()))[1].add(version)
                urls.setdefault(repository, set()).add(url)
        failed = self._sync_all([versions[key] for key in sorted(versions)])
        failures += [
            error if error.code == MISSING or is_exhaustion(error.code) else explain(urls[repository], error)
            for repository, error in failed
        ]
        raise_all(failures)

    def _sync_all(self, work: list[tuple[Repository, set[str | None]]]) -> list[tuple[Repository, CommodoreError]]:
        if not work:
            return []
        self.context.announce(StageGrown(FETCH_STAGE, len(work)))
        self.foresee(repository.url for repository, versions in work if self._must_be_asked(repository, versions))
        pool = ThreadPoolExecutor(min(self.context.limits.git_threads, len(work)), thread_name_prefix="fetch")
        try:
            futures = [pool.submit(self._sync_one, repository, versions) for repository, versions in work]
            wait(futures, return_when=FIRST_EXCEPTION)
            outcomes = zip(work, map(_outcome, futures), strict=True)
            return [(repository, error) for (repository, _), error in outcomes if error is not None]
        except BaseException:  # Ctrl-C above all
            self.close()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _must_be_asked(self, repository: Repository, versions: set[str | None]) -> bool:
        """Check if this repository's remote will certainly be queried. A new clone is fetched at once instead, unless
        it can be made from the cache of fetched repositories.
        """
        asked = not repository.fetched and repository.can_be_mirrored
        if all(version is not None and is_commit(version) for version in versions):
            return asked
        with self._lock:
            self._followed.add(repository.url)
        return asked or (not repository.fetched and repository.path.exists())

    def _sync_one(self, repository: Repository, versions: set[str | None]) -> CommodoreError | None:
        start = time.perf_counter()
        try:
            with repository.lock:
                asked = self._bring_or_rebuild(repository, versions)
            seconds = time.perf_counter() - start if asked else 0.0
            self.context.announce(StageAdvanced(FETCH_STAGE, repository.display_url, seconds))
        except CommodoreError as error:
            return error
        return None

    def _bring_or_rebuild(self, repository: Repository, versions: set[str | None]) -> bool:
        try:
            return self._bring(repository, versions)
        except EnvironmentFault as error:
            if error.code != DAMAGED or not self._rebuild(repository, error):
                raise
        return self._bring(repository, versions) or True

    def _rebuild(self, repository: Repository, damage: EnvironmentFault) -> bool:
        try:
            return repository.rebuild()
        except EnvironmentFault as error:
            raise damage from error

    def _bring(self, repository: Repository, versions: set[str | None]) -> bool:
        """Make the requested versions resolvable if they exist. Returns True if the remote was queried."""
        mirrored = repository.obtain()
        if self.context.offline:
            return False
        shas = sorted(version for version in versions if version is not None and is_commit(version))
        if len(shas) == len(versions) and repository.has_commits(shas):
            return mirrored
        asked = self._fetch_if_needed(repository, versions) or mirrored
        if None in versions:
            repository.default_branch()
        for sha in shas:
            if not repository.has_commits([sha]):
                asked = repository.fetch_commit(sha) or asked
        return asked

    def _fetch_if_needed(self, repository: Repository, versions: set[str | None]) -> bool:
        """Fetch if the remote has changes. A remote fetched before is only queried, as it mostly has nothing new."""
        if repository.fetched:
            named = [version for version in versions if version is not None]
            needed = any(self._is_new_and_unknown(repository, version) for version in named)
            if needed:
                repository.fetch()
            return needed
        asked = repository.state is None
        if not repository.refs().branches or not all(map(repository.is_current, sorted(versions, key=str))):
            repository.fetch()
            return True
        return asked

    def _is_new_and_unknown(self, repository: Repository, version: str) -> bool:
        """Check if a version does not resolve and was not fetched separately yet."""
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


def _may_be_same(url: str, other: str) -> bool:
    """Check if two URLs with the same key, in normal form, can name the same repository."""
    if is_local(url) != is_local(other):
        return False
    if not is_local(url):
        return urlsplit(url).query == urlsplit(other).query
    folders = [unquote(urlsplit(path).path) if path.startswith("file:") else path for path in (url, other)]
    return not all(map(os.path.exists, folders)) or os.path.samefile(*folders)


def _outcome(future: Future[CommodoreError | None]) -> CommodoreError | None:
    return future.result()
