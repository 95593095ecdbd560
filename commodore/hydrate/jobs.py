"""What a run hydrates, and what it plans for each group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from commodore.argocd.acquiring import RepoMap
from commodore.argocd.configuration import ArgoSettings
from commodore.base.errors import InputError, did_you_mean, raise_all
from commodore.base.events import Warned
from commodore.core.sources.git import Author, GitRights, redact, repository_key
from commodore.hydrate.catalogs import Catalogs
from commodore.hydrate.edits import Edit
from commodore.hydrate.model import Group, Hydration, Writing
from commodore.hydrate.publishing import Destination
from commodore.hydrate.rendering import Rules
from commodore.hydrate.sources import Found


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which groups are hydrated; of each kind, empty for all.

    Attributes:
        names: of Applications; their whole groups count.
        branches: patterns of the branches that are written to.
        repositories: URLs of what is hydrated from or written to.
    """

    names: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()

    def takes(self, group: Group) -> bool:
        """Whether a group is among them."""
        named = not self.names or any(member.name in self.names for member in group.members)
        keys = {repository_key(url) for url in self.repositories}
        placed = not keys or bool(keys & {group.dry_key, group.key})
        return named and placed and (not self.branches or any(fnmatchcase(group.branch, one) for one in self.branches))

    def check(self, hydrations: Sequence[Hydration]) -> None:
        """See that each name, pattern and URL fits something: a mistyped one would do nothing, and say nothing.

        Raises:
            InputError: CMD-HYD-029, one does not.
        """
        names, branches = {one.name for one in hydrations}, {one.branch for one in hydrations}
        urls = {repository_key(url): redact(url) for one in hydrations for url in (one.dry_url, one.url)}
        asked = [
            (f"no Application is called {one}", did_you_mean(one, names)) for one in self.names if one not in names
        ]
        asked += [
            (f"no branch that is hydrated fits {pattern}", did_you_mean(pattern, branches))
            for pattern in self.branches
            if not any(fnmatchcase(branch, pattern) for branch in branches)
        ]
        asked += [
            (f"nothing is hydrated from or to {redact(url)}", did_you_mean(url, urls.values()))
            for url in self.repositories
            if repository_key(url) not in urls
        ]
        raise_all([InputError("CMD-HYD-029", what, hint=hint) for what, hint in asked])


EVERYTHING = Narrowing()


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be hydrated, and how.

    Attributes:
        author: of the commits; None is git's own identity.
        dry_run: push nothing.
        allow_older: push although the branch of the sources has moved meanwhile, or a newer commit is hydrated.
        dry_sha: the dry commit, instead of what revisions resolve to.
        each_commit: hydrate the dry commits since the last one, too, each by itself.
        twice: render twice, and compare.
        verify_dry: take dry commits with a good signature alone.
        hard: render all, whatever is noted.
        repo_map: folders that stand for dry repositories, whatever is committed; for dry runs.
        rights: what a push is let in by, to a URL to which Applications of some projects write.
        catalogs: compiles those of clusters; None if no entry names one.
    """

    found: Found
    settings: ArgoSettings
    rules: Rules
    writing: Writing
    only: Narrowing = EVERYTHING
    protect: tuple[str, ...] = ()
    author: Author | None = None
    sign: str | None = None
    dry_run: bool = False
    allow_older: bool = False
    lenient: bool = False
    options_in_git: bool = False
    dry_sha: str = ""
    each_commit: bool = False
    twice: bool = False
    verify_dry: bool = False
    hard: bool = False
    repo_map: RepoMap = field(default_factory=RepoMap)
    rights: Callable[[str, frozenset[str]], GitRights | None] = lambda *_: None
    catalogs: Catalogs | None = None


@dataclass(frozen=True, slots=True)
class Planned:
    """A group, and what is to be done: `hydrated`, `unaffected`, `superseded`, `waiting`, `render`, `remove` (no more
    than paths that no Application writes any more), or `abandoned` (no Application writes to the branch at all).

    Attributes:
        known: the dry commit that is noted for it; empty if there is none.
        stale: output paths that no Application writes any more.
        edits: output paths that others have edited.
        warnings: those of planning and rendering it.
        seconds: how long rendering it took, and pushing to its repository, which groups have in common.
    """

    group: Group
    decision: str
    reason: str
    inputs: str
    destination: Destination
    known: str = ""
    stale: tuple[str, ...] = ()
    edits: Mapping[str, Edit] = field(default_factory=dict)
    warnings: tuple[Warned, ...] = ()
    seconds: float = 0.0
