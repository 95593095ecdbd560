"""The job: the options of a hydration."""

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
from commodore.hydrate.model import Group, Hydration, Order, PublishRules, SecretPolicy
from commodore.hydrate.reading.catalogs import Catalogs
from commodore.hydrate.reading.sources import Sources


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of groups; an empty field selects all.

    Attributes:
        names: of Applications; whole groups are selected.
        branches: patterns of destination branches.
        repositories: URLs of dry and destination repositories.
    """

    names: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()

    def takes(self, group: Group) -> bool:
        """Return True if a group is selected."""
        named = not self.names or any(member.name in self.names for member in group.members)
        keys = {repository_key(url) for url in self.repositories}
        placed = not keys or bool(keys & {group.dry_key, group.key})
        return (
            named
            and placed
            and (not self.branches or any(fnmatchcase(group.branch, branch) for branch in self.branches))
        )

    def check(self, hydrations: Sequence[Hydration]) -> None:
        """Check that each name, pattern and URL matches something, as a typo would silently select nothing.

        Raises:
            InputError: CMD-HYD-029, a name, pattern or URL has no match.
        """
        names, branches = {hydration.name for hydration in hydrations}, {hydration.branch for hydration in hydrations}
        urls = {
            repository_key(url): redact(url) for hydration in hydrations for url in (hydration.dry_url, hydration.url)
        }
        asked = [(f"unknown Application {name}", did_you_mean(name, names)) for name in self.names if name not in names]
        asked += [
            (f"no hydrated branch matches {pattern}", did_you_mean(pattern, branches))
            for pattern in self.branches
            if not any(fnmatchcase(branch, pattern) for branch in branches)
        ]
        asked += [
            (f"nothing is hydrated from or to {redact(url)}", did_you_mean(url, urls.values()))
            for url in self.repositories
            if repository_key(url) not in urls
        ]
        raise_all([InputError("CMD-HYD-029", what, hint=hint) for what, hint in asked])


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for rendering.

    Attributes:
        secrets: the handling of Secrets with values.
        allowed: patterns for `NAMESPACE/NAME` of Secrets that may hold values.
        tools: the versions of the rendering programs by name.
        jobs: the number of Applications rendered concurrently; 0 for one per CPU.
        set_namespace: set the namespace of the Application's destination on objects without namespace.
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
    """The options of a hydration.

    Attributes:
        author: of the commits; None for git's own identity.
        dry_sha: the dry commit; empty to resolve revisions.
        each_commit: hydrate each dry commit since the last one separately.
        twice: render twice, and compare.
        verify_dry: accept only dry commits with a good signature.
        hard: render everything, ignoring notes.
        repo_map: folders to read instead of dry repositories, including uncommitted files; for dry runs.
        catalogs: compiles the catalogs of clusters; None if no entry names a cluster.
    """

    sources: Sources
    settings: ArgoSettings
    rules: Rules
    publishing: PublishRules = field(default_factory=PublishRules)
    only: Selection = EVERYTHING
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
        """Patterns of branches that may be written; empty for all."""
        return (*self.protect, *self.sources.protect)


def renderer_versions(context: Context) -> dict[str, str]:
    """Return the versions of helm and kustomize, if installed and known."""
    tools = find_tools(context, ("helm", "kustomize"))
    return {name: tool.version for name, tool in tools.items() if tool is not None and tool.version}


def templates_of(settings: ArgoSettings, readme: Path | None, message: Path | None, configured: Texts) -> Texts:
    """Return the templates: of the given files, else of `hydrate.yaml`, else of the installation, else built-in.

    Args:
        configured: the templates of `hydrate.yaml`.

    Raises:
        InputError: CMD-HYD-025, a file cannot be read.
    """
    return Texts(
        read_template(readme) if readme else configured.readme or settings["sourceHydrator.readmeMessageTemplate"],
        read_template(message) if message else configured.message or settings["sourceHydrator.commitMessageTemplate"],
    )


def author_of(settings: ArgoSettings, configured: Author | None) -> Author | None:
    """Return the author of `hydrate.yaml`, else of the installation, else None."""
    name, email = settings["commit.author.name"], settings["commit.author.email"]
    return configured or (Author(name, email) if name and email else None)
