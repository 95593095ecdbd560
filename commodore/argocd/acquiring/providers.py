"""Providers: repositories, charts and files that a program supplies instead of the network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol


class GitProvider(Protocol):
    """Provides repositories. Queried after `--repo-map` and the tree under analysis, and before the cache."""

    def resolve(self, url: str, revision: str) -> str | None:
        """Return the commit of a revision; None for a repository that is not provided.

        Args:
            revision: as written in an Application; empty for the default branch.

        Raises:
            CommodoreError: the repository is provided, and does not have the revision.
        """

    def tree(self, url: str, commit: str) -> Path:
        """Return a folder with the files of a commit that `resolve` returned. It is only read."""


class ChartProvider(Protocol):
    """Provides charts. Queried before the cache."""

    def resolve(self, repository: str, name: str, requested: str) -> str | None:
        """Return the version to use; None for a chart that is not provided.

        Args:
            requested: a version or a range of versions, as written in an Application.

        Raises:
            CommodoreError: the chart is provided, and no version matches.
        """

    def chart(self, repository: str, name: str, version: str) -> Path:
        """Return the folder of an unpacked chart, at a version that `resolve` returned. It is only read."""


class RemoteProvider(Protocol):
    """Provides files of web servers: value files, indexes and archives of charts."""

    def fetch(self, url: str) -> bytes | None:
        """Return the content of a URL; None if it is not provided."""


class ArtefactProvider(Protocol):
    """Provides OCI artefacts with manifests. Queried before the cache."""

    def resolve(self, url: str, requested: str) -> str | None:
        """Return the digest to use; None for an artefact that is not provided.

        Args:
            requested: a tag, a digest or a range of versions, as written in an Application.

        Raises:
            CommodoreError: the artefact is provided, and no tag matches.
        """

    def tree(self, url: str, digest: str) -> Path:
        """Return a folder with the files of a digest that `resolve` returned. It is only read."""


class Clock(Protocol):
    """The clock of templates of ApplicationSets. Without a clock, functions of time are refused."""

    def now(self) -> datetime:
        """Return the time, with a time zone. Called once per operation."""


@dataclass(frozen=True, slots=True)
class PluginSource:
    """A source with a config management plugin.

    Attributes:
        folder: the folder of the source.
        application: the name of the Application.
        namespace: the namespace of the destination.
        plugin: the block as written: name, env, parameters.
        environment: the build environment, `ARGOCD_APP_NAME` and so on.
    """

    folder: Path
    application: str
    namespace: str
    plugin: Mapping[str, Any]
    environment: Mapping[str, str]


class PluginRenderer(Protocol):
    """Renders sources instead of a config management plugin. It is code of the caller, and trusted."""

    def fits(self, source: PluginSource) -> bool:
        """Check if this renderer handles a source."""

    def render(self, source: PluginSource) -> Iterable[Mapping[str, Any]]:
        """Return the objects of a source.

        Raises:
            CommodoreError: it cannot be rendered.
        """


@dataclass(frozen=True, slots=True)
class Providers:
    """The providers of a caller; the first matching plugin renders."""

    git: GitProvider | None = None
    charts: ChartProvider | None = None
    remotes: RemoteProvider | None = None
    plugins: tuple[PluginRenderer, ...] = ()
    clock: Clock | None = None
    artefacts: ArtefactProvider | None = None
