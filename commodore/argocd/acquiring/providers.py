"""What programs give in place of the network: repositories, charts, files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol


class GitProvider(Protocol):
    """Gives repositories. It is asked after `--repo-map` and the tree under analysis, and before the cache."""

    def resolve(self, url: str, revision: str) -> str | None:
        """The commit that a revision stands for; None for a repository that is not given here.

        Args:
            revision: as an Application says it; empty for the default branch.

        Raises:
            CommodoreError: the repository is given, and has no such revision.
        """

    def tree(self, url: str, commit: str) -> Path:
        """A folder with the files of a commit that `resolve` has named. Nothing is written to it."""


class ChartProvider(Protocol):
    """Gives charts. It is asked before the cache."""

    def resolve(self, repository: str, name: str, requested: str) -> str | None:
        """The version that is taken; None for a chart that is not given here.

        Args:
            wanted: a version or a range of versions, as an Application says it.

        Raises:
            CommodoreError: the chart is given, and no version fits.
        """

    def chart(self, repository: str, name: str, version: str) -> Path:
        """The folder of a chart, unpacked, of a version that `resolve` has named. Nothing is written to it."""


class RemoteProvider(Protocol):
    """Gives what web servers have: value files, indexes and archives of charts."""

    def fetch(self, url: str) -> bytes | None:
        """The content of a URL; None for one that is not given here."""


class ArtefactProvider(Protocol):
    """Gives OCI artefacts with manifests. It is asked before the cache."""

    def resolve(self, url: str, requested: str) -> str | None:
        """The digest that is taken; None for an artefact that is not given here.

        Args:
            wanted: a tag, a digest or a range of versions, as an Application says it.

        Raises:
            CommodoreError: the artefact is given, and nothing in it fits.
        """

    def tree(self, url: str, digest: str) -> Path:
        """A folder with the files of what `resolve` has named. Nothing is written to it."""


class Clock(Protocol):
    """Says what time it is to templates of ApplicationSets. Without one they may not ask."""

    def now(self) -> datetime:
        """The time, with a zone. It is asked once for a question."""


@dataclass(frozen=True, slots=True)
class PluginSource:
    """A source that names a config management plugin.

    Attributes:
        folder: of the source.
        application: the Application's name.
        namespace: of the Application's destination.
        plugin: the block as written: name, env, parameters.
        environment: the build environment, `ARGOCD_APP_NAME` and so on.
    """

    folder: Path
    application: str
    namespace: str
    plugin: Mapping[str, Any]
    environment: Mapping[str, str]


class PluginRenderer(Protocol):
    """Renders what a config management plugin would. It is the caller's own code, and is trusted."""

    def fits(self, source: PluginSource) -> bool:
        """Whether it renders a source."""

    def render(self, source: PluginSource) -> Iterable[Mapping[str, Any]]:
        """The objects of a source.

        Raises:
            CommodoreError: it cannot be rendered.
        """


@dataclass(frozen=True, slots=True)
class Providers:
    """Those that a caller gives; the first plugin that fits renders."""

    git: GitProvider | None = None
    charts: ChartProvider | None = None
    remotes: RemoteProvider | None = None
    plugins: tuple[PluginRenderer, ...] = ()
    clock: Clock | None = None
    artefacts: ArtefactProvider | None = None
