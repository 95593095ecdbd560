"""Compiled catalogs: as what is hydrated, and with what hydrated branches say of their dry commit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault
from commodore.base.events import Warned
from commodore.base.files.workspace import Workspace
from commodore.base.names import check_name
from commodore.core.lieutenant import Cluster, ClusterSource
from commodore.core.sources.git import Author, Repository, RepositoryStore
from commodore.hydrate import layout
from commodore.hydrate.committing import Committer
from commodore.hydrate.model import Reference, Writing
from commodore.hydrate.notes import NOTES, Note
from commodore.hydrate.provenance import read_commit
from commodore.hydrate.pushing import push

if TYPE_CHECKING:
    from commodore.catalog import CompileMetadata


@dataclass(frozen=True, slots=True)
class Catalogs:
    """Compiles the catalogs of clusters, as `catalog compile` does, and pushes none.

    Args:
        root: a folder with a working directory for each cluster, which is kept.
        source: who knows the cluster of a working directory.
        processes: how many workers render; 0 for one per CPU.
    """

    root: Path
    source: Callable[[Workspace], ClusterSource]
    context: Context
    processes: int = 0
    _one: threading.Lock = field(default_factory=threading.Lock)

    def cluster(self, name: str) -> Cluster:
        """The cluster with this id.

        Raises:
            CommodoreError: it is not known.
        """
        return self.source(self._workspace(name)).load(name, self.context)

    def objects(self, name: str, tenant_sha: str, global_sha: str, context: Context) -> list[dict[str, Any]]:
        """The objects of a cluster's catalog at commits of the tenant's and of the global configuration.

        Raises:
            CommodoreError: it cannot be compiled.
        """
        from commodore.catalog import objects_of, read_folder
        from commodore.catalog.pipeline import CatalogCompile, run_compile
        from commodore.catalog.stages import CompileOptions

        workspace = self._workspace(name)
        request = CatalogCompile(
            name,
            workspace,
            offline=context.offline,
            global_revision=global_sha or None,
            tenant_revision=tenant_sha,
            options=CompileOptions(processes=self.processes),
        )
        with self._one:  # a compile uses all CPUs by itself
            run_compile(request, self.source(workspace), lambda _: False, context)
            files = read_folder(workspace.manifests, context) if workspace.manifests.is_dir() else {}
        found = [one.content for one in objects_of(files, {})]
        references = workspace.refs.is_dir() and any(workspace.refs.iterdir())
        if references or not all(isinstance(one, dict) for one in found):
            what = "files for references" if references else "files that hold no objects"
            context.announce(
                Warned(
                    "CMD-HYD-038",
                    f"the catalog of {name} has {what}, which are not on hydrated branches",
                    hint="let the cluster take the catalog itself if it needs them",
                )
            )
        return [one for one in found if isinstance(one, dict)]

    def _workspace(self, name: str) -> Workspace:
        return Workspace.at(self.root / check_name(name, "cluster"))


def reference_to(repository: Repository, sha: str, context: Context) -> Reference:
    """A commit of the global configuration as the reference of a catalog.

    Raises:
        EnvironmentFault: git fails.
    """
    commit = read_commit(repository.path, sha, context)
    url = repository.display_url if urlsplit(repository.url).scheme in ("http", "https") else ""  # others read by none
    return Reference(commit.author, commit.date, commit.subject, commit.body, commit.sha, url)


@dataclass(frozen=True, slots=True)
class CatalogProvenance:
    """Writes what a catalog was made from. The dry commit is that of the tenant's configuration, which says what the
    cluster is; the reference is the commit of the global configuration.

    Args:
        repositories: where the clones are that the catalog is compiled from.
        author: of the notes; None for git's own identity.
    """

    repositories: Path
    author: Author | None
    context: Context

    def files(self, metadata: CompileMetadata) -> Mapping[str, bytes]:
        """`hydrator.metadata` of the catalog.

        Raises:
            EnvironmentFault: git fails.
        """
        with RepositoryStore(self.repositories, replace(self.context, offline=True)) as store:
            tenant, shared = (store.repository(one.url) for one in (metadata.tenant_config, metadata.global_config))
        commit = read_commit(tenant.path, metadata.tenant_config.sha, self.context)
        reference = reference_to(shared, metadata.global_config.sha, self.context)
        data = layout.root_data(tenant.display_url, replace(commit, reference=reference))
        return {layout.METADATA: layout.metadata({**data, "hydrator": layout.MARK})}

    def published(self, url: str, metadata: CompileMetadata) -> None:
        """Note at the newest commit of the catalog which commit of the tenant's configuration was looked at last.

        A note that cannot be pushed is a warning: the catalog is there, and the next run writes it.
        """
        try:
            with RepositoryStore(self.repositories, self.context) as store:
                store.sync([(url, None)])
                self._note(store.repository(url), metadata.tenant_config.sha)
        except EnvironmentFault as error:
            message = f"the note of the catalog was not pushed: {error.message}"
            self.context.announce(Warned("CMD-HYD-036", message, hint="the next run writes it"))

    def _note(self, repository: Repository, sha: str) -> None:
        head = repository.refs().branches[repository.default_branch()]
        committer = Committer(repository.path, self.context, Writing())
        text, words = Note(sha).text(), ""
        for _ in range(self.context.limits.hydrate_push_attempts):
            repository.fetch_ref(NOTES)
            before = committer.notes_head()
            if committer.note_of(head) == text.encode().strip():
                return
            notes = committer.note({head: text}, committer.stamp_now(self.author))
            answer = push(repository, {NOTES: notes}, {NOTES: before} if before else {})
            if answer.all_there:
                return
            words = answer.words.get(NOTES, "others have pushed notes at the same time")
            if "moved" not in answer.answers.values():
                break
        raise EnvironmentFault("CMD-HYD-050", f"{repository.display_url} refuses a push to {NOTES}: {words}")
