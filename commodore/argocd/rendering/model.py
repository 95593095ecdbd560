"""What rendering a source needs, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from commodore.argocd.acquiring import Charts, Providers
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.diagnostics import Severity
from commodore.argocd.model import Cluster
from commodore.argocd.model.application import Application, Destination
from commodore.argocd.model.sources import Source
from commodore.argocd.planning import BuildEnvironment
from commodore.argocd.rendering.kept import Kept
from commodore.context import Context
from commodore.errors import Location


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What charts are told of the cluster. Empty: what helm has built in.

    Attributes:
        clusters: of those that are known, each may say it itself, which counts more.
    """

    kube_version: str = ""
    api_versions: tuple[str, ...] = ()
    clusters: tuple[Cluster, ...] = ()

    def of(self, destination: Destination) -> Capabilities:
        """What charts are told that go to a cluster."""
        address = destination.address(self.clusters)
        for one in self.clusters:
            if one.server == address:
                kube_version = one.kube_version or self.kube_version
                return Capabilities(kube_version, one.api_versions or self.api_versions, self.clusters)
        return self


class Note(Protocol):
    """Hears of what is found without failing: code, message, severity, hint, places."""

    def __call__(
        self, code: str, message: str, severity: Severity, hint: str = "", locations: tuple[Location, ...] = ()
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Unit:
    """One source, ready to be rendered.

    Attributes:
        folder: the folder of the source; of a chart, its folder.
        root: the folder that nothing may leave: that of the repository; of a chart, its own.
        refs: the repositories of other sources by `ref`.
        scratch: a folder of the unit's own, which is there and empty.
        kept: has what programs wrote before.
        commands: takes the commands that would give the same from the root of the repository.
        providers: what the caller gives in place of the network.
    """

    application: Application
    source: Source
    folder: Path
    root: Path
    refs: Mapping[str, Callable[[], Path]]
    environment: BuildEnvironment
    capabilities: Capabilities
    settings: ArgoSettings
    charts: Charts
    context: Context
    scratch: Path
    note: Note
    kept: Kept
    commands: list[str] = field(default_factory=list)
    providers: Providers = field(default_factory=Providers)


@dataclass(frozen=True, slots=True)
class Rendered:
    """One object, and the file that it is from; empty if that is not known."""

    data: dict[str, Any]
    origin: str = ""
    source: int = 0
