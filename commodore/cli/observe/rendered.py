"""The images of Applications as git renders them, for `observe plan`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from commodore.base.errors import UsageError
from commodore.cli.argocd.analysis import options_by
from commodore.cli.shell.console import Console

if TYPE_CHECKING:
    from commodore.observe import RenderedImages


def checked_source(values: Mapping[str, Any]) -> None:
    """Refuse options that do not fit each other.

    Raises:
        UsageError: CMD-OBS-030, a repository is missing or given for nothing, or what is not synced is to count.
    """
    if (values["images_from"] == "rendered") != (values["path"] is not None):
        raise UsageError(
            "CMD-OBS-030",
            "--images-from rendered and --path belong together",
            hint="name the folder with the Applications, or leave both out",
        )
    if values["images_from"] == "rendered" and values["unsynced"]:
        raise UsageError(
            "CMD-OBS-030",
            "--unsynced and --images-from rendered do not go together",
            hint="leave --unsynced out: what git renders runs only once it is synced",
        )


def rendered_images(
    console: Console, requested: Collection[str], values: Mapping[str, Any]
) -> dict[str, RenderedImages]:
    """Return the rendered images of Applications at a commit, by `namespace/name`; undefined ones are omitted.

    Raises:
        CommodoreError: the repository, the revision or a file that is named cannot be read.
    """
    from commodore.argocd import Tree, run_images
    from commodore.observe import RenderedImages

    options = options_by({**values, "self_revisions": "all"}, console)
    images, read = run_images(Tree(values["path"], values["ref"]), requested, options)
    console.diagnostics(read.diagnostics)
    return {label: RenderedImages(image.images, image.revisions, image.problem) for label, image in images.items()}
