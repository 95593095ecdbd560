"""The options of operations, shared by the API and the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from commodore.argocd.acquiring import MappedRepository, Providers, parse_repo_map
from commodore.argocd.checking import Checks
from commodore.argocd.comparing import ChangedFileFilter, ComparisonOptions
from commodore.argocd.configuration import Installation, VersionOptions
from commodore.argocd.discovery import Search
from commodore.argocd.finishing import ObjectFilter
from commodore.base.context import Context
from commodore.base.errors import UsageError
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a repository: a folder, or a commit.

    Attributes:
        path: the folder that is searched for Applications. In a checkout, sources may be anywhere in it.
        revision: a branch, tag or commit of the repository around it; empty for the files of the folder.
    """

    path: Path
    revision: str = ""

    @classmethod
    def folder(cls, path: Path | str) -> Tree:
        """Return the tree of a folder."""
        return cls(Path(path))

    @classmethod
    def commit(cls, repository: Path | str, revision: str) -> Tree:
        """Return the tree of a commit of a local repository, which may be bare. It is only read."""
        return cls(Path(repository), revision)


def compared(
    target: Tree, base: str = "", folder: Path | None = None, repository: Path | None = None
) -> tuple[Tree | None, Tree]:
    """Return the trees of a comparison: the base, None for the merge base with the default branch, and the target.

    Args:
        base: the revision to compare with, or a range such as `main..feature`, which includes the target.
        folder: the folder to compare with instead.
        repository: the repository of `base`; None for that of the target.

    Raises:
        UsageError: CMD-ARGO-023, more than two trees are named.
    """
    if base and folder is not None:
        raise _several("--base and --base-path both set the base")
    if folder is not None:
        return Tree(folder), target
    first, dots, second = base.partition("..")
    if dots and target.revision:
        raise _several(f"--base {base} and --ref both set the target")
    if second.startswith("."):
        raise _several(f"--base {base}: expected BASE..TARGET")
    if dots:
        first, target = first or "HEAD", replace(target, revision=second or "HEAD")
    return (Tree(repository or target.path, first) if first else None), target


def _several(message: str) -> UsageError:
    return UsageError("CMD-ARGO-023", message, hint="write --base main --ref feature, or --base main..feature")


@dataclass(frozen=True, slots=True)
class Plugins:
    """Options: rendering sources of config management plugins.

    Attributes:
        plugin_policy: the policy file.
        enable_plugins: True to run the programs of the policy.
        avp: True to render the usual plugins for secrets of Vault with their placeholders.
    """

    plugin_policy: Path | None = None
    enable_plugins: bool = False
    avp: bool = False


@dataclass(frozen=True, slots=True)
class Kubernetes:
    """Options: capabilities of the clusters.

    Attributes:
        kube_version, api_version: the version and the APIs of Kubernetes that charts see.
        api_versions_from_tree: True to add the APIs of CustomResourceDefinitions in the tree.
        cluster_scoped: further cluster-scoped kinds, as `GROUP/KIND`.
    """

    kube_version: str = ""
    api_version: tuple[str, ...] = ()
    api_versions_from_tree: bool = True
    cluster_scoped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Servers:
    """Options: access to servers.

    Attributes:
        repo_map: folders that replace repositories, by URL; or values of `--repo-map`.
        credentials: a file with credentials of servers.
        ambient_credentials: True to use the user's own credentials of git and other tools.
        refresh: inputs that are fetched even if they are cached: `git`, `charts`, `remotes`, `oci`, `all`.
        providers: providers that replace the network.
    """

    repo_map: Mapping[str, Path] | tuple[str, ...] = ()
    credentials: Path | None = None
    ambient_credentials: bool = False
    refresh: tuple[str, ...] = ()
    providers: Providers = field(default_factory=Providers)

    def mapped(self) -> list[MappedRepository]:
        """Return the folders that replace repositories.

        Raises:
            UsageError: CMD-ARGO-020, a text is invalid, or has a missing folder.
        """
        if isinstance(self.repo_map, Mapping):
            return [MappedRepository(url, folder) for url, folder in self.repo_map.items()]
        return parse_repo_map(self.repo_map)


@dataclass(frozen=True, slots=True)
class Execution:
    """Options: parallelism, timeouts and the cache.

    Attributes:
        jobs: the number of Applications rendered in parallel; 0 for one per usable CPU.
        reuse: True to cache the output of helm and kustomize.
        timeout: the time limit for rendering a source, in seconds.
    """

    jobs: int = 0
    reuse: bool = True
    timeout: float = DEFAULT_LIMITS.argocd_source_seconds


@dataclass(frozen=True, slots=True)
class Reporting:
    """Options: diagnostics and their severity.

    Attributes:
        events: report the origin of every input of Applications (CMD-ARGO-330), which differs between runs.
        strict: report unsupported or ignored things as errors.
        allow_unknown: do not report unknown results as errors: definitions that cannot be read or expanded,
            Applications that do not render.
    """

    events: bool = False
    strict: bool = False
    allow_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    """The options of an operation, in groups. The defaults are those of the commands. See `having` to set options.

    Attributes:
        select: an expression of `--select` for Applications.
        context: listeners, limits, network access and cancellation.
    """

    search: Search = field(default_factory=Search)
    installation: Installation = field(default_factory=Installation)
    select: str = ""
    followed: VersionOptions = field(default_factory=VersionOptions)
    kubernetes: Kubernetes = field(default_factory=Kubernetes)
    plugins: Plugins = field(default_factory=Plugins)
    servers: Servers = field(default_factory=Servers)
    execution: Execution = field(default_factory=Execution)
    shown: ObjectFilter = field(default_factory=ObjectFilter)
    considered: ChangedFileFilter = field(default_factory=ChangedFileFilter)
    comparison: ComparisonOptions = field(default_factory=ComparisonOptions)
    checks: Checks = field(default_factory=Checks)
    reporting: Reporting = field(default_factory=Reporting)
    context: Context = field(default_factory=lambda: Context(ignore, DEFAULT_LIMITS))

    def having(self, **values: Any) -> Options:
        """Return a copy with options set by their names on the command line, such as `kube_version`.

        Raises:
            TypeError: an option is unknown.
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
        """Return the names of all options."""
        parts = [getattr(cls(), name) for name in _PARTS]
        return frozenset(option.name for part in (*parts, cls()) for option in fields(part)) - {*_PARTS, "context"}


_PARTS = frozenset(part.name for part in fields(Options) if part.name not in ("context", "installation", "select"))
"""The groups whose options are set by name."""
