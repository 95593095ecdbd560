"""All repositories of a working directory: one bare clone each, fetched at most once per run."""

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
"""The stage name under which fetched repositories are announced."""

Explain = Callable[[Collection[str], CommodoreError], CommodoreError]


class RepositoryStore:
    """The bare clones below one folder. Use one store per run; its methods may be called from several threads.

    Args:
        root: the folder of the bare clones (`Workspace.repositories`).
        context: offline, no remote is asked; what is not there is an error. Closing the store cancels a part of it.
        mirrors: where everything that is fetched is kept for other working directories
            (`commodore.core.results.caches.repository_cache()`); None keeps and takes nothing.
        answers: what remotes have, for stores that see the same commits of branches; their owner ends them.
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
        """The repository a URL stands for; all URLs of one key share it.

        The first URL is the one to fetch from, unless a later one literally begins with `ssh://`. Nothing is created
        or fetched yet.

        Raises:
            InputError: the URL is not usable, or two repositories would share one clone, or one lie in the other.
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
            elif not _are_one(known.url, normalize(url)):
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
        """Refuse a repository whose clone would lie among the files of another clone, or hold one."""
        parents = [str(parent) for parent in Path(key).parents]
        outer = next((one for one in parents if one in self._repositories or looks_bare(self.root / one)), None)
        inner = next((one for one in self._repositories if one.startswith(f"{key}/")), None)
        if (other := outer or inner) is not None:
            raise InputError(
                "CMD-GIT-013",
                f"the clone of {redact(url)} and the clone {self.root / other} would be inside each other",
                hint="correct the URL that names a folder in a repository; or remove this clone, if it is an old one",
            )

    def working_clone(
        self, url: str, folder: Path, *, author: Author | None = None, staging: Path | None = None
    ) -> PublishedClone:
        """Bring an ordinary clone of `url` to the newest commit of its default branch, making it if need be.

        What is not committed in it is the output of an earlier run and is thrown away; unpushed commits are kept under
        `refs/commodore/discarded` and announced. An empty remote gets a local, parentless commit of the empty tree with
        the message `Initial commit` on `master`. Offline, the clone is brought to the newest commit that it knows of
        the branch it is on.

        Args:
            author: of the initial commit; None is git's own identity.
            staging: where a new clone is made; by default beside its place.

        Raises:
            InputError: the URL is not usable.
            PolicyError: something else is in the folder's place and would be lost.
            EnvironmentFault: the remote does not answer, or the clone is damaged; or offline, and there is no clone.
        """
        repository_key(url)
        ask = self._questions.answer
        return WorkingClone(normalize(url), self.context, author, ask, self._mirrors).bring(folder, staging)

    def shallow_clone(self, url: str, shas: Sequence[str], folder: Path) -> Repository | None:
        """Fetch these commits alone (full ids) into a new bare repository, which its user removes.

        Returns:
            It, offline; or None where there is no network access, or the server does not allow that.
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
        """Begin to ask remotes what they have before it is known whether that is needed; offline, do nothing.

        Each is asked in the background, all at the same time. `close` must be called afterwards.
        """
        if not self.context.offline:
            self._questions.foresee(urls)

    @property
    def asked(self) -> list[str]:
        """The URLs of all remotes that an unchanged run would ask, sorted: what is wanted of them is no commit id."""
        with self._lock:
            return sorted({*self._questions.wanted, *self._followed})

    def close(self) -> None:
        """End everything that still talks to a remote. The store cannot fetch any more."""
        self.context.cancellation.cancel()
        self._questions.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        self.close()
        if kind is None:
            with contextlib.suppress(EnvironmentFault):  # the run is done, and the next one asks git
                for repository in list(self._repositories.values()):
                    repository.note_written()

    def sync(self, wanted: Iterable[tuple[str, str | None]], explain: Explain = lambda _, error: error) -> None:
        """Fetch what is needed for these (URL, version) pairs, all repositories in parallel.

        A repository is fetched at most once per run; not at all when every version wanted of it is a full commit id
        that is there already, or its remote says that none of them has changed; and once more only when a version is
        asked for that the first fetch did not bring.
        Versions that stay unknown are no error here: `Repository.resolve` says so when they are used. Offline,
        only the presence of clones is checked.

        Args:
            explain: is given the URLs of a repository as they were wanted, and what is wrong with it; gives what is
                to be told. It is not asked about what this machine lacks.

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
        for url, version in wanted:
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
        self.foresee(repository.url for repository, wanted in work if self._must_be_asked(repository, wanted))
        pool = ThreadPoolExecutor(min(self.context.limits.git_threads, len(work)), thread_name_prefix="fetch")
        try:
            futures = [pool.submit(self._sync_one, repository, wanted) for repository, wanted in work]
            wait(futures, return_when=FIRST_EXCEPTION)
            outcomes = zip(work, map(_outcome, futures), strict=True)
            return [(repository, error) for (repository, _), error in outcomes if error is not None]
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
        if all(version is not None and is_commit(version) for version in wanted):
            return asked
        with self._lock:
            self._followed.add(repository.url)
        return asked or (not repository.fetched and repository.path.exists())

    def _sync_one(self, repository: Repository, wanted: set[str | None]) -> CommodoreError | None:
        start = time.perf_counter()
        try:
            with repository.lock:
                asked = self._bring_or_rebuild(repository, wanted)
            seconds = time.perf_counter() - start if asked else 0.0
            self.context.announce(StageAdvanced(FETCH_STAGE, repository.display_url, seconds))
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
        if self.context.offline:
            return False
        shas = sorted(version for version in wanted if version is not None and is_commit(version))
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


def _are_one(one: str, other: str) -> bool:
    """Whether two URLs of one key, in normal form, can mean the same repository."""
    if is_local(one) != is_local(other):
        return False
    if not is_local(one):
        return urlsplit(one).query == urlsplit(other).query
    folders = [unquote(urlsplit(url).path) if url.startswith("file:") else url for url in (one, other)]
    return not all(map(os.path.exists, folders)) or os.path.samefile(*folders)


def _outcome(future: Future[CommodoreError | None]) -> CommodoreError | None:
    return future.result()
