"""Applications rendered for those who ask: checked, without what is not wanted, in an order that does not change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from commodore.argocd.checking import Projects
from commodore.argocd.finishing import desired, manifests
from commodore.argocd.model.application import Application
from commodore.argocd.question import Question
from commodore.argocd.rendering import PartlyRendered, Rendered
from commodore.argocd.running import Listing, Run
from commodore.base.diagnostics import Subject
from commodore.base.errors import CommodoreError, Findings
from commodore.base.kubernetes import key_of
from commodore.core.review.object_diff import GONE

Stage = Literal["desired", "manifests"]


@dataclass(frozen=True, slots=True)
class RenderedApplication:
    """What an Application renders to.

    Attributes:
        name: `namespace/name`.
        objects: what Argo CD compares with the cluster; if it does not render, what those of its sources give that do.
        error: why it does not render.
        instance: what tracking calls it.
    """

    name: str
    objects: tuple[Rendered, ...] = ()
    error: CommodoreError | None = None
    instance: str = ""

    @property
    def partial(self) -> bool:
        """Whether objects are there, and others are missing."""
        return self.error is not None and bool(self.objects)


def render_applications(
    asked: Question, listing: Listing, wanted: Sequence[Application], run: Run, stage: Stage = "desired"
) -> Iterator[RenderedApplication]:
    """Applications in their order with the objects that the options want. What fails is reported.

    Args:
        stage: `desired`, what Argo CD compares with the cluster; `manifests`, what the sources give, with tracking.
    """
    projects = Projects(listing.settings, asked.found)
    order = asked.options.order or ("name" if stage == "desired" else "source")
    for application, made in run.renderer.render_all(wanted, asked.options.jobs):
        label = listing.label(application)
        instance = listing.settings.instance_name(application.namespace, application.name)
        failure = made if isinstance(made, PartlyRendered) else None
        given = made.objects if isinstance(made, PartlyRendered) else made
        try:
            if isinstance(given, CommodoreError):
                raise given
            objects = manifests(application, given, listing.settings, asked.found)
            if stage == "desired":
                named = asked.options.cluster_scoped
                objects = desired(application, objects, listing.settings, named, asked.found)
                projects.check(application, objects, asked.found)
        except CommodoreError as error:
            asked.found.take(error if failure is None else Findings((failure, error)), Subject(application=label))
            yield RenderedApplication(label, (), failure or error, instance)
        else:
            if failure is not None:
                asked.found.take(failure, Subject(application=label))
            shown = [_stripped(one, asked) for one in objects if asked.counts(one.data)]
            if order == "name":
                shown.sort(key=_by_name)
            yield RenderedApplication(label, tuple(shown), failure, instance)


def _stripped(one: Rendered, asked: Question) -> Rendered:
    data = one.data
    for place in asked.stripped_places:
        data = place.changed(data, lambda _key, _value: GONE)
    return replace(one, data=data)


def _by_name(one: Rendered) -> tuple[str, ...]:
    key = key_of(one.data)
    return key.namespace, key.group, key.kind, key.name
