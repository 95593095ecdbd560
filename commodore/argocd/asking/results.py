"""What the functions of `api` give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from commodore.argocd import comparing
from commodore.argocd.appsets import ApplicationSet
from commodore.argocd.asking.explaining import ExplainedApplication, ListedSource
from commodore.argocd.asking.layout import Layout, stream, write_layout
from commodore.argocd.asking.rendered import RenderedApplication
from commodore.argocd.asking.sarif import as_sarif
from commodore.argocd.checking import Outcome
from commodore.argocd.comparing import Side, State
from commodore.argocd.comparing.document import DifferenceRecord, difference_record
from commodore.argocd.comparing.images import Use
from commodore.argocd.configuration.installed import Installed
from commodore.argocd.configuration.model import Level
from commodore.argocd.diagnostics import is_partial
from commodore.argocd.discovery import Origin
from commodore.argocd.finishing import hook_phases
from commodore.argocd.model import Cluster, KnownRepository
from commodore.argocd.model.application import Destination
from commodore.argocd.trees import Tree as Files
from commodore.base.diagnostics import Diagnostic
from commodore.base.errors import Location
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.core.review import COMMENT_BYTES, Flag, ObjectChange, Review, html_report, markdown_report, text_report

_TITLE = "Argo CD changes"


@dataclass(frozen=True, slots=True)
class ListedOrigin(Origin):
    """What an Application is from: a file, an ApplicationSet with its generator, or the Application that renders it.

    Attributes:
        file, line: the place of what defines it.
    """

    file: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ListedApplication:
    """An Application.

    Attributes:
        instance: what tracking calls it.
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
class Found:
    """What every result has.

    Attributes:
        diagnostics: what was found, sorted.
    """

    json_properties: ClassVar[tuple[str, ...]] = ("partial",)

    diagnostics: tuple[Diagnostic, ...]

    @property
    def partial(self) -> bool:
        """Whether something failed, so that there may be more than the result says."""
        return is_partial(self.diagnostics)


@dataclass(frozen=True, slots=True)
class Listing(Found):
    """The Applications that a tree defines, by namespace and name."""

    applications: tuple[ListedApplication, ...]


def _bare(name: str) -> str:
    return name.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Expansion:
    """An Application that an ApplicationSet makes.

    Attributes:
        set: the ApplicationSet, as `namespace/name`; for machines its name alone.
        generator: where its generator is in the set.
        application: the object.
        element: which parameter set of the generator it is, from 0.
        parameters: that set.
    """

    set: str = field(metadata={"json": _bare})
    generator: str
    application: Mapping[str, Any]
    element: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expansions(Found):
    """What ApplicationSets make, in the order of their generators."""

    applications: tuple[Expansion, ...]
    _sets: tuple[ApplicationSet, ...] = field(repr=False, compare=False, metadata={"json": False})

    def needed_facts(self) -> dict[str, Any]:
        """The content of a facts file with what the generators ask of clusters, forges and plugins, to be filled in."""
        from commodore.argocd.appsets import needed_facts

        return needed_facts(self._sets)


@dataclass(frozen=True, slots=True)
class RenderedObject:
    """An object of an Application.

    Attributes:
        source: the number of its source, from 1.
        origin: its file or template; empty if that is not known.
        partial: whether other sources of the Application do not render.
        hook: the phases in which it runs; None if it is no hook.
    """

    application: str
    source: int
    origin: str
    partial: bool
    hook: tuple[str, ...] | None
    identity: ObjectKey
    object: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rendering(Found):
    """The objects that Applications render to, by namespace and name."""

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
        """All objects as one YAML stream, each with a comment of its Application, source and file."""
        return stream(self.applications)

    def write(self, folder: Path, layout: Layout = "app") -> int:
        """Replace a folder by the objects. Returns the number of files.

        Args:
            layout: `app`, a file for each Application; `object`, one for each object.

        Raises:
            CommodoreError: see `write_layout`.
        """
        return write_layout(self.applications, folder, layout, self._own)


