"""`commodore component`: work on components."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.context import Context
from commodore.base.events import Announce, Warned
from commodore.base.limits import DEFAULT_LIMITS
from commodore.cli.authoring.compile_settings import COMPONENT_COMPILE
from commodore.cli.authoring.facts import read_facts
from commodore.cli.shell.compile_options import compile_options
from commodore.cli.shell.compile_summary import StageTimes
from commodore.cli.shell.completion import complete_aliases
from commodore.cli.shell.console import Console, console_of
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options
from commodore.cli.shell.profile_options import profiled
from commodore.cli.shell.watch import WatchedCompile, check_watch, watch

if TYPE_CHECKING:
    from commodore.authoring import ComponentCompile
    from commodore.core.engine import CompiledInstance, Engine


@click.group(
    cls=LazyGroup,
    lazy={
        "delete": LazyCommand(
            "commodore.cli.authoring.templates:component_delete", "Delete a component's working copy."
        ),
        "new": LazyCommand("commodore.cli.authoring.templates:component_new", "Make a new component from a template."),
        "update": LazyCommand(
            "commodore.cli.authoring.templates:component_update", "Bring a component up to date with its template."
        ),
        "compile": LazyCommand(
            "commodore.cli.authoring.component:component_compile", "Compile one component, without a cluster."
        ),
        "sync": LazyCommand(
            "commodore.cli.authoring.sync:component_sync",
            "Update many components from their templates by pull requests.",
        ),
        "test": LazyCommand(
            "commodore.cli.authoring.suites:component_test", "Compare a component's test cases with golden trees."
        ),
    },
)
@options()
def component() -> None:
    """Work on components."""


@click.command("compile")
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path))
@options(*COMPONENT_COMPILE, complete={"alias": complete_aliases})
@click.pass_context
def component_compile(ctx: click.Context, /, path: Path, **values: Any) -> None:
    """Compile the component in the folder PATH for a fake cluster.

    The manifests are written to OUTPUT/compiled/INSTANCE; nothing else is changed.
    """
    from commodore.authoring import ComponentCompile, ComponentSource, compile_component

    console = console_of(ctx)
    check_watch(values)
    if values["repo_directory"] is not None:
        console.announce(Warned("CMD-CLI-010", "--repo-directory has no effect", hint="leave it out"))
    request = ComponentCompile(
        source=ComponentSource.at(path, console.context, name=values["name"], alias=values["alias"]),
        values=values["values"],
        search_paths=values["search_paths"],
        output=values["output"].resolve(),
        facts=read_facts(values, console),
        options=compile_options(values, console),
    )
    if values["watch"]:
        _watch(request, values, console)
        return
    title, times = f"{ctx.command_path} {request.source.name}", StageTimes()
    with profiled(values["profile"], title, console) as announce, console.working():
        compiled = compile_component(request, Context(announce, DEFAULT_LIMITS))
    _conclude(request, compiled, times, console)


def _watch(request: ComponentCompile, values: dict[str, Any], console: Console) -> None:
    """Compile until the user ends it. A file with facts is read again each time."""
    from commodore.authoring import compile_component, watched_sources

    def compile_again(engine: Engine, announce: Announce, first: bool) -> None:
        times = StageTimes()
        compiled = compile_component(
            replace(request, facts=read_facts(values, console)), Context(announce, DEFAULT_LIMITS), engine=engine
        )
        if first:
            _conclude(request, compiled, times, console)

    sources = watched_sources(request)
    if values["facts_file"] is not None:
        sources = replace(sources, roots=(*sources.roots, Path(os.path.abspath(values["facts_file"]))))
    instance = request.source.instance
    output = {instance: request.output / "compiled" / instance}
    watch(WatchedCompile(sources, output, compile_again, replace(request.options, processes=1)), console)


def _conclude(request: ComponentCompile, compiled: CompiledInstance, times: StageTimes, console: Console) -> None:
    console.status(f"Compiled component {request.source.name} to {compiled.directory} in {times.text(0)}")
