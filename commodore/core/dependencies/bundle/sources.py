"""Where packages come from: a version becomes a commit, and a commit becomes a folder in the export cache.

Asking a remote what a version is takes one connection and moves no objects. Files are fetched only for a commit that no
earlier run has exported, and then that commit alone, without its history: libraries live in some of the largest
repositories there are. A repository that is a dependency of the cluster itself has a clone, which is used instead.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, did_you_mean
from commodore.base.events import StageAdvanced, StageGrown, Warned
from commodore.base.files.sealed import read_note, write_note
from commodore.base.values.commits import is_commit
from commodore.core.dependencies.bundle.exports import Export, ExportCache
from commodore.core.dependencies.bundle.jsonnetfile import GitSource
from commodore.core.dependencies.bundle.remotes import Remote
from commodore.core.sources.git import FETCH_STAGE, Git, RemoteState, Repository, RepositoryStore

if TYPE_CHECKING:
    from commodore.core.confinement import TrustPolicy

# What is not a ref's name but still names a commit: an abbreviation, a walk along the history, `git describe`.
_EXPRESSION = re.compile(r"[0-9a-fA-F]{4,63}|.*[~^].*|.+-\d+-g[0-9a-f]{4,64}")

_VERSIONS = "library versions"

Outcome = TypeVar("Outcome")


@dataclass(frozen=True, slots=True)
class PackageRequest:
    """A git package at a version (branch, tag or commit)."""

    source: GitSource
    version: str


class LibrarySources:
    """Resolves and exports git packages for one run. Its methods may be called from one thread at a time.

    Args:
        store: the run's repositories; offline if it is.
        cache: the folder of exports, shared between working directories; need not exist.
        policy: from which hosts they may come; None for what holds without a policy file.
        reuse: whether a folder that was installed before, and looks untouched, is taken as it is.
    """

    def __init__(
        self, store: RepositoryStore, cache: Path, *, reuse: bool = True, policy: TrustPolicy | None = None
    ) -> None:
        self.reuse = reuse
        self._policy = policy
        self._store = store
        self._cache = ExportCache(cache / "exports", store.context)
        self._seen = cache / "versions"
        self._commits: dict[tuple[Remote, str], str] = {}
        self._judged: set[Remote] = set()

    @property
    def context(self) -> Context:
        """That of the repositories."""
        return self._store.context

    @property
    def offline(self) -> bool:
        """Whether there is no network access."""
        return self._store.context.offline

    def resolve(self, wanted: Iterable[PackageRequest]) -> dict[PackageRequest, str | CommodoreError]:
        """The commit (full id) of each wanted package, or why there is none. Every remote is asked once."""
        versions: dict[Remote, set[str]] = defaultdict(set)
        everything = list(wanted)
        for one in everything:
            versions[one.source.remote].add(one.version)

        def resolve_all(remote: Remote) -> dict[str, str | CommodoreError]:
            refusal = self._attempt(self._check_host, remote)
            if isinstance(refusal, CommodoreError):
                return dict.fromkeys(versions[remote], refusal)
            return {version: self._attempt(self._commit, remote, version) for version in sorted(versions[remote])}

        found = self._in_parallel(resolve_all, sorted(versions, key=lambda remote: remote.url))
        return {one: found[one.source.remote][one.version] for one in everything}

    def obtain(self, wanted: Iterable[PackageRequest]) -> dict[PackageRequest, Export | CommodoreError]:
        """The exported files of each wanted package, or why there are none; a commit in the cache needs no network."""
        self._cache.store.sweep()  # here, as nothing may be left to export for the run after one that was killed
        commits = self.resolve(wanted)
        result: dict[PackageRequest, Export | CommodoreError] = {}
        missing: dict[Remote, dict[tuple[GitSource, str], list[PackageRequest]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for one, sha in commits.items():
            if isinstance(sha, CommodoreError):
                result[one] = sha
            elif export := self._cache.look_up(one.source, sha):
                result[one] = export
            else:
                missing[one.source.remote][one.source, sha].append(one)

        def fetch(remote: Remote) -> dict[tuple[GitSource, str], Export | CommodoreError]:
            exports = self._attempt(self._export, remote, list(missing[remote]))
            return dict.fromkeys(missing[remote], exports) if isinstance(exports, CommodoreError) else exports

        for remote, exports in self._in_parallel(fetch, sorted(missing, key=lambda one: one.url)).items():
            for key, outcome in exports.items():
                result.update(dict.fromkeys(missing[remote][key], outcome))
        return {one: result[one] for one in commits}

    def copy(self, export: Export, destination: Path) -> None:
        """Copy an export's files to the new folder `destination`; a damaged or vanished cache entry is recreated.

        Raises:
            CommodoreError: that did not work either.
        """
        if self._cache.copy(export, destination):
            return
        again = self._export(export.source.remote, [(export.source, export.sha)])[export.source, export.sha]
        if isinstance(again, CommodoreError):
            raise again
        if not self._cache.copy(again, destination):
            raise EnvironmentFault(
                "CMD-JB-025",
                f"the files of {export.source.name} in {export.content} are damaged as soon as they are written",
                hint="check the disk that holds the cache",
            )

    def _commit(self, remote: Remote, version: str) -> str:
        if is_commit(version.lower()):
            return version.lower()
        if (remote, version) not in self._commits:
            self._commits[remote, version] = self._look_up_version(remote, version)
        return self._commits[remote, version]

    def _look_up_version(self, remote: Remote, version: str) -> str:
        repository = self._store.repository(remote.url)
        if self.offline:
            return self._remembered(remote, version) or self._resolve_in_clone(repository, version)
        if repository.fetched:
            return self._resolve_in_clone(repository, version)
        self._check_way(remote)
        state = repository.ask()
        sha = state.find(version)
        if sha is None and version == "master" and (sha := state.find("main")):
            self._store.context.announce(_main_instead(repository))
        if sha is None and _EXPRESSION.fullmatch(version):
            self._store.sync([(remote.url, version)])
            sha = repository.resolve(version).sha
        if sha is None:
            raise _unknown(version, repository, state)
        self._remember(remote, version, sha)
        return sha

    def _resolve_in_clone(self, repository: Repository, version: str) -> str:
        try:
            return repository.resolve(version).sha
        except (InputError, EnvironmentFault):
            if version != "master" or not repository.path.exists():
                raise
            sha = repository.resolve("main").sha
            self._store.context.announce(_main_instead(repository))
            return sha

    def _export(
        self, remote: Remote, wanted: Sequence[tuple[GitSource, str]]
    ) -> dict[tuple[GitSource, str], Export | CommodoreError]:
        repository = self._store.repository(remote.url)
        start = time.perf_counter()
        with self._cache.staging() as folder:
            shas = sorted({sha for _, sha in wanted})
            if not repository.has_commits(shas):
                self._check_way(remote)
                shallow = self._store.shallow_clone(remote.url, shas, folder / "clone")
                if shallow is None:
                    self._store.sync((remote.url, sha) for sha in shas)
                else:
                    repository, seconds = shallow, time.perf_counter() - start
                    self._store.context.announce(StageGrown(FETCH_STAGE, 1))
                    self._store.context.announce(StageAdvanced(FETCH_STAGE, repository.display_url, seconds))
            return {
                (source, sha): self._attempt(self._export_one, repository, source, sha, folder / str(index))
                for index, (source, sha) in enumerate(wanted)
            }

    def _check_host(self, remote: Remote) -> None:
        from commodore.core.confinement import DEFAULT_POLICY  # only runs that ask a remote need it

        (self._policy or DEFAULT_POLICY).require_host(remote.url, f"the Jsonnet library {remote.identity}")

    def _check_way(self, remote: Remote) -> None:
        """Refuse a remote whose server redirects to a host that the policy does not name, if it names some. Its server
        is asked once in a run.
        """
        policy, context = self._policy, self._store.context
        if policy is None or not policy.names_hosts or context.offline or remote in self._judged:
            return
        judged = replace(context, check_host=lambda url: policy.require_host(url, f"what {remote.identity} leads to"))
        Git(Path(tempfile.gettempdir()), judged).locate(remote.url)
        self._judged.add(remote)

    def _export_one(self, repository: Repository, source: GitSource, sha: str, staged: Path) -> Export:
        if not repository.has_commits([sha]):
            raise InputError(
                "CMD-JB-007",
                f"the commit {sha} was not found in {repository.display_url}",
                hint="check the version in the jsonnetfile",
            )
        repository.export_tree(sha, source.subdir, staged)
        return self._cache.add(source, sha, staged)

    def _memory(self, remote: Remote) -> Path:
        return self._seen / f"{hashlib.sha256(remote.url.encode()).hexdigest()}.json"

    def _remembered(self, remote: Remote, version: str) -> str:
        """The commit a version was when it was last asked for, for runs without network; empty if it never was."""
        sha = read_note(self._memory(remote), _VERSIONS).get(version)
        return sha if isinstance(sha, str) and is_commit(sha.lower()) else ""

    def _remember(self, remote: Remote, version: str, sha: str) -> None:
        path = self._memory(remote)
        write_note(path, {**read_note(path, _VERSIONS), version: sha}, _VERSIONS)

    def _attempt(self, step: Callable[..., Outcome], *arguments: object) -> Outcome | CommodoreError:
        """One package's failure is an answer: only who needs the package can tell whether it matters."""
        try:
            return step(*arguments)
        except CommodoreError as error:
            return error

    def _in_parallel(self, step: Callable[[Remote], Outcome], remotes: Sequence[Remote]) -> dict[Remote, Outcome]:
        if len(remotes) <= 1:
            return {remote: step(remote) for remote in remotes}
        pool = ThreadPoolExecutor(
            min(self._store.context.limits.git_threads, len(remotes)), thread_name_prefix="library"
        )
        try:
            return dict(zip(remotes, pool.map(step, remotes), strict=True))
        except BaseException:  # Ctrl-C above all
            self._store.close()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _main_instead(repository: Repository) -> Warned:
    return Warned(
        "CMD-JB-016",
        f"{repository.display_url} has no branch 'master'; its branch 'main' is taken",
        hint="write `main` in the jsonnetfile",
    )


def _unknown(version: str, repository: Repository, state: RemoteState) -> InputError:
    names = {*state.branches, *state.tags}
    return InputError(
        "CMD-JB-007",
        f"the version {version!r} was not found in {repository.display_url}",
        hint=did_you_mean(version, names) or "name a branch, a tag or a full commit id",
    )
