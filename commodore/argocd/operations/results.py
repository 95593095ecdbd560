"""The results of the functions of `api`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from commodore.argocd import comparing
from commodore.argocd.appsets import ApplicationSet
from commodore.argocd.checking import Outcome
from commodore.argocd.comparing import Side, State
from commodore.argocd.comparing.document import DifferenceRecord, difference_record
from commodore.argocd.comparing.images import ImageUse
from commodore.argocd.configuration.installed import Installed
from commodore.argocd.configuration.model import Level
from commodore.argocd.diagnostics import is_partial
from commodore.argocd.discovery import Origin
from commodore.argocd.finishing import hook_phases
from commodore.argocd.model import Cluster, KnownRepository
from commodore.argocd.model.application import Destination
from commodore.argocd.operations.explaining import ExplainedApplication, ListedSource
from commodore.argocd.operations.layout import Layout, stream, write_layout
from commodore.argocd.operations.rendered import RenderedApplication
from commodore.argocd.operations.sarif import as_sarif
from commodore.argocd.trees import Tree as Files
from commodore.base.diagnostics import Diagnostic
from commodore.base.errors import Location
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.core.review import COMMENT_BYTES, Flag, ObjectChange, Review, html_report, markdown_report, text_report

_TITLE = "Argo CD changes"


@dataclass(frozen=True, slots=True)
class ListedOrigin(Origin):
    """The origin of an Application: a file, an ApplicationSet with its generator, or the Application that renders it.

    Attributes:
        file, line: the place of the definition.
    """

    file: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ListedApplication:
    """An Application of a listing.

    Attributes:
        instance: its instance name in tracking.
    """

    name: str
    namespace: str
    instance: str
    project: str
    destination: Destination
    labels: Mapping[str, str]
    sources: tuple[ListedSource, ...]
    origin: ListedOrigin


@dataclass(frozen=True, slots=True)
class Result:
    """The base of all results.

    Attributes:
        diagnostics: the diagnostics, sorted.
    """

    json_properties: ClassVar[tuple[str, ...]] = ("partial",)

    diagnostics: tuple[Diagnostic, ...]

    @property
    def partial(self) -> bool:
        """True if errors make the result incomplete."""
        return is_partial(self.diagnostics)


@dataclass(frozen=True, slots=True)
class Listing(Result):
    """The Applications that a tree defines, by namespace and name."""

    applications: tuple[ListedApplication, ...]


def _bare(name: str) -> str:
    return name.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Expansion:
    """An Application that an ApplicationSet generates.

    Attributes:
        set: the ApplicationSet, as `namespace/name`; in documents only its name.
        generator: the path of its generator in the ApplicationSet.
        application: the object.
        element: the index of the parameter set of the generator, from 0.
        parameters: the parameter set.
    """

    set: str = field(metadata={"json": _bare})
    generator: str
    application: Mapping[str, Any]
    element: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expansions(Result):
    """The Applications of ApplicationSets, in the order of the generators."""

    applications: tuple[Expansion, ...]
    _sets: tuple[ApplicationSet, ...] = field(repr=False, compare=False, metadata={"json": False})

    def needed_facts(self) -> dict[str, Any]:
        """Return a facts file to fill in, with the queries of generators to clusters, forges and plugins."""
        from commodore.argocd.appsets import needed_facts

        return needed_facts(self._sets)


@dataclass(frozen=True, slots=True)
class RenderedObject:
    """An object of an Application.

    Attributes:
        source: the number of its source, from 1.
        origin: its file or template; empty if it is unknown.
        partial: true if other sources of the Application do not render.
        hook: the phases in which it runs; None if it is not a hook.
    """

    application: str
    source: int
    origin: str
    partial: bool
    hook: tuple[str, ...] | None
    identity: ObjectKey
    object: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rendering(Result):
    """Rendered Applications, by namespace and name."""

    json_properties: ClassVar[tuple[str, ...]] = ("objects", "partial")

    applications: tuple[RenderedApplication, ...] = field(metadata={"json": False})
    _own: Mapping[str, Files] = field(repr=False, compare=False, metadata={"json": False})

    @property
    def objects(self) -> list[RenderedObject]:
        """The objects of all Applications."""
        return [
            RenderedObject(
                made.name,
                rendered.source,
                rendered.origin,
                made.partial,
                hook_phases(rendered.data),
                key_of(rendered.data),
                rendered.data,
            )
            for made in self.applications
            for rendered in made.objects
        ]

    def stream(self) -> str:
        """Return all objects as a YAML stream, each with a comment that names its Application, source and file."""
        return stream(self.applications)

    def write(self, folder: Path, layout: Layout = "app") -> int:
        """Replace a folder by the objects. Return the number of files.

        Args:
            layout: `app` for a file per Application; `object` for a file per object.

        Raises:
            CommodoreError: see `write_layout`.
        """
        return write_layout(self.applications, folder, layout, self._own)


@dataclass(frozen=True, slots=True)
class Report(Result):
    """The outcomes of testing Applications."""

    applications: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class ApplicationChange:
    """The change of an Application.

    Attributes:
        name: `namespace/name`.
        note: the reason if it is unknown.
        dangers: names of dangers, such as `deletes-volume`.
        objects: the objects that differ, with their fields, in the order of reports.
        flags: the dangers, each with its object and a message.
    """

    name: str
    state: State
    note: str
    dangers: tuple[str, ...]
    objects: tuple[ObjectChange, ...] = ()
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference(Result):
    """The differences between two trees. Secrets are masked.

    Attributes:
        base, target: the displayed names of the trees.
        applications: all compared Applications, by name.
        dangers: the names of all dangers, the worst first.
    """

    base: str
    target: str
    applications: tuple[ApplicationChange, ...]
    dangers: tuple[str, ...]
    _difference: comparing.Difference = field(repr=False, compare=False)
    _sides: tuple[Side, Side] = field(repr=False, compare=False)

    @property
    def partial(self) -> bool:
        """True if errors make the comparison incomplete."""
        return is_partial(self.diagnostics) or any(application.state == "unknown" for application in self.applications)

    @property
    def changed(self) -> bool:
        """True if anything differs."""
        return bool(self._difference.review.groups)

    @property
    def review(self) -> Review:
        """The differences, grouped as in reports."""
        return self._difference.review

    def text(self) -> str:
        """Return the report as `argocd diff` prints it, without colours."""
        return "\n".join(line.text for line in text_report(self._difference.review))

    def markdown(self, budget: int = COMMENT_BYTES, whole: str = "") -> str:
        """Return the report for a comment of a pull request.

        Args:
            budget: the maximum number of bytes.
            whole: the place of the whole report, which a truncated report names.
        """
        return markdown_report(self._difference.review, title=_TITLE, budget=budget, whole=whole)

    def html(self) -> str:
        """Return the report as an HTML file."""
        return html_report(self._difference.review, title=_TITLE)

    def sarif(self) -> str:
        """Return dangers and diagnostics as a SARIF log, for code scanning of forges."""
        return as_sarif(self.diagnostics, self._sides[1].root, self._difference)

    def as_plain(self) -> DifferenceRecord:
        """Return the difference for documents; see `commodore.base.documents.plain`."""
        return difference_record(self._difference, self._sides, self.diagnostics, partial=self.partial)


@dataclass(frozen=True, slots=True)
class Diagnosis(Result):
    """The diagnostics of reading a tree."""

    _root: Path = field(repr=False, compare=False, metadata={"json": False})

    def sarif(self) -> str:
        """Return the diagnostics as a SARIF log."""
        return as_sarif(self.diagnostics, self._root)


@dataclass(frozen=True, slots=True)
class Normalized(Result):
    """Objects without the fields that comparisons ignore."""

    objects: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Version(Result):
    """The followed version of Argo CD, and the tools and libraries that render.

    Attributes:
        commodore: the version of this program.
        libraries: the versions of libraries by language; None for a library that is not installed.
    """

    commodore: str
    argocd: str
    tools: tuple[Installed, ...]
    libraries: Mapping[str, str | None]
    python: str


@dataclass(frozen=True, slots=True)
class RunImages:
    """The images of an Application at a commit.

    Attributes:
        revisions: the revisions of its sources; the commit for sources in the repository itself.
        problem: the reason if they are unknown.
    """

    images: tuple[str, ...] = ()
    revisions: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Images(Result):
    """Images with the objects that use them."""

    images: tuple[ImageUse, ...]


@dataclass(frozen=True, slots=True)
class SettingValue:
    """An effective setting: a key of a ConfigMap.

    Attributes:
        value: as written.
        level: the kind of its origin.
        place: its file and line; None for a default.
        overridden: the places of the values of lower levels that it replaces.
    """

    config_map: str
    key: str
    value: str
    level: Level
    place: Location | None
    overridden: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class Settings(Result):
    """The settings of the installation.

    Attributes:
        namespace: the namespace of Argo CD.
        clusters: the clusters of Secrets, without credentials.
        repositories: the repositories of Secrets and values of the chart, without credentials.
    """

    namespace: str
    settings: tuple[SettingValue, ...]
    clusters: tuple[Cluster, ...]
    repositories: tuple[KnownRepository, ...]


@dataclass(frozen=True, slots=True)
class Explanation(Result):
    """An Application, with its origin and its content."""

    application: ExplainedApplication
