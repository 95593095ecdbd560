"""The job: all that a user says of a hydration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from commodore.argocd import ArgoSettings, RepoMap
from commodore.base.context import Context
from commodore.base.errors import InputError, did_you_mean, raise_all
from commodore.core.sources.git import Author, redact, repository_key
from commodore.core.tools import find_tools
from commodore.hydrate.branches.texts import Texts, read_template
from commodore.hydrate.model import Group, Hydration, Order, Publishing, SecretPolicy
from commodore.hydrate.reading.catalogs import Catalogs
from commodore.hydrate.reading.sources import Found


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A selection of groups; of each kind, empty for all.

    Attributes:
        names: of Applications; their whole groups count.
        branches: patterns of the branches that are written to.
        repositories: URLs of what is hydrated from or written to.
    """

    names: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()

    def takes(self, group: Group) -> bool:
        """Tell if a group is selected."""
        named = not self.names or any(member.name in self.names for member in group.members)
        keys = {repository_key(url) for url in self.repositories}
        placed = not keys or bool(keys & {group.dry_key, group.key})
        return (
            named
            and placed
            and (not self.branches or any(fnmatchcase(group.branch, branch) for branch in self.branches))
        )

    def check(self, hydrations: Sequence[Hydration]) -> None:
        """See that each name, pattern and URL fits something: a mistyped one would do nothing, and say nothing.

        Raises:
            InputError: CMD-HYD-029, one does not.
        """
        names, branches = {hydration.name for hydration in hydrations}, {hydration.branch for hydration in hydrations}
        urls = {
            repository_key(url): redact(url) for hydration in hydrations for url in (hydration.dry_url, hydration.url)
        }
        asked = [
            (f"no Application is called {name}", did_you_mean(name, names)) for name in self.names if name not in names
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
class Rules:
    """Rules for rendering.

    Attributes:
        secrets: what happens to Secrets with values.
        allowed: patterns for `NAMESPACE/NAME` of Secrets that may hold values.
        tools: the versions of the programs that render, by name.
        jobs: how many Applications are rendered at the same time; 0 for one on each CPU.
        set_namespace: give objects without namespace that of their Application's destination.
    """

    texts: Texts
    order: Order = "seed"
    secrets: SecretPolicy = "refuse"
    allowed: tuple[str, ...] = ()
    tools: Mapping[str, str] = field(default_factory=dict)
    jobs: int = 0
    set_namespace: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that is said of a hydration.

    Attributes:
        author: of the commits; None is git's own identity.
        dry_sha: the dry commit, instead of what revisions resolve to.
        each_commit: hydrate the dry commits since the last one, too, each by itself.
        twice: render twice, and compare.
        verify_dry: take dry commits with a good signature alone.
        hard: render all, whatever is noted.
        repo_map: folders that stand for dry repositories, whatever is committed; for dry runs.
        catalogs: compiles those of clusters; None if no entry names one.
    """

    found: Found
    settings: ArgoSettings
    rules: Rules
    publishing: Publishing = field(default_factory=Publishing)
    only: Narrowing = EVERYTHING
    protect: tuple[str, ...] = ()
    author: Author | None = None
    lenient: bool = False
    options_in_git: bool = False
    dry_sha: str = ""
    each_commit: bool = False
    twice: bool = False
    verify_dry: bool = False
    hard: bool = False
    repo_map: RepoMap = field(default_factory=RepoMap)
    catalogs: Catalogs | None = None

    @property
    def protected(self) -> tuple[str, ...]:
        """Patterns of the branches that may be written; empty for all."""
        return (*self.protect, *self.found.protect)


def renderer_versions(context: Context) -> dict[str, str]:
    """The versions of helm and kustomize, if they are there and say them."""
    tools = find_tools(context, ("helm", "kustomize"))
    return {name: tool.version for name, tool in tools.items() if tool is not None and tool.version}


def templates_of(settings: ArgoSettings, readme: Path | None, message: Path | None, configured: Texts) -> Texts:
    """The templates: of files that were named, else of `hydrate.yaml`, else of the installation, else built in.

    Args:
        configured: those of `hydrate.yaml`.

    Raises:
        InputError: CMD-HYD-025, the file of one cannot be read.
    """
    return Texts(
        read_template(readme) if readme else configured.readme or settings["sourceHydrator.readmeMessageTemplate"],
        read_template(message) if message else configured.message or settings["sourceHydrator.commitMessageTemplate"],
    )


def author_of(settings: ArgoSettings, configured: Author | None) -> Author | None:
    """The author of `hydrate.yaml`, else of the installation; None if neither says one."""
    name, email = settings["commit.author.name"], settings["commit.author.email"]
    return configured or (Author(name, email) if name and email else None)
