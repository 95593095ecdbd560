"""The repositories, charts and renderer of an installation, opened once for a run."""

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
class OpenSources:
    """Repositories, charts and renderer for the sources of Applications, valid within `open_sources`."""

    settings: ArgoSettings
    repositories: Repositories
    charts: Charts
    renderer: Renderer

    def with_settings(self, settings: ArgoSettings) -> OpenSources:
        """Return the same with other settings."""
        return replace(self, settings=settings, renderer=replace(self.renderer, settings=settings))

    def to_render(self, capabilities: Capabilities, diagnostics: Diagnostics) -> OpenSources:
        """Return the same for rendering, once the Applications are known.

        Args:
            capabilities: of the clusters.
            diagnostics: collects everything that is not an error from now on.
        """
        self.repositories.report_to(diagnostics)
        diagnostics.join(self.charts.diagnostics)
        self.charts.diagnostics = diagnostics
        return replace(self, renderer=replace(self.renderer, capabilities=capabilities, diagnostics=diagnostics))


def checkouts(urls: Iterable[str], folder: Path, commit: str, name: str) -> dict[str, Tree]:
    """Return a folder with the files of a commit as the tree of repositories with these URLs, for `open_sources`.

    Args:
        name: name of the repository in messages.
    """
    return {repository_identity(url): Tree(folder, commit, name) for url in urls}


@contextlib.contextmanager
def open_sources(
    settings: ArgoSettings,
    repo_map: RepoMap,
    capabilities: Capabilities,
    context: Context,
    diagnostics: Diagnostics,
    own: Mapping[str, Tree] = MappingProxyType({}),
) -> Iterator[OpenSources]:
    """Open the repositories, charts and renderer of an installation.

    Args:
        own: trees that are read instead of their repositories, by `repository_identity`.
        diagnostics: collects everything that is not an error.
    """
    with temporary_folder() as scratch:
        repositories = Repositories(context, repo_map, scratch, own, diagnostics)
        charts = Charts(context, scratch, repo_map.providers, repo_map.refreshes, diagnostics)
        renderer = Renderer(settings, repositories, charts, capabilities, context, scratch, diagnostics)
        try:
            yield OpenSources(settings, repositories, charts, renderer)
        finally:
            repositories.close()