@dataclass(frozen=True, slots=True)
class Report(Found):
    """What came of testing each Application."""

    applications: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class ApplicationChange:
    """What becomes of an Application.

    Attributes:
        name: `namespace/name`.
        note: why it is unknown.
        dangers: names of dangers, such as `deletes-volume`.
        objects: those that differ, with their fields, in the order of reports.
        flags: the dangers, each with its object and what it is about.
    """

    name: str
    state: State
    note: str
    dangers: tuple[str, ...]
    objects: tuple[ObjectChange, ...] = ()
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference(Found):
    """What differs between two trees. Secrets are masked in all of it.

    Attributes:
        base, target: what people call the trees.
        applications: all that were looked at, by name.
        dangers: the names of all dangers, the worst first.
    """

    base: str
    target: str
    applications: tuple[ApplicationChange, ...]
    dangers: tuple[str, ...]
    _found: comparing.Difference = field(repr=False, compare=False)
    _sides: tuple[Side, Side] = field(repr=False, compare=False)

    @property
    def partial(self) -> bool:
        """Whether something failed, so that there may be more differences."""
        return is_partial(self.diagnostics) or any(application.state == "unknown" for application in self.applications)

    @property
    def changed(self) -> bool:
        """Whether anything differs."""
        return bool(self._found.review.groups)

    @property
    def review(self) -> Review:
        """The differences as reports have them, grouped."""
        return self._found.review

    def text(self) -> str:
        """The report as `argocd diff` prints it, without colours."""
        return "\n".join(line.text for line in text_report(self._found.review))

    def markdown(self, budget: int = COMMENT_BYTES, whole: str = "") -> str:
        """The report for a comment of a pull request.

        Args:
            budget: the most bytes.
            whole: where the whole report is, which a cut one names.
        """
        return markdown_report(self._found.review, title=_TITLE, budget=budget, whole=whole)

    def html(self) -> str:
        """The report as one HTML file."""
        return html_report(self._found.review, title=_TITLE)

    def sarif(self) -> str:
        """Dangers and diagnostics as a SARIF log, as code scanning of forges takes it."""
        return as_sarif(self.diagnostics, self._sides[1].root, self._found)

    def as_plain(self) -> DifferenceRecord:
        """The difference for machines; see `commodore.base.documents.plain`."""
        return difference_record(self._found, self._sides, self.diagnostics, partial=self.partial)


@dataclass(frozen=True, slots=True)
class Diagnosis(Found):
    """Everything that is found while a tree is read."""

    _root: Path = field(repr=False, compare=False, metadata={"json": False})

    def sarif(self) -> str:
        """The diagnostics as a SARIF log."""
        return as_sarif(self.diagnostics, self._root)


@dataclass(frozen=True, slots=True)
class Normalized(Found):
    """Objects without what does not count in comparisons."""

    objects: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Version(Found):
    """The version of Argo CD that is followed, and the tools and languages that render.

    Attributes:
        commodore: the version of this program.
        libraries: the versions of libraries by language; None for those that are not installed.
    """

    commodore: str
    argocd: str
    tools: tuple[Installed, ...]
    libraries: Mapping[str, str | None]
    python: str


@dataclass(frozen=True, slots=True)
class RunImages:
    """The images that a commit renders of an Application.

    Attributes:
        revisions: of its sources, the commit for those in the repository itself.
        problem: why they are unknown.
    """

    images: tuple[str, ...] = ()
    revisions: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Images(Found):
    """Images with the objects that name them."""

    images: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A setting that counts: a key of a ConfigMap.

    Attributes:
        value: as written.
        level: what kind of place it is from.
        place: its file and line; None for a default.
        overridden: the places of values of lower levels that it replaces.
    """

    config_map: str
    key: str
    value: str
    level: Level
    place: Location | None
    overridden: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class Settings(Found):
    """The settings of the installation.

    Attributes:
        namespace: that of Argo CD.
        clusters: those that cluster Secrets describe, without their credentials.
        repositories: those that Secrets and values of the chart describe, likewise.
    """

    namespace: str
    settings: tuple[SettingValue, ...]
    clusters: tuple[Cluster, ...]
    repositories: tuple[KnownRepository, ...]


@dataclass(frozen=True, slots=True)
class Explanation(Found):
    """Why an Application is there, and what it is made of."""

    application: ExplainedApplication
