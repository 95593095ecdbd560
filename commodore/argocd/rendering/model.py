"""What rendering a source needs, and what it gives."""

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
    """What charts are told of the cluster. Empty: what helm has built in.

    Attributes:
        clusters: of those that are known, each may say it itself, which counts more.
        from_tree: whether CustomResourceDefinitions of the tree count for charts that ask.
        served: gives the APIs of these for the address of a cluster; None if there is no tree.
        address: of the one cluster that is meant.
    """

    kube_version: str = ""
    api_versions: tuple[str, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    from_tree: bool = False
    served: Callable[[str], tuple[str, ...]] | None = None
    address: str = ""

    def of(self, destination: Destination) -> Capabilities:
        """What charts are told that go to a cluster. Its APIs are sorted, each once, as Argo CD names them."""
        address = destination.address(self.clusters)
        for one in self.clusters:
            if one.server == address:
                kube_version = one.kube_version or self.kube_version
                known = replace(self, kube_version=kube_version, address=address)
                if one.api_versions:
                    known = replace(known, api_versions=one.api_versions, served=None)
                return known._sorted()
        return replace(self, address=address)._sorted()

    def _sorted(self) -> Capabilities:
        return replace(self, api_versions=tuple(sorted(set(self.api_versions))))

    def seeing(self, served: Callable[[str], tuple[str, ...]]) -> Capabilities:
        """The same with the APIs that a tree shows, if these count."""
        return replace(self, served=served) if self.from_tree else self

    @property
    def in_tree(self) -> tuple[str, ...]:
        """The APIs of the cluster that is meant, as far as the tree shows them and nothing else has said them."""
        found = self.served(self.address) if self.served is not None else ()
        return tuple(one for one in found if one not in self.api_versions)


class Note(Protocol):
    """Hears of what is found without failing: code, message, severity, hint, places."""

    def __call__(
        self, code: str, message: str, severity: Severity, hint: str = "", locations: tuple[Location, ...] = ()
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Trace:
    """How sources are rendered.

    Attributes:
        commands: those that would give the same from the root of the repository.
        layers: the values of charts, those first that count least; None if they are not asked for.
    """

    commands: list[str] = field(default_factory=list)
    layers: list[Layer] | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """One source, ready to be rendered.

    Attributes:
        folder: the folder of the source; of a chart, its folder.
        root: the folder that nothing may leave: that of the repository; of a chart, its own.
        refs: the repositories of other sources by `ref`.
        scratch: a folder of the unit's own, which is there and empty.
        kept: has what programs wrote before.
        trace: takes how the source is rendered.
        files: gives what sources name by URL.
        ignored: absolute paths of files and folders that are there, but not for git.
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
    kept: OutputCache
    trace: Trace | None = None
    ignored: frozenset[str] = frozenset()

    def output(
        self,
        program: str,
        described: object,
        files: Callable[[], Iterable[tuple[str, Path]] | None],
        run: Callable[[], bytes],
    ) -> bytes:
        """What a program writes for the source, see `OutputCache.output`."""
        try:
            output, way = self.kept.output(program, described, files, run)
        except Unavailable as error:
            raise unavailable(error) from error
        label = self.settings.label(self.application.namespace, self.application.name)
        self.context.announce(Obtained(f"what {program} writes for {label}", "", "", way))
        return output


@dataclass(frozen=True, slots=True)
class Rendered:
    """One object, and the file that it is from; empty if that is not known."""

    data: dict[str, Any]
    origin: str = ""
    source: int = 0


class PartlyRendered(Findings):
    """Some sources of an Application cannot be rendered, and others can. Argo CD then uses none of them.

    Attributes:
        objects: what the other sources give, in their order.
    """

    def __init__(self, errors: Iterable[CommodoreError], objects: Sequence[Rendered]) -> None:
        super().__init__(errors)
        self.objects = tuple(objects)

    def __reduce__(self) -> tuple[Any, ...]:
        return PartlyRendered, (self.errors, self.objects)
