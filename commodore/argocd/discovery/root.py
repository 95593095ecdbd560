"""Options of discovery, and the folder that is searched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from commodore.argocd.appsets import Facts
from commodore.argocd.configuration import Candidates, Installation, Profile, VersionOptions
from commodore.argocd.discovery.own import own_repositories, stands_for
from commodore.argocd.model.plugins import PluginRule
from commodore.argocd.trees import SelfRevisions, Tree
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostics
from commodore.base.limits import Limits


@dataclass(frozen=True, slots=True)
class Search:
    """Options: discovery of Applications.

    Attributes:
        app: files with Applications to use instead of a tree.
        appset: files with ApplicationSets to expand instead of those of a tree.
        self_url: URLs of the repository of the tree, in addition to its remotes.
        self_revisions: the revisions that are read from the tree: empty, `HEAD`, the default branch and the branch of
            the tree (`branches`); `all`; revisions of its commit (`declared`). Others are read from the local
            repository.
        discovery: `full`, also in objects that Applications render; `static`, only in files and ApplicationSets.
        max_depth: the maximum number of rounds of rendering to discover Applications; 0 for none.
        entry: folders, relative to the searched folder, that are rendered first.
        ignore_path: patterns of ignored files and folders, relative to the root of the tree.
        dry_sources: True to use the dry source of hydrated Applications; None for comparisons only.
        facts: files with the answers of forges, clusters and plugins to generators.
        fixed_time: the time in templates of ApplicationSets, in ISO 8601; empty to use the clock of the providers, if
            there is one.
    """

    app: tuple[Path, ...] = ()
    appset: tuple[Path, ...] = ()
    self_url: tuple[str, ...] = ()
    self_revisions: SelfRevisions = "branches"
    discovery: Literal["full", "static"] = "full"
    max_depth: int = 4
    entry: tuple[str, ...] = ()
    ignore_path: tuple[str, ...] = ()
    dry_sources: bool | None = None
    facts: tuple[Path, ...] = ()
    fixed_time: str = ""

    @property
    def rounds(self) -> int:
        """The maximum number of rounds of rendering to discover Applications."""
        return self.max_depth if self.discovery == "full" else 0


@dataclass(frozen=True, slots=True)
class SearchRoot:
    """A folder that is searched.

    Attributes:
        installation: settings that take precedence over those in the folder.
        tree_urls: URLs that the tree replaces at every revision, as `--repo-map URL=@`.
        facts: replace the answers to generators of ApplicationSets.
        jobs: the number of Applications rendered in parallel; 0 for one per usable CPU.
        plugins: the rules for sources of plugins, which take precedence over definitions in the folder.
        dry: True to use the dry source of hydrated Applications.
        tree: the tree of the folder, which replaces only `search.self_url`; if None, the checkout around the folder.
        names: the requested Applications, see `AppOfAppsSearch`; empty for all.
    """

    folder: Path
    search: Search = field(default_factory=Search)
    installation: Installation = field(default_factory=Installation)
    followed: VersionOptions = field(default_factory=VersionOptions)
    tree_urls: tuple[str, ...] = ()
    facts: Facts = field(default_factory=Facts)
    jobs: int = 0
    plugins: tuple[PluginRule, ...] = ()
    dry: bool = False
    tree: Tree | None = None
    names: tuple[str, ...] = ()

    def candidates(self, profile: Profile, limits: Limits, diagnostics: Diagnostics) -> Candidates:
        """Return the settings of the installation; see `Installation.candidates`."""
        return self.installation.candidates(profile, self.plugins, limits, diagnostics)

    def own(self, context: Context) -> tuple[Tree, Mapping[str, Tree]]:
        """Return the tree of the folder, and the repositories that it replaces; see `own_repositories`."""
        urls = self.search.self_url
        if self.tree is not None:
            tree, own = self.tree, stands_for(self.tree, urls)
        else:
            tree, own = own_repositories(self.folder, urls, context, self.search.self_revisions)
        return tree, {**own, **stands_for(replace(tree, stands=None), self.tree_urls)}
