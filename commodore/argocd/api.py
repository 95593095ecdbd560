"""What programs use: each question about a tree as a function with typed results (docs/how-to/argocd-from-python.md).

Nothing is printed and nothing depends on the current folder. A function raises only what makes the whole question
meaningless (no such folder, a name that fits no Application); all else is in `diagnostics`, beside what worked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.argocd import comparing, explaining, running
from commodore.argocd.checking import Outcome, Tester
from commodore.argocd.comparing import State
from commodore.argocd.comparing.document import difference_data
from commodore.argocd.comparing.images import Use, changed_uses, uses_of
from commodore.argocd.configuration import Provenanced
from commodore.argocd.diagnostics import is_partial
from commodore.argocd.discovery import Lost, Origin, may_be_meant
from commodore.argocd.explaining_objects import explain_object
from commodore.argocd.model import Cluster, KnownRepository
from commodore.argocd.model.application import Application, Destination
from commodore.argocd.options import Options, Tree
from commodore.argocd.question import Question
from commodore.argocd.rendered import RenderedApplication, Stage, render_applications
from commodore.argocd.rendering.value_layers import explain_value
from commodore.argocd.sarif import as_sarif
from commodore.base.diagnostics import Diagnostic, Subject
from commodore.base.errors import Location, UsageError
from commodore.core.review.object_diff import (
    COMMENT_BYTES,
    Flag,
    ObjectChange,
    html_report,
    markdown_report,
    text_report,
)
from commodore.core.sources.git import redact

_TITLE = "Argo CD changes"
_EMPTY = "CMD-ARGO-011"


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


@dataclass(frozen=True, slots=True)
class Rendering(Found):
    """Applications by namespace and name."""

    applications: tuple[RenderedApplication, ...]


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
    _root: Path = field(repr=False, compare=False)

    @property
    def partial(self) -> bool:
        """Whether something failed, so that there may be more differences."""
        return is_partial(self.diagnostics) or any(one.state == "unknown" for one in self.applications)

    @property
    def changed(self) -> bool:
        """Whether anything differs."""
        return bool(self._found.review.groups)

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
        return as_sarif(self.diagnostics, self._root, self._found)

    def as_dict(self) -> dict[str, Any]:
        """Counts, dangers, groups and objects, JSON-ready, as docs/reference/argocd-diff-schema.json says."""
        return difference_data(self._found)


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


def list_applications(tree: Tree, options: Options | None = None, select: Sequence[str] = ()) -> Listing:
    """The Applications that a tree defines: in files, by ApplicationSets, and in what other Applications render.

    Args:
        select: names or patterns of Applications; all if there are none.

    Raises:
        CommodoreError: the tree is not there or cannot be read, or a name fits no Application.
    """
    with _asked(options) as asked:
        listing = asked.listing(tree, select)
        found = tuple(_described(one, listing) for one in asked.selected(listing, select))
        return Listing(asked.listed(listing), found)


def expand(tree: Tree, options: Options | None = None, select: Sequence[str] = ()) -> Expansions:
    """The Applications that ApplicationSets make, those of a tree or of the files that the options name.

    Args:
        select: names or patterns of ApplicationSets; all if there are none.

    Raises:
        CommodoreError: as `list_applications`, or a name fits no ApplicationSet.
    """
    from commodore.argocd.expanding import expand_sets

    with _asked(options) as asked:
        found = expand_sets(asked, tree, select)
        labels = {one.name: f"{one.namespace or 'argocd'}/{one.name}" for one in found.sets}
        made = (Expansion(labels[one.set], one.path, one.data, one.number, one.params) for one in found.made)
        return Expansions(asked.told(), tuple(made))


def render(
    tree: Tree, options: Options | None = None, select: Sequence[str] = (), stage: Stage = "desired"
) -> Rendering:
    """What Applications render to.

    Args:
        select: names or patterns of Applications; all if there are none.
        stage: what Argo CD compares with the cluster, or what the sources give, with tracking.

    Raises:
        CommodoreError: as `list_applications`, or a name fits no Application.
    """
    with _asked(options) as asked:
        applications, diagnostics = _rendered(asked, tree, select, stage)
        return Rendering(diagnostics, applications)


def test(tree: Tree, options: Options | None = None, select: Sequence[str] = ()) -> Report:  # noqa: PT028
    """Whether Applications render, and whether their AppProjects allow what they want.

    Raises:
        CommodoreError: as `render`.
    """
    with _asked(options) as asked:
        listing = asked.listing(tree, select)
        wanted = asked.selected(listing, select)
        with asked.run(listing) as run:
            tester = Tester(listing.settings, run.renderer, asked.checks, asked.found)
            outcomes = tuple(tester.run(wanted, asked.options.jobs))
        lost = (_untested(one) for one in listing.lost if may_be_meant(one, select))
        return Report(asked.rendered(listing, wanted), (*lost, *outcomes))


def diff(base: Tree | None, target: Tree, options: Options | None = None, select: Sequence[str] = ()) -> Difference:
    """What differs between two trees in what Argo CD would deploy.

    Args:
        base: None for the commit where the target left the default branch of `origin`.

    Raises:
        CommodoreError: as `render`.
    """
    with _asked(options) as asked:
        old, new = asked.sides(base, target)
        found = asked.compare((old, new), select)
        shown = tuple(_changed(one, found) for one in found.applications)
        dangers = tuple(dict.fromkeys(flag.name for flag in found.review.flags))
        return Difference(asked.told(), old.shown, new.shown, shown, dangers, found, new.root)


def images(
    tree: Tree, options: Options | None = None, select: Sequence[str] = (), *, base: Tree | None = None
) -> Images:
    """The images that Applications run, or with a base those that differ.

    Raises:
        CommodoreError: as `render`.
    """
    with _asked(options) as asked:
        if base is not None:
            found = asked.compare(asked.sides(base, tree), select)
            return Images(asked.told(), tuple(changed_uses(found, asked.image_places)))
        applications, diagnostics = _rendered(asked, tree, select)
        uses = (
            use
            for one in applications
            for use in uses_of(one.name, (made.data for made in one.objects), asked.image_places)
        )
        return Images(diagnostics, tuple(uses))


def settings(tree: Tree | None, options: Options | None = None) -> Settings:
    """The settings that count for a tree, each with where it is from.

    Args:
        tree: None for those alone of the files that the options name.

    Raises:
        CommodoreError: as `list_applications`.
    """
    with _asked(options) as asked:
        if tree is None:
            read, diagnostics = asked.given_settings(), asked.told()
        else:
            listing = asked.listing(tree)
            # A repository with nothing but settings is a fine answer here.
            read, diagnostics = listing.settings, tuple(one for one in asked.listed(listing) if one.code != _EMPTY)
        values = tuple(SettingValue(*row) for row in read.rows())
        return Settings(diagnostics, read.namespace, values, tuple(read.clusters), read.repositories)


def explain(
    tree: Tree, application: str, options: Options | None = None, object_: str = "", value: str = ""
) -> Explanation:
    """Why an Application is there, where its sources come from, what they read and give.

    Args:
        object_: an object of it, as `KIND/NAME` or `KIND/NAMESPACE/NAME`, perhaps with `/` and a JSON pointer: also
            what that was after each stage.
        value: a value of its charts, such as `image.tag`: also which layers set it.

    Raises:
        CommodoreError: as `render`; CMD-ARGO-026, the name is a pattern that fits several; CMD-ARGO-029, there is no
            such object, or nothing at the pointer; CMD-ARGO-036, no layer has the value.
    """
    with _asked(options) as asked:
        listing = asked.listing(tree, (application,))
        wanted = asked.selected(listing, (application,))
        if len(wanted) != 1:
            raise UsageError(
                "CMD-ARGO-026",
                f"{application!r} fits {len(wanted)} Applications",
                hint="name one, as NAMESPACE/NAME",
            )
        with asked.run(listing) as run:
            made = explaining.explain(wanted[0], listing, asked.repo_map, run, asked.context, asked.found)
        if made.error is not None:
            asked.found.take(made.error, Subject(application=made.data["name"]))
        if value:
            made.data["value"] = explain_value(made.layers, value)
        if object_ and made.error is None:
            made.data["object"] = explain_object(made.stages, object_)
        return Explanation(asked.rendered(listing, wanted), made.data)


def _untested(lost: Lost) -> Outcome:
    """The outcome of a definition that is lost: what it makes is not tested."""
    name = lost.label if lost.kind == "Application" else f"{lost.kind} {lost.label}"
    return Outcome(name, "UNKNOWN", 0, (lost.reason,))


def _changed(verdict: comparing.Verdict, found: comparing.Difference) -> ApplicationChange:
    """What became of an Application, with its objects as reports have them: secrets masked."""
    return ApplicationChange(
        verdict.name,
        verdict.state,
        verdict.note,
        tuple(dict.fromkeys(flag.name for flag in verdict.flags)),
        tuple(one for one in found.review.comparison.changes if one.source == verdict.name),
        verdict.flags,
    )


def _described(application: Application, listing: running.Listing) -> ListedApplication:
    """An Application of a listing with where it is from."""
    controller = listing.settings
    return ListedApplication(
        name=application.name,
        namespace=application.namespace or controller.namespace,
        instance=controller.instance_name(application.namespace, application.name),
        project=application.project,
        destination=application.destination,
        labels=application.labels,
        sources=tuple(
            ListedSource(redact(one.repo_url), one.path, one.chart, one.revision, one.ref)
            for one in application.sources
        ),
        provenance=Provenance(application.place, listing.origins.get(listing.label(application), Origin())),
    )


def _asked(options: Options | None) -> Question:
    return Question(options or Options())


def _rendered(
    asked: Question, tree: Tree, select: Sequence[str], stage: Stage = "desired"
) -> tuple[tuple[RenderedApplication, ...], tuple[Diagnostic, ...]]:
    listing = asked.listing(tree, select)
    wanted = asked.selected(listing, select)
    with asked.run(listing) as run:
        made = tuple(render_applications(asked, listing, wanted, run, stage))
    return made, asked.rendered(listing, wanted)
