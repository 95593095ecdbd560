"""What the functions of `api` give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.argocd import comparing
from commodore.argocd.appsets import ApplicationSet
from commodore.argocd.asking.layout import Layout, stream, write_layout
from commodore.argocd.asking.rendered import RenderedApplication
from commodore.argocd.asking.sarif import as_sarif
from commodore.argocd.checking import Outcome
from commodore.argocd.comparing import Side, State
from commodore.argocd.comparing.document import difference_data
from commodore.argocd.comparing.images import Use
from commodore.argocd.configuration import Provenanced
from commodore.argocd.configuration.installed import Installed
from commodore.argocd.diagnostics import is_partial
from commodore.argocd.discovery import Origin
from commodore.argocd.model import Cluster, KnownRepository
from commodore.argocd.model.application import Destination
from commodore.argocd.trees import Tree as Files
from commodore.base.diagnostics import Diagnostic
from commodore.base.errors import Location
from commodore.core.review import COMMENT_BYTES, Flag, ObjectChange, Review, html_report, markdown_report, text_report

_TITLE = "Argo CD changes"


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A source as it is written, without credentials in its URL."""

    url: str
    path: str
    chart: str
    revision: str
    ref: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an Application is from.

    Attributes:
        place: the file and line of what defines it.
        origin: a file, an ApplicationSet with its generator, or the Application that renders it.
    """

    place: Location
    origin: Origin


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
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Found:
    """What every result has.

    Attributes:
        diagnostics: what was found, sorted.
    """

    diagnostics: tuple[Diagnostic, ...]

    @property
    def partial(self) -> bool:
        """Whether something failed, so that there may be more than the result says."""
        return is_partial(self.diagnostics)


@dataclass(frozen=True, slots=True)
class Listing(Found):
    """Applications by namespace and name."""

    applications: tuple[ListedApplication, ...]


@dataclass(frozen=True, slots=True)
class Expansion:
    """An Application that an ApplicationSet makes.

    Attributes:
        set: the ApplicationSet, as `namespace/name`.
        generator: where its generator is in the set.
        application: the object.
        element: which parameter set of the generator it is, from 0.
        parameters: that set.
    """

    set: str
    generator: str
    application: Mapping[str, Any]
    element: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expansions(Found):
    """What ApplicationSets make, in the order of their generators."""

    applications: tuple[Expansion, ...]
    _sets: tuple[ApplicationSet, ...] = field(repr=False, compare=False)

    def needed_facts(self) -> dict[str, Any]:
        """The content of a facts file with what the generators ask of clusters, forges and plugins, to be filled in."""
        from commodore.argocd.appsets import needed_facts

        return needed_facts(self._sets)


@dataclass(frozen=True, slots=True)
class Rendering(Found):
    """Applications by namespace and name."""

    applications: tuple[RenderedApplication, ...]
    _own: Mapping[str, Files] = field(repr=False, compare=False)

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
    """What testing comes to, for each Application."""

    outcomes: tuple[Outcome, ...]


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
        return is_partial(self.diagnostics) or any(one.state == "unknown" for one in self.applications)

    @property
    def changed(self) -> bool:
        """Whether anything differs."""
        return bool(self._found.review.groups)

    @property
    def review(self) -> Review:
        """The differences as reports have them, grouped."""
        return self._found.review

    @property
    def sides(self) -> dict[str, dict[str, str]]:
        """The two trees, JSON-ready."""
        base, target = self._sides
        return {"base": base.as_dict(), "target": target.as_dict()}

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

    def as_dict(self) -> dict[str, Any]:
        """Counts, dangers, groups and objects, JSON-ready, as docs/reference/argocd-diff-schema.json says."""
        return difference_data(self._found)


@dataclass(frozen=True, slots=True)
class Diagnosis(Found):
    """Everything that is found while a tree is read."""

    _root: Path = field(repr=False, compare=False)

    def sarif(self) -> str:
        """The diagnostics as a SARIF log."""
        return as_sarif(self.diagnostics, self._root)


@dataclass(frozen=True, slots=True)
class Normalized(Found):
    """Objects without what does not count in comparisons."""

    objects: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Version(Found):
    """The version of Argo CD that is followed, and the tools that render."""

    argocd: str
    tools: tuple[Installed, ...]


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

    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A setting that counts: a key of a ConfigMap."""

    config_map: str
    key: str
    value: Provenanced


@dataclass(frozen=True, slots=True)
class Settings(Found):
    """The settings of the installation.

    Attributes:
        namespace: that of Argo CD.
        clusters: those that cluster Secrets describe, without their credentials.
        repositories: those that Secrets and values of the chart describe, likewise.
    """

    namespace: str
    values: tuple[SettingValue, ...]
    clusters: tuple[Cluster, ...]
    repositories: tuple[KnownRepository, ...]


@dataclass(frozen=True, slots=True)
class Explanation(Found):
    """Why an Application is there, and what it is made of: JSON-ready, as `argocd explain -o json` writes it."""

    application: Mapping[str, Any]
