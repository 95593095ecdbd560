"""`commodore catalog validate`: validation of a catalog's objects by the schemas of Kubernetes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import counted, some_of
from commodore.cli.catalog.settings import CATALOG_VALIDATE
from commodore.cli.catalog.tree import selected_objects
from commodore.cli.shell.console import console_of, working_dir
from commodore.cli.shell.diagnostics import compact_lines
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.catalog import Validation

_COLOURS = {"error": "red", "warning": "yellow"}


@click.command("validate")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@options(*CATALOG_VALIDATE)
@click.pass_context
def catalog_validate(ctx: click.Context, /, folder: Path | None, **values: Any) -> int:
    """Check the objects of a catalog: their structure, the versions of their APIs, and whether some are there twice.

    FOLDER is a working copy of a catalog repository, or any folder with manifests; by default the catalog of the
    working directory. Kinds of Kubernetes and of CustomResourceDefinitions in the catalog are checked, without network
    and without a cluster. Needs the extra `validate`. Ends with exit code 1 if errors are found.
    """
    from commodore.catalog import validate_objects

    objects = selected_objects(folder or working_dir(ctx) / "catalog", values["revision"], values)
    result = validate_objects(objects, values["kube_version"])
    console = console_of(ctx)
    if values["output_format"] == "json":
        console.document("catalog-validate", result)
    else:
        for line in _lines(result):
            console.result(line)
    return int(bool(result.count("error") or (values["strict"] and result.problems)))


def _lines(validation: Validation) -> Iterator[str]:
    for problem in validation.problems:
        yield from compact_lines(problem, str(problem.subject.object))
    counts = [counted(validation.count(item), item) for item in _COLOURS]
    colour = next((_COLOURS[item] for item in _COLOURS if validation.count(item)), "green")
    compared = f"{counted(validation.objects, 'object')} compared with Kubernetes {validation.release}"
    yield click.style(f"{' and '.join(counts)} in {compared}", fg=colour, bold=True)
    if validation.without_schema:
        total = sum(count for _, count in validation.without_schema)
        kinds = some_of([str(kind) for kind, _ in validation.without_schema])
        yield f"no schema is known for {counted(total, 'object')}: {kinds}"
