"""`commodore catalog objects`, `images` and `sbom`: the content of a catalog."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.context import Context
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.printable import cells, printable
from commodore.cli.catalog.settings import CATALOG_IMAGES, CATALOG_OBJECTS
from commodore.cli.catalog.tree import selected_objects
from commodore.cli.shell.console import console_of, working_dir
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.base.kubernetes import ObjectKey
    from commodore.catalog import CatalogImage, ImageChange, ListedObject


@dataclass(frozen=True, slots=True)
class ListedObjects:
    """The objects of a catalog."""

    objects: tuple[ListedObject, ...]


@dataclass(frozen=True, slots=True)
class ListedImages:
    """The images that the objects of a catalog name."""

    images: tuple[CatalogImage, ...]


@dataclass(frozen=True, slots=True)
class ImageChanges:
    """The images that only one of two catalogs names, by repository."""

    changes: tuple[ImageChange, ...]


@click.command("objects")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@options(*CATALOG_OBJECTS)
@click.pass_context
def catalog_objects(ctx: click.Context, /, folder: Path | None, **values: Any) -> None:
    """List the Kubernetes objects of a catalog, with file and instance.

    FOLDER is a working copy of a catalog repository, or any folder with manifests; by default the catalog of the
    working directory.
    """
    from commodore.catalog import list_objects

    objects = list_objects(selected_objects(folder or working_dir(ctx) / "catalog", values["revision"], values))
    console = console_of(ctx)
    if values["output_format"] == "json":
        console.document("catalog-objects", ListedObjects(objects))
        return
    rows = [(kind_name(item.key), item.key.namespace, item.key.name, item.instance, item.file) for item in objects]
    for line in table(("KIND", "NAMESPACE", "NAME", "INSTANCE", "FILE"), rows):
        console.result(line)


@click.command("images")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@options(*CATALOG_IMAGES)
@click.pass_context
def catalog_images(ctx: click.Context, /, folder: Path | None, **values: Any) -> None:
    """List the images that the objects of a catalog name, and where they do.

    FOLDER is a working copy of a catalog repository, or any folder with manifests; by default the catalog of the
    working directory. Images are found in containers, in fields called image or ending with Image, in variables
    ending with _IMAGE and in arguments whose option ends with image.
    """
    from commodore.catalog import compare_images, list_images

    console = console_of(ctx)
    place = folder or working_dir(ctx) / "catalog"
    images = list_images(selected_objects(place, values["revision"], values))
    if values["diff"] is None:
        if values["output_format"] == "json":
            console.document("catalog-images", ListedImages(images))
        else:
            for line in _image_lines(images):
                console.result(line)
        return
    changes = compare_images(list_images(selected_objects(place, values["diff"], values)), images)
    if values["output_format"] == "json":
        console.document("catalog-images-diff", ImageChanges(changes))
        return
    for line in _change_lines(changes):
        console.result(line)
    if not changes:
        console.status("The images are the same.")


def _image_lines(results: tuple[CatalogImage, ...]) -> Iterator[str]:
    for item in results:
        mark = "" if item.image.is_pinned else click.style("  (does not name one version)", fg="yellow")
        yield click.style(printable(item.image.text), bold=True) + mark
        for use in item.places:
            yield f"  {printable(f'{use.object.key} ({use.place})  {use.object.file}')}"


def _change_lines(changes: tuple[ImageChange, ...]) -> Iterator[str]:
    for change in changes:
        yield click.style(printable(change.repository), bold=True)
        for sign, colour, images in (("-", "red", change.removed), ("+", "green", change.added)):
            for image in images:
                objects = ", ".join(dict.fromkeys(str(use.object.key) for use in image.places))
                yield click.style(f"  {sign} {printable(image.image.text)}", fg=colour) + f"  {printable(objects)}"


def kind_name(key: ObjectKey) -> str:
    """A kind as kubectl takes it: `Deployment.apps`."""
    return f"{key.kind}.{key.group}" if key.group else key.kind


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Rows under a head, in columns; safe to print whatever they hold."""
    shown = [tuple(map(printable, row)) for row in rows]
    widths = [max(map(cells, column)) for column in zip(head, *shown, strict=True)]
    for row in (head, *shown):
        line = "  ".join(text + " " * (width - cells(text)) for text, width in zip(row, widths, strict=True))
        yield click.style(line.rstrip(), bold=True) if row is head else line.rstrip()


@click.command("sbom")
@options()
@click.pass_context
def catalog_sbom(ctx: click.Context, /, **_values: Any) -> None:
    """Write a bill of materials: components, charts, images, Jsonnet libraries and tools.

    It is about the cluster that was last compiled in the working directory, in the form of CycloneDX 1.6 as JSON.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.catalog import bill_of_materials

    result = bill_of_materials(Workspace.at(working_dir(ctx)), Context(ignore, DEFAULT_LIMITS))
    console_of(ctx).data(json.dumps(result, indent=2))
