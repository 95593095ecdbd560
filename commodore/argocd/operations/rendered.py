"""Rendering Applications for results: checked, filtered, and in a stable order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from commodore.argocd.checking import Projects
from commodore.argocd.finishing import ObjectFilter, desired, manifests, pointers
from commodore.argocd.model.application import Application
from commodore.argocd.rendering import OpenSources, PartlyRendered, Rendered
from commodore.base.diagnostics import Diagnostics, Subject
from commodore.base.errors import CommodoreError, Findings
from commodore.base.kubernetes import key_of
from commodore.core.review import GONE, KindPointer

Stage = Literal["desired", "manifests"]


@dataclass(frozen=True, slots=True)
class RenderedApplication:
    """A rendered Application.

    Attributes:
        name: `namespace/name`.
        objects: the objects as Argo CD compares them with the cluster; after an error, those of the other sources.
        error: the error if it does not render.
        instance: its instance name in tracking.
    """

    name: str
    objects: tuple[Rendered, ...] = ()
    error: CommodoreError | None = None
    instance: str = ""

    @property
    def partial(self) -> bool:
        """True if only some sources are rendered."""
        return self.error is not None and bool(self.objects)


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """Options of rendering Applications for results.

    Attributes:
        stage: `desired`, as compared with the cluster; `manifests`, as rendered from sources, with tracking.
        cluster_scoped: further cluster-scoped kinds, as `GROUP/KIND`.
        jobs: the number of Applications rendered in parallel; 0 for one per usable CPU.
    """

    shown: ObjectFilter
    stage: Stage
    cluster_scoped: Sequence[str]
    jobs: int


def render_applications(
    applications: Sequence[Application], opened: OpenSources, options: RenderOptions, diagnostics: Diagnostics
) -> Iterator[RenderedApplication]:
    """Yield rendered Applications in their order, with the selected objects. Errors are reported."""
    settings = opened.settings
    projects = Projects(settings, diagnostics)
    stripped = pointers(options.shown.strip, "strip")
    order = options.shown.order or ("name" if options.stage == "desired" else "source")
    for application, made in opened.renderer.render_all(applications, options.jobs):
        label = settings.label(application.namespace, application.name)
        instance = settings.instance_name(application.namespace, application.name)
        failure = made if isinstance(made, PartlyRendered) else None
        given = made.objects if isinstance(made, PartlyRendered) else made
        try:
            if isinstance(given, CommodoreError):
                raise given
            objects = manifests(application, given, settings, diagnostics)
            if options.stage == "desired":
                objects = desired(application, objects, settings, options.cluster_scoped, diagnostics)
                projects.check(application, objects, diagnostics)
        except CommodoreError as error:
            diagnostics.take(error if failure is None else Findings((failure, error)), Subject(application=label))
            yield RenderedApplication(label, (), failure or error, instance)
        else:
            if failure is not None:
                diagnostics.take(failure, Subject(application=label))
            shown = [_without(rendered, stripped) for rendered in objects if options.shown.keeps(rendered.data)]
            if order == "name":
                shown.sort(key=_by_name)
            yield RenderedApplication(label, tuple(shown), failure, instance)


def _without(rendered: Rendered, places: Sequence[KindPointer]) -> Rendered:
    data = rendered.data
    for place in places:
        data = place.changed(data, lambda _key, _value: GONE)
    return replace(rendered, data=data)


def _by_name(rendered: Rendered) -> tuple[str, ...]:
    key = key_of(rendered.data)
    return key.namespace, key.group, key.kind, key.name
