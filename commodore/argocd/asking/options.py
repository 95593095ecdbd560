"""What is looked at, and how: the options that programs and the command line share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from commodore.argocd.acquiring import Mapped, Providers, parse_repo_map
from commodore.argocd.checking import Checks
from commodore.argocd.comparing import ComparisonOptions, Considered
from commodore.argocd.configuration import Followed, Installation
from commodore.argocd.discovery import Search
from commodore.argocd.finishing import ObjectFilter
from commodore.base.context import Context
from commodore.base.errors import UsageError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a repository: a folder as it lies, or a commit.

    Attributes:
        path: the folder in which Applications are looked for. If it is in a checkout, sources may lie anywhere in it.
        revision: a branch, tag or commit of the repository around it; empty for the folder as it lies.
    """

    path: Path
    revision: str = ""

    @classmethod
    def folder(cls, path: Path | str) -> Tree:
        """A folder as it lies."""
        return cls(Path(path))

    @classmethod
    def commit(cls, repository: Path | str, revision: str) -> Tree:
        """A commit of a local repository, checked out or bare, which stays untouched."""
        return cls(Path(repository), revision)


def compared(
    target: Tree, base: str = "", folder: Path | None = None, repository: Path | None = None
) -> tuple[Tree | None, Tree]:
    """The trees of a comparison: the base, None for where the target left the default branch, and the target.

    Args:
        base: the revision to compare with, or a range such as `main..feature`, which names the target, too.
        folder: to compare with instead.
        repository: that of `base`; None for that of the target.

    Raises:
        UsageError: CMD-ARGO-023, more than two trees are named.
    """
    if base and folder is not None:
        raise _several("--base and --base-path both say what to compare with")
    if folder is not None:
        return Tree(folder), target
    first, dots, second = base.partition("..")
    if dots and target.revision:
        raise _several(f"--base {base} and --ref both say what is compared")
    if second.startswith("."):
        raise _several(f"--base {base} is not a range of two dots")
    if dots:
        first, target = first or "HEAD", replace(target, revision=second or "HEAD")
    return (Tree(repository or target.path, first) if first else None), target


def _several(message: str) -> UsageError:
    return UsageError("CMD-ARGO-023", message, hint="write --base main --ref feature, or --base main..feature")


@dataclass(frozen=True, slots=True)
class Plugins:
    """Options: what becomes of the sources of config management plugins.

    Attributes:
        plugin_policy: a file that says it.
        enable_plugins: whether programs run that the policy names.
        avp: whether the usual plugins for secrets of Vault are rendered with their placeholders.
    """

    plugin_policy: Path | None = None
    enable_plugins: bool = False
    avp: bool = False


@dataclass(frozen=True, slots=True)
class Kubernetes:
    """Options: what is known of the clusters.

    Attributes:
        kube_version, api_version: what charts are told of them.
        api_versions_from_tree: whether charts that ask are told of the APIs of CustomResourceDefinitions in the tree.
        cluster_scoped: further kinds without namespace, as `GROUP/KIND`.
    """

    kube_version: str = ""
    api_version: tuple[str, ...] = ()
    api_versions_from_tree: bool = True
    cluster_scoped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Servers:
    """Options: what is asked of servers, and how.

    Attributes:
        repo_map: folders that stand for repositories, by URL; or texts, as `--repo-map` has them.
        credentials: a file with credentials of servers.
        ambient_credentials: whether servers are asked with what git and others would use of the user's own.
        refresh: what is asked anew though the cache has it: `git`, `charts`, `remotes`, `oci`, `all`.
        providers: what is given in place of the network.
    """

    repo_map: Mapping[str, Path] | tuple[str, ...] = ()
    credentials: Path | None = None
    ambient_credentials: bool = False
    refresh: tuple[str, ...] = ()
    providers: Providers = field(default_factory=Providers)

    def mapped(self) -> list[Mapped]:
        """The folders that stand for repositories.

        Raises:
            UsageError: CMD-ARGO-020, a text has another form, or names a missing folder.
        """
        if isinstance(self.repo_map, Mapping):
            return [Mapped(url, folder) for url, folder in self.repo_map.items()]
        return parse_repo_map(self.repo_map)


@dataclass(frozen=True, slots=True)
class Effort:
    """Options: how much is done at once, how long, and again.

    Attributes:
        jobs: how many Applications are rendered at the same time; 0 for one per usable CPU.
        reuse: use what helm and kustomize wrote before, and keep what they write.
        timeout: how many seconds a source may take to render.
    """

    jobs: int = 0
    reuse: bool = True
    timeout: float = DEFAULT_LIMITS.argocd_source_seconds


@dataclass(frozen=True, slots=True)
class Reporting:
    """Options: what is reported, and how badly.

    Attributes:
        events: tell of all that Applications need where it came from (CMD-ARGO-330), which differs between runs.
        strict: make errors of diagnostics that say that something could not be honoured.
        allow_unknown: make no error of what is unknown: definitions that cannot be read or expanded, Applications that
            do not render.
    """

    events: bool = False
    strict: bool = False
    allow_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    """How a tree is looked at, in parts; the defaults are those of the commands. See `having` for single options.

    Attributes:
        select: the Applications that count, as `--select` has it.
        context: who listens, limits, whether there is network access, and what cancels.
    """

    search: Search = field(default_factory=Search)
    installation: Installation = field(default_factory=Installation)
    select: str = ""
    followed: Followed = field(default_factory=Followed)
    kubernetes: Kubernetes = field(default_factory=Kubernetes)
    plugins: Plugins = field(default_factory=Plugins)
    servers: Servers = field(default_factory=Servers)
    effort: Effort = field(default_factory=Effort)
    shown: ObjectFilter = field(default_factory=ObjectFilter)
    considered: Considered = field(default_factory=Considered)
    comparison: ComparisonOptions = field(default_factory=ComparisonOptions)
    checks: Checks = field(default_factory=Checks)
    reporting: Reporting = field(default_factory=Reporting)
    context: Context = field(default_factory=lambda: Context(ignore, DEFAULT_LIMITS))

    def having(self, **values: Any) -> Options:
        """The same with single options by the names that they have on the command line, such as `kube_version`.

        Raises:
            TypeError: there is no such option.
        """
        changed: dict[str, Any] = {}
        for part in fields(self):
            before = getattr(self, part.name)
            if part.name in values:
                changed[part.name] = values.pop(part.name)
            elif part.name in _PARTS:
                known = {option.name for option in fields(before)} & values.keys()
                changed[part.name] = replace(before, **{name: values.pop(name) for name in known})
        if values:
            raise TypeError(f"unknown options: {', '.join(values)}")
        return replace(self, **changed)

    @classmethod
    def names(cls) -> frozenset[str]:
        """The names of all single options."""
        parts = [getattr(cls(), name) for name in _PARTS]
        return frozenset(option.name for part in (*parts, cls()) for option in fields(part)) - {*_PARTS, "context"}


_PARTS = frozenset(part.name for part in fields(Options) if part.name not in ("context", "installation", "select"))
"""The parts of which single options have a name of their own."""
