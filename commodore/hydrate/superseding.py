"""Whether a commit is still wanted: its sources may have moved on while it was made, or before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from commodore.base.errors import EnvironmentFault
from commodore.base.events import Warned
from commodore.core.sources.git import Git, RemoteState, Repository, RepositoryStore
from commodore.hydrate.model import CommitRequest


@dataclass(frozen=True, slots=True)
class Superseding:
    """Says which commits are not wanted any more.

    Args:
        store: the clones of the dry repositories.
        allow_older: all are wanted.
    """

    store: RepositoryStore
    allow_older: bool = False

    def reasons(self, requests: Sequence[tuple[CommitRequest, str]]) -> list[str]:
        """Why each commit is not wanted; empty for those that are. Each dry repository is asked once.

        Args:
            requests: each with the dry commit that is noted for its group, empty if there is none.

        Raises:
            EnvironmentFault: a dry repository does not answer.
        """
        if self.allow_older:
            return [""] * len(requests)
        asked: dict[str, RemoteState] = {}
        return [self._reason(request, known, asked) for request, known in requests]

    def _reason(self, request: CommitRequest, known: str, asked: dict[str, RemoteState]) -> str:
        repository = self.store.repository(request.scope.dry_url)
        if request.follows:
            tips = self._state(repository, asked).branches
            moved = [name for name in request.follows if tips.get(name) != request.commit.sha]
            return _moved(repository, request.commit.sha, moved[0], tips.get(moved[0], "")) if moved else ""
        if known and known != request.commit.sha and is_older(repository, request.commit.sha, known):
            return f"it is hydrated from {known[:7]}, which is newer; add --allow-older to go back"
        return ""

    def _state(self, repository: Repository, asked: dict[str, RemoteState]) -> RemoteState:
        if repository.key not in asked:
            asked[repository.key] = repository.ask_again()
        return asked[repository.key]


def _moved(repository: Repository, sha: str, branch: str, tip: str) -> str:
    """Why a commit is not wanted whose branch is at `tip` by now; empty if it is gone."""
    if tip and is_older(repository, sha, tip):
        return f"the branch {branch} of the sources has moved meanwhile; run again"
    what = "was rewritten" if tip else "is gone"
    repository.context.announce(
        Warned(
            "CMD-HYD-037",
            f"the branch {branch} of {repository.display_url} {what} while {sha[:7]} was hydrated from it",
            hint="nothing of that commit was pushed; run again if the branch is right",
        )
    )
    return f"the branch {branch} of the sources {what} meanwhile"


def is_older(repository: Repository, sha: str, known: str) -> bool:
    """Whether a commit is an ancestor of another one; not if one of both is nowhere to be had."""
    try:
        repository.ensure_present()
        if not all(repository.has_commits([one]) or repository.fetch_commit(one) for one in (sha, known)):
            return False
    except EnvironmentFault:
        return False
    git = Git(repository.path, repository.context)
    return git.run(["merge-base", "--is-ancestor", sha, known], check=False).returncode == 0
