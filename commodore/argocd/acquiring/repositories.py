"""The files of the repositories of sources."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from commodore.argocd.acquiring.artefacts import SCHEME, Artefacts
from commodore.argocd.acquiring.credentials import HINT
from commodore.argocd.acquiring.repo_map import RepoMap, repository_identity
from commodore.argocd.acquiring.tags import is_range, newest_tag
from commodore.argocd.configuration import Profile
from commodore.argocd.model.sources import Source
from commodore.argocd.trees import OwnRevisions, Tree, commit_tree, folder_tree
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Diagnostics
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError, PolicyError
from commodore.base.events import Obtained
from commodore.base.files.workspace import guard_disk, make_private
from commodore.base.printable import printable
from commodore.core.results.caches import argocd_repository_cache, refused_write, usable
from commodore.core.sources.git import RepositoryStore, normalize, redact

_REFUSED = re.compile(r"(?i)^(-|[a-z0-9+.-]*::|file:|git:|/|\.)|[\x00-\x1f\x7f]")
_LONGEST_REVISION = 255
_OF_TREE = (
    "fetch the revision into the checkout, or use the tree for all revisions "
    "with `self-revisions: all` in .commodore.yaml"
)


@dataclass(frozen=True, slots=True)
class _Obtained:
    """The files of a repository at a revision.

    Attributes:
        way: the origin, see the event `Obtained`.
        note: a diagnostic about them.
    """

    tree: Tree
    way: str
    note: Diagnostic | None = None


@dataclass
class Repositories:
    """Obtains the files of repositories at revisions, each once per run.

    Args:
        scratch: a folder of this run, in which commits are extracted.
        own: trees that replace their repositories, by `repository_identity`, at revisions that `Tree.stands` covers.
        diagnostics: collects revisions that a tree replaces, and revisions that may be outdated.
    """

    context: Context
    repo_map: RepoMap
    scratch: Path
    own: Mapping[str, Tree] = field(default_factory=dict)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    _trees: dict[tuple[str, str], _Obtained] = field(default_factory=dict)
    _shared: dict[str, Tree] = field(default_factory=dict)
    _reported: set[tuple[str, str]] = field(default_factory=set)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _store: RepositoryStore | None = None

    def tree(self, url: str, revision: str, prefix: str = "") -> Tree:
        """Return the files of a repository.

        A mapped repository is its folder, at every revision. That of a tree is the tree, or a commit of the local
        repository. Others are fetched into the cache. A range of versions is the newest matching tag, if there is one.

        Args:
            prefix: the prefix of tags that are versions.

        Raises:
            InputError: CMD-ARGO-313, the revision is unknown.
            EnvironmentFault: CMD-ARGO-310, offline and not in the cache; CMD-ARGO-311, it cannot be fetched;
                CMD-ARGO-312, it requires credentials.
            PolicyError: CMD-ARGO-320, the URL or the revision is refused; CMD-CONF-011, the server is link-local.
        """
        with self._lock:
            key = (repository_identity(url), f"{prefix}\0{revision}" if prefix else revision)
            if key not in self._trees:
                self._trees[key] = self._find(url, revision, prefix)
            obtained = self._trees[key]
            if key not in self._reported:
                self._reported.add(key)
                self.context.announce(Obtained(redact(url), revision, obtained.tree.revision, obtained.way))
                if obtained.note is not None:
                    self.diagnostics.add(obtained.note)
            return obtained.tree

    def report_to(self, diagnostics: Diagnostics) -> None:
        """Report to another collector from now on, including repositories that were reported before."""
        with self._lock:
            self.diagnostics = diagnostics
            self._reported.clear()

    def of(self, source: Source, profile: Profile) -> Tree:
        """Return the files of the repository of a source, see `tree`.

        Args:
            profile: the version of Argo CD, which may not support prefixes of tags.
        """
        return self.tree(source.repo_url, source.revision, _prefix(source, profile))

    def is_local(self, source: Source, profile: Profile) -> bool:
        """Check if `of` returns the files of a source without fetching: they are mapped, or those of the tree under
        analysis or of its local repository.
        """
        if self.repo_map.find(source.repo_url) is not None:
            return True
        own = self.own.get(repository_identity(source.repo_url))
        return own is not None and bool(
            own.stands is None
            or own.stands.cover(source.revision)
            or self._own_commit(own.stands, source.revision, _prefix(source, profile))
        )

    def ignored(self) -> frozenset[str]:
        """Return the absolute paths that git ignores in the checkouts that replace repositories."""
        with self._lock:
            trees = [*self.own.values(), *self._shared.values(), *(obtained.tree for obtained in self._trees.values())]
        unique = {id(tree.ignored): tree.ignored for tree in trees if tree.ignored is not None}
        paths = [ignored.paths() for ignored in unique.values()]
        return frozenset().union(*paths) if len(paths) != 1 else paths[0]

    def close(self) -> None:
        """Close connections to remotes."""
        if self._store is not None:
            self._store.close()

    def _find(self, url: str, revision: str, prefix: str) -> _Obtained:
        # By precedence: the map, the tree under analysis, providers of the caller, registries, cache and network.
        mapped = self.repo_map.find(url)
        if mapped is not None and not mapped.revision:
            identity = repository_identity(url)
            if identity not in self._shared:
                self._shared[identity] = folder_tree(mapped.folder, self.context)
            return _Obtained(self._shared[identity], "map")
        if mapped is not None:
            return replace(self._fetched(str(mapped.folder), mapped.revision), way="map")
        own = self.own.get(repository_identity(url))
        if own is not None and (there := self._own_tree(own, url, revision, prefix)) is not None:
            return there
        git = self.repo_map.providers.git
        commit = git.resolve(url, revision) if git is not None else None
        if git is not None and commit is not None:
            return _Obtained(Tree(git.tree(url, commit).resolve(), commit, redact(url)), "caller")
        if url.startswith(SCHEME):
            return _Obtained(*self._artefacts.tree(url, revision))
        if _REFUSED.search(url):
            raise _refused(url)
        return self._fetched(url, revision, prefix)

    def _own_tree(self, own: Tree, url: str, revision: str, prefix: str) -> _Obtained | None:
        """Return the tree, or another commit of its local repository; None if that does not have the revision."""
        stands = own.stands
        if stands is not None and not stands.cover(revision):
            commit = self._own_commit(stands, revision, prefix)
            if not commit:
                return None
            if stands.names or commit != own.revision:
                folder = self.scratch / f"tree-{len(self._trees)}"
                return _Obtained(commit_tree(stands.repository, commit, folder, redact(url), self.context), "local")
        if revision in ("", "HEAD"):
            return _Obtained(own, "tree")
        note = Diagnostic(
            "CMD-ARGO-307",
            f"the revision {printable(revision)!r} of {redact(url)} is read from the tree under analysis"
            f"{f', which is at {own.revision[:10]}' if own.revision else ''}",
            "info",
        )
        return _Obtained(own, "tree", note)

    def _own_commit(self, stands: OwnRevisions, revision: str, prefix: str) -> str:
        """Return the commit of a revision in the local repository; empty if it does not have it."""
        if is_range(revision, prefix) and (tag := newest_tag(stands.tags(self.context), revision, prefix)):
            revision = f"refs/tags/{tag}"
        return stands.commit(revision, self.context)

    @cached_property
    def _artefacts(self) -> Artefacts:
        return Artefacts(self.context, self.scratch, self.repo_map.providers)

    def _fetched(self, url: str, revision: str, prefix: str = "") -> _Obtained:
        if revision.startswith("-") or len(revision) > _LONGEST_REVISION or not revision.isprintable():
            raise PolicyError(
                "CMD-ARGO-320",
                f"the revision {printable(revision[:80])!r} is refused",
                hint="a revision is a branch, a tag, a commit or a range of versions",
            )
        if self._store is None:
            cache = usable(argocd_repository_cache())
            if refused_write(cache):
                cache = self.scratch / "clones"
            with guard_disk(cache):
                make_private(cache)
            self._store = RepositoryStore(cache, self.context)
        requested = None if revision in ("", "HEAD") else revision
        try:
            if requested is not None and is_range(requested, prefix):
                self._store.sync([(url, None)])
                tags = self._store.repository(url).refs().tags
                requested = newest_tag(tags, requested, prefix) or requested
            self._store.sync([(url, requested)])
            repository = self._store.repository(url)
            commit = repository.resolve(requested)
        except CommodoreError as error:
            raise self._explained(error, url, revision) from error
        note = None
        if self.context.offline and requested != commit.sha:
            note = Diagnostic(
                "CMD-ARGO-321",
                f"the revision {printable(revision) or 'HEAD'!r} of {redact(url)} is that of the last fetch",
                "warning",
                "run without --offline to fetch it again",
            )
        folder = self.scratch / f"tree-{len(self._trees)}"
        tree = commit_tree(repository.path, commit.sha, folder, redact(url), self.context)
        return _Obtained(tree, "fetched" if repository.fetched else "cache", note)

    def _lacks_key(self, url: str) -> bool:
        """Check if a repository is accessed by SSH without a key."""
        access = self.context.access
        is_ssh = normalize(url).startswith("ssh://")
        return (
            is_ssh
            and access is not None
            and access.variables().get("GIT_SSH_COMMAND") == "false"
            and not access.rights(url)
        )

    def _explained(self, error: CommodoreError, url: str, revision: str) -> CommodoreError:
        shown = redact(url)
        own = _OF_TREE if repository_identity(url) in self.own else ""
        if error.code in ("CMD-GIT-010", "CMD-GIT-011"):
            return _refused(url)
        if isinstance(error, PolicyError):
            return error
        if isinstance(error, EnvironmentFault):
            if self.context.offline:
                return EnvironmentFault(
                    "CMD-ARGO-310",
                    f"{shown} at {revision or 'HEAD'} is not in the cache, and nothing is fetched offline",
                    hint=own or "run once without --offline, or map it with --repo-map",
                )
            if error.code == "CMD-GIT-004" or self._lacks_key(url):
                return EnvironmentFault(
                    "CMD-ARGO-312", f"{shown} requires credentials: {error.message}", hint=own or HINT
                )
            return EnvironmentFault(
                "CMD-ARGO-311",
                f"{shown} cannot be fetched: {error.message}",
                hint=own or error.hint or "check the URL and the network, or map it with --repo-map",
            )
        return InputError(
            "CMD-ARGO-313",
            f"the revision {printable(revision) or 'HEAD'!r} of {shown} is unknown: {error.message}",
            hint=own or error.hint or "name a branch, a tag or a commit",
        )


def _prefix(source: Source, profile: Profile) -> str:
    return source.tag_prefix if profile.has_tag_prefixes else ""


def _refused(url: str) -> PolicyError:
    return PolicyError(
        "CMD-ARGO-320",
        f"the repository URL {printable(redact(url))!r} is refused",
        hint="use https:// or ssh://, or map the URL to a folder with --repo-map",
    )
