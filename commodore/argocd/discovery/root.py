"""Where Applications are looked for, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from commodore.argocd.appsets import Facts
from commodore.argocd.configuration import Candidates, Followed, Installation, Profile
from commodore.argocd.discovery.own import own_repositories, stands_for
from commodore.argocd.model.plugins import PluginRule
from commodore.argocd.trees import SelfRevisions, Tree
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostics
from commodore.base.limits import Limits


@dataclass(frozen=True, slots=True)
class Search:
    """Options: how Applications are looked for.

    Attributes:
        app: files with Applications that count instead of a tree.
        appset: files with ApplicationSets that are expanded instead of those of a tree.
        self_url: URLs of the repository that the tree is of, in addition to those of its remotes.
        self_revisions: at which revisions these mean the tree: empty, `HEAD`, the default branch and the branch of the
            tree (`branches`); `all`; those that are its commit (`declared`). The local repository has the others.
        discovery: `full`, also in what other Applications render; `static`, in files and ApplicationSets alone.
        max_depth: how many rounds of rendering look for further Applications; 0 for none.
        entry: folders below the tree's that are rendered first.
        ignore_path: patterns of files and folders without Applications, from the root of the tree.
        dry_sources: whether Applications that are hydrated stand for their dry source; None for comparisons alone.
        facts: files that say what generators would ask of forges, clusters and plugins.
        fixed_time: the time that templates of ApplicationSets get, as ISO 8601 has it; empty for that of the clock of
            the providers, or for nothing.
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
        """The most rounds of rendering that look for further Applications."""
        return self.max_depth if self.discovery == "full" else 0


@dataclass(frozen=True, slots=True)
class SearchRoot:
    """A folder that is searched.

    Attributes:
        installation: counts more than what is in the folder.
        tree_urls: URLs that mean the tree at every revision, as `--repo-map URL=@`.
        facts: what generators of ApplicationSets would ask for.
        jobs: how many Applications are rendered at the same time; 0 for one per usable CPU.
        plugins: what becomes of the sources of plugins, which counts more than definitions in the folder.
        dry: whether Applications that are hydrated stand for their dry source.
        tree: the tree that the folder is in and that stands for `search.self_url` alone; if None, the checkout around
            it.
        names: the Applications that are looked for, see `Rounds`; all if there are none.
    """

    folder: Path
    search: Search = field(default_factory=Search)
    installation: Installation = field(default_factory=Installation)
    followed: Followed = field(default_factory=Followed)
    tree_urls: tuple[str, ...] = ()
    facts: Facts = field(default_factory=Facts)
    jobs: int = 0
    plugins: tuple[PluginRule, ...] = ()
    dry: bool = False
    tree: Tree | None = None
    names: tuple[str, ...] = ()

    def candidates(self, profile: Profile, limits: Limits, diagnostics: Diagnostics) -> Candidates:
        """What is given of the installation; see `Installation.candidates`."""
        return self.installation.candidates(profile, self.plugins, limits, diagnostics)

    def own(self, context: Context) -> tuple[Tree, Mapping[str, Tree]]:
        """The tree of the folder, and the repositories that it stands for; see `own_repositories`."""
        urls = self.search.self_url
        if self.tree is not None:
            tree, own = self.tree, stands_for(self.tree, urls)
        else:
            tree, own = own_repositories(self.folder, urls, context, self.search.self_revisions)
        return tree, {**own, **stands_for(replace(tree, stands=None), self.tree_urls)}
