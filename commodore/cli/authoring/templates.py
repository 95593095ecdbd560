"""`commodore component new|update|delete` and `commodore package new|update`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.context import Context
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS
from commodore.cli.authoring.settings import (
    COMPONENT_DELETE,
    COMPONENT_NEW,
    COMPONENT_UPDATE,
    PACKAGE_NEW,
    PACKAGE_UPDATE,
)
from commodore.cli.authoring.template_choices import diff_lines, read_choices
from commodore.cli.shell.completion import complete_cases, complete_components
from commodore.cli.shell.console import console_of, paint, working_dir
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.authoring import Kind

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command("new")
@click.argument("slug")
@options(*COMPONENT_NEW)
@click.pass_context
def component_new(ctx: click.Context, /, slug: str, **values: Any) -> None:
    """Make the component SLUG from a template: a git repository with one commit. Nothing is pushed.

    Without --output-dir it is made in the working directory, as dependencies/SLUG.
    """
    from commodore.authoring import COMPONENT

    _new(ctx, COMPONENT, slug, values)


@click.command("new")
@click.argument("slug")
@options(*PACKAGE_NEW)
@click.pass_context
def package_new(ctx: click.Context, /, slug: str, **values: Any) -> None:
    """Make the configuration package SLUG from a template: a git repository with one commit. Nothing is pushed.

    Without --output-dir it is made in the working directory, as dependencies/pkg.SLUG.
    """
    from commodore.authoring import PACKAGE

    _new(ctx, PACKAGE, slug, values)


@click.command("update")
@click.argument("path", type=_FOLDER)
@options(*COMPONENT_UPDATE, complete={"remove_test_case": complete_cases})
@click.pass_context
def component_update(ctx: click.Context, /, path: Path, **values: Any) -> None:
    """Merge what has changed in its template into the component in the folder PATH.

    Options change what is stored in PATH/.cruft.json; those not given keep it. What you changed is kept; where the
    template changed the same lines, conflicts are marked for you to resolve.
    """
    from commodore.authoring import COMPONENT

    _update(ctx, COMPONENT, path, values)


@click.command("update")
@click.argument("path", type=_FOLDER)
@options(*PACKAGE_UPDATE, complete={"remove_test_case": complete_cases})
@click.pass_context
def package_update(ctx: click.Context, /, path: Path, **values: Any) -> None:
    """Merge what has changed in its template into the configuration package in the folder PATH.

    Options change what is stored in PATH/.cruft.json; those not given keep it. What you changed is kept; where the
    template changed the same lines, conflicts are marked for you to resolve.
    """
    from commodore.authoring import PACKAGE

    _update(ctx, PACKAGE, path, values)


@click.command("delete")
@click.argument("slug", shell_complete=complete_components)
@options(*COMPONENT_DELETE)
@click.pass_context
def component_delete(ctx: click.Context, /, slug: str, force: bool) -> None:
    """Delete the component SLUG from the working directory: dependencies/SLUG, and its clone if nothing else uses it.

    Work that is not committed and pushed is not deleted, unless --force is given.
    """
    from commodore.authoring import delete_component, plan_deletion
    from commodore.base.files.workspace import Workspace

    console = console_of(ctx)
    workspace = Workspace.at(working_dir(ctx))
    deletion = plan_deletion(workspace, slug, Context(ignore, DEFAULT_LIMITS), force=force)
    if not force and not console.confirmed(f"Delete the component {slug}, {deletion.folder}?"):
        click.echo("Aborted!", err=True)
        ctx.exit(1)
    delete_component(workspace, deletion, console.context)
    console.status(f"Deleted component {slug}")


def _new(ctx: click.Context, kind: Kind, slug: str, values: Mapping[str, Any]) -> None:
    from commodore.authoring import NewRequest, create_repository
    from commodore.base.files.workspace import Workspace

    console = console_of(ctx)
    request = NewRequest(
        kind=kind,
        slug=slug,
        name=values["name"],
        owner=values["owner"],
        choices=read_choices(values),
        template_url=values["template_url"] or None,
        template_version=values["template_version"],
        output_dir=Path(values["output_dir"]) if values["output_dir"] else None,
        trust_template=values["trust_template"],
    )
    with console.working():
        created = create_repository(Workspace.at(working_dir(ctx)), request, console.context)
    for name in created.files:
        console.result("".join(paint([("add", f"A {name}")])))
    console.status(f"Made {kind.name} {slug} in {created.folder}, to be pushed to {created.remote}")


def _update(ctx: click.Context, kind: Kind, path: Path, values: Mapping[str, Any]) -> None:
    from commodore.authoring import UpdateRequest, update_repository

    console = console_of(ctx)
    request = UpdateRequest(
        kind=kind,
        folder=path,
        choices=read_choices(values),
        template_version=values["template_version"],
        commit=values["commit"],
        trust_template=values["trust_template"],
    )
    with console.working():
        updated = update_repository(request, console.context)
    if not updated.changes:
        console.status(f"The {kind.name} {updated.slug} is up to date with its template, {updated.version}")
        return
    for line in paint(diff_lines(updated.diff)):
        console.result(line)
    if updated.commit is None:
        console.status("The changes are in the files; they were not committed, as requested")
    console.status(f"Updated {kind.name} {updated.slug} to its template, {updated.version}")
