"""The repositories and charts of an installation, and what renders from them: opened once, and handed on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from commodore.argocd.acquiring import Charts, RepoMap, Repositories, repository_identity
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.rendering.application import Renderer
from commodore.argocd.rendering.model import Capabilities
from commodore.argocd.trees import Tree
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostics
from commodore.base.files.staging import temporary_folder


@dataclass(frozen=True, slots=True)
class Opened:
    """Where the sources of Applications come from, and what renders them. Nothing of it outlives `open_sources`."""

    settings: ArgoSettings
    repositories: Repositories
    charts: Charts
    renderer: Renderer

    def with_settings(self, settings: ArgoSettings) -> Opened:
        """The same with other settings."""
        return replace(self, settings=settings, renderer=replace(self.renderer, settings=settings))

    def to_render(self, capabilities: Capabilities, found: Diagnostics) -> Opened:
        """The same once the Applications are known.

        Args:
            capabilities: what charts are told of clusters now.
            found: collects what does not fail from now on.
        """
        self.repositories.report_to(found)
        found.join(self.charts.diagnostics)
        self.charts.diagnostics = found
        return replace(self, renderer=replace(self.renderer, capabilities=capabilities, found=found))


def checkouts(urls: Iterable[str], folder: Path, commit: str, name: str) -> dict[str, Tree]:
    """The files of a commit in a folder, as the tree of repositories with these URLs, for `open_sources`.

    Args:
        name: how people know the repository.
    """
    return {repository_identity(url): Tree(folder, commit, name) for url in urls}


@contextlib.contextmanager
def open_sources(
    settings: ArgoSettings,
    repo_map: RepoMap,
    capabilities: Capabilities,
    context: Context,
    found: Diagnostics,
    own: Mapping[str, Tree] = MappingProxyType({}),
) -> Iterator[Opened]:
    """Open what renders Applications of an installation.

    Args:
        own: trees that stand for their repositories, by `repository_identity`.
        found: collects what does not fail.
    """
    with temporary_folder() as scratch:
        repositories = Repositories(context, repo_map, scratch, own, found)
        charts = Charts(context, scratch, repo_map.providers, repo_map.refreshes, found)
        renderer = Renderer(settings, repositories, charts, capabilities, context, scratch, found)
        try:
            yield Opened(settings, repositories, charts, renderer)
        finally:
            repositories.close()
