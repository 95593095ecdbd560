"""Explaining an Application: its origin, the origins of its sources, the files they read, and their objects."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from commodore.argocd.acquiring import repository_identity
from commodore.argocd.comparing import reads_of
from commodore.argocd.discovery import Listing
from commodore.argocd.finishing import desired, manifests
from commodore.argocd.model.application import Application, Destination
from commodore.argocd.model.sources import Source
from commodore.argocd.operations.explaining_objects import ExplainedObject, SourcedObject, Stages
from commodore.argocd.planning import overridden, source_type
from commodore.argocd.rendering import OpenSources, Rendered, Trace
from commodore.argocd.rendering.value_layers import ExplainedValue, Layer
from commodore.argocd.trees import folder_of
from commodore.base.diagnostics import Diagnostics
from commodore.base.documents import ABSENT, Absent
from commodore.base.errors import CommodoreError
from commodore.base.kubernetes import key_of
from commodore.core.sources.git import redact


@dataclass(frozen=True, slots=True)
class ListedSource:
    """A source as written, without credentials in its URL.

    Attributes:
        index: its number, from 1.
    """

    index: int
    repo_url: str
    path: str
    chart: str
    target_revision: str
    ref: str


@dataclass(frozen=True, slots=True)
class ExplainedSource(ListedSource):
    """A source.

    Attributes:
        origin: the origin of its files, in words.
        type: such as `Helm` or `Directory`; empty if it is unknown.
        overrides: the files that override it.
        commit: the commit of its files; left out if they are not read.
    """

    origin: str
    type: str = ""
    overrides: Sequence[str] = ()
    commit: str | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class ExplainedApplication:
    """An Application, with its origin and its content.

    Attributes:
        chain: the definitions that lead to it, the outermost first, in words.
        commands: the commands that give the same result from the root of the repository.
        reads: the paths that it reads in the repository.
        value: if requested, the layers that set a value of its charts.
        object: if requested, an object after each stage.
    """

    name: str
    instance: str
    project: str
    destination: Destination
    chain: Sequence[str]
    sources: Sequence[ExplainedSource]
    commands: Sequence[str]
    reads: Sequence[str]
    objects: Sequence[SourcedObject]
    value: ExplainedValue | Absent = ABSENT
    object: ExplainedObject | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class Explained:
    """An Application, with its intermediate results.

    Attributes:
        application: the explained Application.
        objects: the objects as Argo CD compares them with the cluster; empty if it does not render.
        stages: the objects after each stage; the last stage has `objects`.
        error: the error if it does not render.
        layers: the values of its charts, in ascending precedence.
    """

    application: ExplainedApplication
    objects: Sequence[Rendered] = ()
    error: CommodoreError | None = None
    stages: Stages = ()
    layers: Sequence[Layer] = ()


def explain_application(
    application: Application, listing: Listing, opened: OpenSources, diagnostics: Diagnostics
) -> Explained:
    """Explain an Application: the chain that leads to it, and its sources with the files that they read."""
    label = listing.label(application)
    trace = Trace(layers=[])
    error: CommodoreError | None = None
    objects: tuple[Rendered, ...] = ()
    stages: Stages = ()
    try:
        rendered = opened.renderer.render(application, trace)
        first = copy.deepcopy(rendered)  # the stages after it write into the objects
        tracked = manifests(application, rendered, listing.settings, diagnostics)
        second = copy.deepcopy(tracked)
        objects = desired(application, tracked, listing.settings, (), diagnostics)
        stages = (("rendered", first), ("tracked", second), ("desired", objects))
    except CommodoreError as failure:
        error = failure
    explained = ExplainedApplication(
        label,
        listing.settings.instance_name(application.namespace, application.name),
        application.project,
        application.destination,
        _chain(label, application, listing),
        [_source(application, index, source, listing, opened) for index, source in enumerate(application.sources, 1)],
        trace.commands,
        _reads(application, listing, opened),
        [
            SourcedObject(rendered_object.source, rendered_object.origin, *key_of(rendered_object.data))
            for rendered_object in objects
        ],
    )
    return Explained(explained, objects, error, stages, tuple(trace.layers or ()))


def listed_source(index: int, source: Source) -> ListedSource:
    """Return a source for lists."""
    return ListedSource(index, redact(source.repo_url), source.path, source.chart, source.revision, source.ref)


def _chain(label: str, application: Application, listing: Listing) -> list[str]:
    """Return the definitions that lead to an Application, the outermost first."""
    known = {listing.label(listed): listed for listed in listing.applications}
    steps: list[str] = []
    seen: set[str] = set()
    while label not in seen and application is not None:
        seen.add(label)
        origin = listing.origins.get(label)
        place = f"{application.place.place}:{application.place.line}"
        if origin is None or origin.kind == "file":
            steps.append(f"{label} is defined in {place}")
            break
        if origin.kind == "set":
            steps.append(f"{label} is made by the ApplicationSet {origin.set} in {place}, by {origin.generator}")
            break
        steps.append(f"{label} is rendered by {origin.parent or 'an entry'}")
        if origin.parent not in known:
            break
        label, application = origin.parent, known[origin.parent]
    return steps[::-1]


def _source(
    application: Application, index: int, source: Source, listing: Listing, opened: OpenSources
) -> ExplainedSource:
    explained = ExplainedSource(**asdict(listed_source(index, source)), origin=_origin_of(source, listing, opened))
    if source.chart or not source.path:
        return replace(explained, type="Helm" if source.chart else "")
    try:
        tree = opened.repositories.of(source, listing.settings.profile)
        folder = folder_of(tree, source.path, source.place, source.repo_url)
        instance = listing.settings.instance_name(application.namespace, application.name)
        given, files = overridden(source, folder, tree.root, instance, opened.renderer.context.limits)
        kind = source_type(given, folder, listing.settings)
    except CommodoreError:
        return explained  # reported by rendering
    return replace(explained, type=kind, overrides=files, commit=tree.revision)


def _origin_of(source: Source, listing: Listing, opened: OpenSources) -> str:
    if source.chart:
        return "its chart repository, or the cache"
    mapped = opened.repositories.repo_map.find(source.repo_url)
    if mapped is not None:
        return f"{mapped.folder}, by --repo-map"
    own = listing.own.get(repository_identity(source.repo_url))
    if own is not None:
        stands = own.stands is None or own.stands.cover(source.revision)
        return "the tree itself" if stands else "the local repository, or its own"
    return "its repository, or the cache"


def _reads(application: Application, listing: Listing, opened: OpenSources) -> list[str]:
    try:
        return reads_of(application, listing.settings, listing.own, opened.renderer.context.limits).as_lines()
    except CommodoreError:
        return []
