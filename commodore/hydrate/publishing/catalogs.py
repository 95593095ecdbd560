"""The provenance of compiled catalogs, in the form of hydrated branches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from commodore.base.context import Context
from commodore.base.errors import EnvironmentFault
from commodore.base.events import Warned
from commodore.core.sources.git import Author, Git, Repository, RepositoryStore
from commodore.hydrate.branches import layout
from commodore.hydrate.branches.destination import notes_head
from commodore.hydrate.branches.provenance import read_commit, reference_to
from commodore.hydrate.branches.records import NOTES, Note
from commodore.hydrate.publishing.committing import commit_notes, stamp_now
from commodore.hydrate.publishing.pushing import push

if TYPE_CHECKING:
    from commodore.catalog import CompileMetadata


@dataclass(frozen=True, slots=True)
class CatalogProvenance:
    """Record the provenance of a catalog. The dry commit is the tenant configuration's, which describes the cluster;
    the reference is the commit of the global configuration.

    Args:
        repositories: the folder of the clones that the catalog is compiled from.
        author: of the notes; None for git's own identity.
    """

    repositories: Path
    author: Author | None
    context: Context

    def files(self, metadata: CompileMetadata) -> Mapping[str, bytes]:
        """Return `hydrator.metadata` of the catalog.

        Raises:
            EnvironmentFault: git fails.
        """
        with RepositoryStore(self.repositories, replace(self.context, offline=True)) as store:
            tenant, shared = (store.repository(item.url) for item in (metadata.tenant_config, metadata.global_config))
        commit = read_commit(tenant.path, metadata.tenant_config.sha, self.context)
        reference = reference_to(shared, metadata.global_config.sha, self.context)
        data = layout.root_data(tenant.display_url, replace(commit, reference=reference))
        return {layout.METADATA: layout.metadata({**data, "hydrator": layout.MARK})}

    def published(self, url: str, metadata: CompileMetadata) -> None:
        """Add a note to the newest commit of the catalog with the commit of the tenant's configuration compiled last.

        A failed push of the note is a warning: the catalog is pushed, and the next run writes the note.
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
        git = Git(repository.path, self.context)
        text, words = Note(sha).text(), ""
        for _ in range(self.context.limits.hydrate_push_attempts):
            repository.fetch_ref(NOTES)
            before = notes_head(git)
            if _note_at(git, head) == text.encode().strip():
                return
            notes = commit_notes(git, {head: text}, stamp_now(git, self.author))
            answer = push(repository, {NOTES: notes}, {NOTES: before} if before else {})
            if answer.all_there:
                return
            words = answer.words.get(NOTES, "others have pushed notes at the same time")
            if "moved" not in answer.answers.values():
                break
        raise EnvironmentFault("CMD-HYD-050", f"{repository.display_url} refuses a push to {NOTES}: {words}")


def _note_at(git: Git, commit: str) -> bytes:
    """Return the note of a commit; empty if it has no note."""
    return git.run(["log", "-1", f"--notes={NOTES}", "--format=%N", commit]).stdout.strip()
