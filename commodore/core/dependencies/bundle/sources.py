"""Sources of packages: resolve versions to commits, and export commits to the export cache.

Resolving a version takes one connection and transfers no objects. Files are fetched only for a commit that no earlier
run has exported, and then only that commit, without its history: some libraries are in very large repositories. For a
repository that is a dependency of the cluster itself, its clone is used instead.
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

# Names of commits that are not refs: abbreviations, revisions with `~` or `^`, output of `git describe`.
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
        store: the run's repositories, which decide if it is offline.
        cache: the folder of exports, shared between working directories; it need not exist.
        policy: the allowed hosts; None for the rules without a policy file.
        reuse: reuse an installed folder that appears unchanged.
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
        """The context of the repositories."""
        return self._store.context

    @property
    def offline(self) -> bool:
        """True without network access."""
        return self._store.context.offline

    def resolve(self, requests: Iterable[PackageRequest]) -> dict[PackageRequest, str | CommodoreError]:
        """Return the commit (full id) of each package, or the error. Every remote is queried once."""
        versions: dict[Remote, set[str]] = defaultdict(set)
        requests = list(requests)
        for request in requests:
            versions[request.source.remote].add(request.version)

        def resolve_all(remote: Remote) -> dict[str, str | CommodoreError]:
            refusal = self._attempt(self._check_host, remote)
            if isinstance(refusal, CommodoreError):
                return dict.fromkeys(versions[remote], refusal)
            return {version: self._attempt(self._commit, remote, version) for version in sorted(versions[remote])}

        commits = self._in_parallel(resolve_all, sorted(versions, key=lambda remote: remote.url))
        return {request: commits[request.source.remote][request.version] for request in requests}

    def obtain(self, requests: Iterable[PackageRequest]) -> dict[PackageRequest, Export | CommodoreError]:
        """Return the exported files of each package, or the error; a commit in the cache needs no network."""
        self._cache.store.sweep()  # here, because a run after a killed one may have nothing to export
        commits = self.resolve(requests)
        result: dict[PackageRequest, Export | CommodoreError] = {}
        missing: dict[Remote, dict[tuple[GitSource, str], list[PackageRequest]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for request, sha in commits.items():
            if isinstance(sha, CommodoreError):
                result[request] = sha
            elif export := self._cache.look_up(request.source, sha):
                result[request] = export
            else:
                missing[request.source.remote][request.source, sha].append(request)

        def fetch(remote: Remote) -> dict[tuple[GitSource, str], Export | CommodoreError]:
            exports = self._attempt(self._export, remote, list(missing[remote]))
            return dict.fromkeys(missing[remote], exports) if isinstance(exports, CommodoreError) else exports

        for remote, exports in self._in_parallel(fetch, sorted(missing, key=lambda remote: remote.url)).items():
            for key, outcome in exports.items():
                result.update(dict.fromkeys(missing[remote][key], outcome))
        return {request: result[request] for request in commits}

    def copy(self, export: Export, destination: Path) -> None:
        """Copy an export's files to the new folder `destination`; a damaged or missing cache entry is recreated.

        Raises:
            CommodoreError: recreating it failed, too.
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
        self, remote: Remote, exports: Sequence[tuple[GitSource, str]]
    ) -> dict[tuple[GitSource, str], Export | CommodoreError]:
        repository = self._store.repository(remote.url)
        start = time.perf_counter()
        with self._cache.staging() as folder:
            shas = sorted({sha for _, sha in exports})
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
                for index, (source, sha) in enumerate(exports)
            }

    def _check_host(self, remote: Remote) -> None:
        from commodore.core.confinement import DEFAULT_POLICY  # only runs that contact a remote need it

        (self._policy or DEFAULT_POLICY).require_host(remote.url, f"the Jsonnet library {remote.identity}")

    def _check_way(self, remote: Remote) -> None:
        """Refuse a remote whose server redirects to a host outside of the policy, if the policy lists hosts. The server
        is queried once per run.
        """
        policy, context = self._policy, self._store.context
        if policy is None or not policy.names_hosts or context.offline or remote in self._judged:
            return
        judged = replace(context, check_host=lambda url: policy.require_host(url, f"the redirect of {remote.identity}"))
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
        """Return the last known commit of a version, for runs without network; empty if it was never resolved."""
        sha = read_note(self._memory(remote), _VERSIONS).get(version)
        return sha if isinstance(sha, str) and is_commit(sha.lower()) else ""

    def _remember(self, remote: Remote, version: str, sha: str) -> None:
        path = self._memory(remote)
        write_note(path, {**read_note(path, _VERSIONS), version: sha}, _VERSIONS)

    def _attempt(self, step: Callable[..., Outcome], *arguments: object) -> Outcome | CommodoreError:
        """Return the result of a step, or its error: only the user of the package can decide if the error matters."""
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
        f"{repository.display_url} has no branch 'master'; its branch 'main' is used",
        hint="write `main` in the jsonnetfile",
    )


def _unknown(version: str, repository: Repository, state: RemoteState) -> InputError:
    names = {*state.branches, *state.tags}
    return InputError(
        "CMD-JB-007",
        f"the version {version!r} was not found in {repository.display_url}",
        hint=did_you_mean(version, names) or "name a branch, a tag or a full commit id",
    )
