"""Inputs and results of rendering a source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from commodore.argocd.acquiring import Charts, RemoteFiles
from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.model import Cluster
from commodore.argocd.model.application import Application, Destination
from commodore.argocd.model.sources import Source
from commodore.argocd.planning import BuildEnvironment
from commodore.argocd.rendering.programs import unavailable
from commodore.argocd.rendering.value_layers import Layer
from commodore.base.context import Context
from commodore.base.diagnostics import Severity
from commodore.base.errors import CommodoreError, Findings, Location
from commodore.base.events import Obtained
from commodore.core.render.output_cache import OutputCache
from commodore.core.render.programs import Unavailable


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of the cluster for charts. Empty fields mean helm's defaults.

    Attributes:
        clusters: known clusters, whose own versions take precedence.
        from_tree: whether charts also see CustomResourceDefinitions of the tree.
        served: returns the APIs of these for the address of a cluster; None without a tree.
        address: of the cluster that these capabilities are for.
    """

    kube_version: str = ""
    api_versions: tuple[str, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    from_tree: bool = False
    served: Callable[[str], tuple[str, ...]] | None = None
    address: str = ""

    def of(self, destination: Destination) -> Capabilities:
        """Return the capabilities of a destination. APIs are sorted and unique, as Argo CD passes them."""
        address = destination.address(self.clusters)
        for cluster in self.clusters:
            if cluster.server == address:
                kube_version = cluster.kube_version or self.kube_version
                known = replace(self, kube_version=kube_version, address=address)
                if cluster.api_versions:
                    known = replace(known, api_versions=cluster.api_versions, served=None)
                return known._sorted()
        return replace(self, address=address)._sorted()

    def _sorted(self) -> Capabilities:
        return replace(self, api_versions=tuple(sorted(set(self.api_versions))))

    def seeing(self, served: Callable[[str], tuple[str, ...]]) -> Capabilities:
        """Return the same with the APIs of a tree, if `from_tree` is set."""
        return replace(self, served=served) if self.from_tree else self

    @property
    def in_tree(self) -> tuple[str, ...]:
        """The APIs of the cluster that only the tree defines."""
        apis = self.served(self.address) if self.served is not None else ()
        return tuple(api for api in apis if api not in self.api_versions)


class Note(Protocol):
    """Reports a diagnostic that is not an error: code, message, severity, hint, places."""

    def __call__(
        self, code: str, message: str, severity: Severity, hint: str = "", locations: tuple[Location, ...] = ()
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Trace:
    """Commands and values of rendered sources.

    Attributes:
        commands: commands with the same result, to be run at the root of the repository.
        layers: the values of charts, in ascending precedence; None if they are not requested.
    """

    commands: list[str] = field(default_factory=list)
    layers: list[Layer] | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """A source, ready to be rendered.

    Attributes:
        folder: the folder of the source; of a chart, its folder.
        root: the folder that paths must not leave: of the repository, or of a chart.
        refs: the repositories of other sources by `ref`.
        scratch: an empty folder of this unit.
        outputs: cache for outputs of programs.
        trace: collects how the source is rendered.
        files: fetches files that sources name by URL.
        ignored: absolute paths of files and folders that git ignores.
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
    files: RemoteFiles
    context: Context
    scratch: Path
    note: Note
    outputs: OutputCache
    trace: Trace | None = None
    ignored: frozenset[str] = frozenset()

    def output(
        self,
        program: str,
        described: object,
        files: Callable[[], Iterable[tuple[str, Path]] | None],
        run: Callable[[], bytes],
    ) -> bytes:
        """Return the output of a program for the source, see `OutputCache.output`."""
        try:
            output, way = self.outputs.output(program, described, files, run)
        except Unavailable as error:
            raise unavailable(error) from error
        label = self.settings.label(self.application.namespace, self.application.name)
        self.context.announce(Obtained(f"the output of {program} for {label}", "", "", way))
        return output


@dataclass(frozen=True, slots=True)
class Rendered:
    """An object, and the file that it is from; empty if unknown."""

    data: dict[str, Any]
    origin: str = ""
    source: int = 0


class PartlyRendered(Findings):
    """Some sources of an Application fail, and others do not. Argo CD then applies no objects.

    Attributes:
        objects: the objects of the other sources, in their order.
    """

    def __init__(self, errors: Iterable[CommodoreError], objects: Sequence[Rendered]) -> None:
        super().__init__(errors)
        self.objects = tuple(objects)

    def __reduce__(self) -> tuple[Any, ...]:
        return PartlyRendered, (self.errors, self.objects)
