"""Provenance of compiled catalogs: what hydrated branches say of their dry commit, for programs that promote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from commodore.catalog import CompileMetadata
from commodore.context import Context
from commodore.errors import EnvironmentFault
from commodore.events import Warned
from commodore.git import Author, Repository, RepositoryStore
from commodore.hydrate import layout
from commodore.hydrate.committing import Committer
from commodore.hydrate.model import Reference, Writing
from commodore.hydrate.notes import NOTES, Note
from commodore.hydrate.provenance import read_commit
from commodore.hydrate.pushing import push


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
        other = read_commit(shared.path, metadata.global_config.sha, self.context)
        url = shared.display_url if urlsplit(shared.url).scheme in ("http", "https") else ""  # others are read by none
        reference = Reference(other.author, other.date, other.subject, other.body, other.sha, url)
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
