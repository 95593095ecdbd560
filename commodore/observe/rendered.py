"""Images as git renders them, in place of those that Argo CD has seen of Pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from commodore.base.kubernetes.images import read_images
from commodore.base.limits import DEFAULT_LIMITS
from commodore.observe.kargo import Application
from commodore.observe.worlds import SeenApplication, StageWorld

_SHOWN = 12  # of a commit's digits


@dataclass(frozen=True, slots=True)
class RenderedImages:
    """What was rendered of one Application.

    Attributes:
        images: references as written.
        revisions: what was rendered of each source: a commit, or the version of a chart.
        problem: why it could not be rendered; empty if it could.
    """

    images: tuple[str, ...] = ()
    revisions: tuple[str, ...] = ()
    problem: str = ""


def with_rendered_images(worlds: Iterable[StageWorld], rendered: Mapping[str, RenderedImages]) -> list[StageWorld]:
    """The worlds with the images that were rendered, by `namespace/name` of their Applications.

    Images count as known only if exactly that was rendered which Argo CD has synced.
    """
    return [
        replace(world, applications=tuple(_with_images(one, rendered) for one in world.applications))
        for world in worlds
    ]


def _with_images(seen: SeenApplication, rendered: Mapping[str, RenderedImages]) -> SeenApplication:
    found = rendered.get(
        str(seen.application.meta), RenderedImages(problem="the repository defines no such Application")
    )
    unknown = found.problem or _other_revision(seen.application, found) or _too_many(found)
    images, invalid = read_images(() if unknown else found.images)
    return replace(seen, application=replace(seen.application, images=images, invalid_images=invalid), unknown=unknown)


def _other_revision(application: Application, found: RenderedImages) -> str:
    if not application.revisions:
        return "Argo CD does not report which revision it has synced"
    for revision in found.revisions:
        if revision not in application.revisions:
            synced = ", ".join(one[:_SHOWN] for one in application.revisions)
            return f"{revision[:_SHOWN] or 'HEAD'} was rendered, and Argo CD has synced {synced}"
    return ""


def _too_many(found: RenderedImages) -> str:
    most = DEFAULT_LIMITS.observed_images
    return f"it has more than {most} images" if len(set(found.images)) > most else ""
