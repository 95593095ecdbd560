"""Replace the images reported by Argo CD by those rendered from git."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from commodore.base.kubernetes.images import read_images
from commodore.base.limits import DEFAULT_LIMITS
from commodore.observe.kargo import Application
from commodore.observe.worlds import SeenApplication, StageWorld

_SHOWN = 12  # digits shown of a commit


@dataclass(frozen=True, slots=True)
class RenderedImages:
    """The rendered images of an Application.

    Attributes:
        images: references as written.
        revisions: the rendered revision of each source: a commit, or the version of a chart.
        problem: the reason if it could not be rendered, else empty.
    """

    images: tuple[str, ...] = ()
    revisions: tuple[str, ...] = ()
    problem: str = ""


def with_rendered_images(worlds: Iterable[StageWorld], rendered: Mapping[str, RenderedImages]) -> list[StageWorld]:
    """Return the worlds with rendered images, by `namespace/name` of their Applications.

    Images count as known only if the rendered revisions are the ones that Argo CD has synced.
    """
    return [
        replace(world, applications=tuple(_with_images(observation, rendered) for observation in world.applications))
        for world in worlds
    ]


def _with_images(seen: SeenApplication, rendered: Mapping[str, RenderedImages]) -> SeenApplication:
    result = rendered.get(
        str(seen.application.meta), RenderedImages(problem="the repository defines no such Application")
    )
    unknown = result.problem or _other_revision(seen.application, result) or _too_many(result)
    images, invalid = read_images(() if unknown else result.images)
    return replace(seen, application=replace(seen.application, images=images, invalid_images=invalid), unknown=unknown)


def _other_revision(application: Application, images: RenderedImages) -> str:
    if not application.revisions:
        return "Argo CD does not report which revision it has synced"
    for revision in images.revisions:
        if revision not in application.revisions:
            synced = ", ".join(revision_text[:_SHOWN] for revision_text in application.revisions)
            return f"{revision[:_SHOWN] or 'HEAD'} was rendered, and Argo CD has synced {synced}"
    return ""


def _too_many(images: RenderedImages) -> str:
    most = DEFAULT_LIMITS.observed_images
    return f"it has more than {most} images" if len(set(images.images)) > most else ""
