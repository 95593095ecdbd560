"""`commodore fleet`: the charts of a fleet from its configuration."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import CommodoreError, Findings, UsageError, did_you_mean, raise_all
from commodore.base.printable import counted, printable_lines
from commodore.cli.fleet.documents import SchemaNames, generated_fleet
from commodore.cli.fleet.settings import (
    FLEET_APPLICATIONSET,
    FLEET_GENERATE,
    FLEET_INIT,
    FLEET_OUTPUT,
    FLEET_PREVIEW,
    FLEET_VALIDATE,
)
from commodore.cli.shell.console import Console, console_of, paint, working_dir
from commodore.cli.shell.lazy import LazyCommand, LazyGroup
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.core.review import FileGroup
    from commodore.fleet import FleetState, Generated, ObjectChanges, Selection

_DIMENSIONS = {"environment": "environments", "sector": "sectors", "region": "regions"}


@click.group(
    cls=LazyGroup,
    lazy={
        "applicationset": LazyCommand(
            "commodore.cli.fleet.commands:fleet_applicationset", "Print the ApplicationSet of a type."
        ),
        "compile": LazyCommand(
            "commodore.cli.clusters.commands:fleet_compile", "Compile the catalogs of many clusters."
        ),
        "diff": LazyCommand(
            "commodore.cli.fleet.compare:fleet_diff", "Show the differences in `rendered` between commits."
        ),
        "drift": LazyCommand("commodore.cli.fleet.compare:fleet_drift", "Compare `rendered` with the deployed state."),
        "fold": LazyCommand(
            "commodore.cli.fleet.promote:fleet_fold", "Put a patch that is everywhere into base values."
        ),
        "generate": LazyCommand("commodore.cli.fleet.commands:fleet_generate", "Generate the charts of the fleet."),
        "graph": LazyCommand("commodore.cli.fleet.promote:fleet_graph", "Draw the sequence with its patches."),
        "import": LazyCommand("commodore.cli.fleet.compare:fleet_import", "Make base values of Applications."),
        "init": LazyCommand("commodore.cli.fleet.commands:fleet_init", "Begin a repository."),
        "owners": LazyCommand("commodore.cli.fleet.owners:fleet_owners", "Check who may change which file."),
        "plan": LazyCommand("commodore.cli.fleet.promote:fleet_plan", "Show the steps that are left for a patch."),
        "preview": LazyCommand(
            "commodore.cli.fleet.commands:fleet_preview", "Show what Argo CD would apply in a cell."
        ),
        "promote": LazyCommand("commodore.cli.fleet.promote:fleet_promote", "Promote a patch to its next place."),
        "report": LazyCommand("commodore.cli.clusters.commands:fleet_report", "Show the report of a fleet's compile."),
        "schema": LazyCommand("commodore.cli.fleet.commands:fleet_schema", "Print the JSON Schema of a kind of file."),
        "status": LazyCommand("commodore.cli.fleet.promote:fleet_status", "Show where patches are."),
        "validate": LazyCommand(
            "commodore.cli.fleet.commands:fleet_validate", "Look for mistakes without writing anything."
        ),
    },
)
@options()
def fleet() -> None:
    """Generate the Argo CD charts of a fleet, and compile the catalogs of many clusters.

    The working directory is the repository of the fleet: configuration in `config`, the result in `rendered`. For
    `compile` and `report` it is the folder with the clusters' workspaces.
    """


@click.command("generate")
@options(*FLEET_GENERATE)
@click.pass_context
def fleet_generate(ctx: click.Context, /, **values: Any) -> int:
    """Generate the charts of all cells, or of selected cells.

    Nothing is written if anything is wrong, or if an Application would disappear from a cell that --allow-removal does
    not name. An application with a patch that is active everywhere stays as it is rendered until that is folded, which
    is an error at the end. With --dry-run --validate, ends with exit code 1 if `rendered` is not what the configuration
    makes.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import GenerateOptions, generate, read_config, stale_error

    console = console_of(ctx)
    live = live_of(ctx, values, console)
    if values["apply_patch"]:
        selection_of(values).cells(read_config(Workspace.at(working_dir(ctx)).root, console.context.limits))
        _start(ctx, values["apply_patch"], console, values)
    requested = GenerateOptions(
        selection_of(values),
        write=not values["dry_run"],
        strict=values["strict"],
        need_helm=values["validate"],
        force=values["force"],
        allow_removal=tuple(values["allow_removal"]),
        processes=values["processes"],
        cached=not values["no_cache"],
    )
    with _errors_in(values["out"], console), console.working():
        done = generate(Workspace.at(working_dir(ctx)), requested, console.context, live)
    show_generated(done, console, values["out"], dry_run=values["dry_run"])
    stale = values["dry_run"] and values["validate"] and done.change
    raise_all([*done.removals, *done.unfinished, *([stale_error(done)] if stale else [])])
    return 0


@click.command("validate")
@options(*FLEET_VALIDATE)
@click.pass_context
def fleet_validate(ctx: click.Context, /, **values: Any) -> int:
    """Check the configuration, and render the generated charts with helm. Nothing is written."""
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import GenerateOptions, by_severity, generate

    console = console_of(ctx)
    requested = GenerateOptions(
        selection_of(values),
        write=False,
        strict=values["strict"],
        need_helm=True,
        processes=values["processes"],
        cached=not values["no_cache"],
    )
    live = live_of(ctx, values, console)
    with _errors_in(values["out"], console), console.working():
        done = generate(Workspace.at(working_dir(ctx)), requested, console.context, live)
        raise_all(done.unfinished)
    if values["out"] == "json":
        console.document("fleet-validate", by_severity(done.report))
    else:
        number = len(done.report.added("warning"))
        result = counted(number, "warning") if number else "no warnings"
        console.result(f"{counted(len(done.cells), 'cell')}, no errors, {result}")
    return 0


@click.command("applicationset")
@click.argument("cluster_type", metavar="TYPE")
@options(*FLEET_APPLICATIONSET)
@click.pass_context
def fleet_applicationset(ctx: click.Context, /, cluster_type: str, **values: Any) -> None:
    """Print the ApplicationSet that gives each cluster of a type the chart of its cell."""
    from commodore.base.files.workspace import Workspace
    from commodore.base.yaml import dump_flush
    from commodore.fleet import ApplicationSetOptions, application_set

    pairs = [_pair(text, "cluster-value", "KEY=LABEL") for text in values.pop("cluster_value")]
    out = values.pop("out")
    requested = ApplicationSetOptions(**values, cluster_values=tuple(pairs))
    console = console_of(ctx)
    made = application_set(Workspace.at(working_dir(ctx)).root, cluster_type, requested, console.context)
    if out == "json":
        console.data(json.dumps(made, indent=2))
    else:
        console.data(dump_flush(made, lambda _: False), newline=False)


@click.command("preview")
@click.argument("cell", metavar="CELL")
@options(*FLEET_PREVIEW)
@click.pass_context
def fleet_preview(ctx: click.Context, /, cell: str, **values: Any) -> None:
    """Show what Argo CD would apply: the chart of CELL, such as prod/eu-1, with the values of a cluster."""
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import as_yaml, preview

    console = console_of(ctx)
    workspace = Workspace.at(working_dir(ctx))
    result = preview(workspace.root, cell, values["cluster_type"], values["values"], console.context)
    if values["out"] == "json":
        console.data(json.dumps(result, indent=2, default=str))
        return
    for item in result:
        console.data("---\n" + as_yaml(item), newline=False)


@click.command("init")
@options(*FLEET_INIT)
@click.pass_context
def fleet_init(ctx: click.Context, /, style: str) -> None:
    """Begin a repository: a small fleet of three environments that generates at once."""
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import new_fleet

    console = console_of(ctx)
    workspace = Workspace.at(working_dir(ctx))
    files = new_fleet(workspace.root, style)
    for path in files:
        console.result(path)
    console.status("Generate it with 'commodore fleet generate'")


@click.command("schema")
@click.argument("name", metavar="NAME", default="")
@options(*FLEET_OUTPUT)
@click.pass_context
def fleet_schema(ctx: click.Context, /, name: str, out: str) -> None:
    """Print the JSON Schema of a kind of file, for editors; without NAME, the kinds.

    That of `config` is made for the dimensions of the fleet in the working directory.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import STATIC_SCHEMAS, config_schema, read_config, static_schema

    console = console_of(ctx)
    known = ("config", *STATIC_SCHEMAS)
    if not name:
        if out == "json":
            console.document("fleet-schema", SchemaNames(known))
        else:
            console.data("\n".join(known))
    elif name not in known:
        raise UsageError(
            "CMD-FLT-091",
            f"there is no schema {name!r}",
            hint=did_you_mean(name, known) or f"there are {', '.join(known)}",
        )
    elif name == "config":
        root = Workspace.at(working_dir(ctx)).root
        console.data(json.dumps(config_schema(read_config(root, console.context.limits).dimensions), indent=2))
    else:
        console.data(json.dumps(static_schema(name), indent=2))


def selection_of(values: Mapping[str, Any]) -> Selection:
    """The part of the fleet that options choose."""
    from commodore.fleet import Selection

    names: dict[str, tuple[str, ...]] = {}
    for option, dimension in _DIMENSIONS.items():
        if values[option]:
            names[dimension] = tuple(values[option])
    for text in values["at"]:
        dimension, name = _pair(text, "--at", "DIMENSION=NAME")
        names[dimension] = (*names.get(dimension, ()), name)
    return Selection(tuple(values["cluster_type"]), names)


@contextlib.contextmanager
def _errors_in(out: str, console: Console) -> Iterator[None]:
    """Print errors as JSON before they are raised, if the output is JSON."""
    try:
        yield
    except CommodoreError as error:
        if out == "json":
            from commodore.fleet import FindingsRecord

            errors = error.errors if isinstance(error, Findings) else (error,)
            console.document("fleet-validate", FindingsRecord(errors, (), ()))
        raise


def _start(ctx: click.Context, name: str, console: Console, values: Mapping[str, Any]) -> None:
    """Place a patch that is not started at its first place."""
    from commodore.base.files.workspace import Workspace, write_atomically
    from commodore.fleet import load_fleet, start_patch, write_changes

    workspace = Workspace.at(working_dir(ctx))
    with workspace.locked(console.context.limits):
        write_atomically(workspace.state / ".gitignore", b"*\n")
        context = console.context
        writes = start_patch(load_fleet(workspace.root, context), name, context)
        show = console.status if values["out"] == "json" else console.result
        for path in writes:
            what = "would be written" if values["dry_run"] else "is written"
            show(printable_lines(f"{path.relative_to(workspace.root)} {what}"))
        if not values["dry_run"]:
            write_changes(writes, workspace.root)


def states_of(ctx: click.Context, values: Mapping[str, Any], console: Console) -> FleetState | None:
    """Read the state of applications from the files of the options; None without files.

    Raises:
        UsageError: CMD-FLT-090, a file is given for a cell that does not exist.
        CommodoreError: a file cannot be read.
    """
    from commodore.fleet import check_known, named_cells, parse_duration, read_config, read_states

    if not values["status"]:
        return None
    if names := named_cells(values["status"]):
        config = read_config(working_dir(ctx), console.context.limits)
        check_known("cell", names, config.typed_cells())
    return read_states(values["status"], parse_duration(values["status_age"]), console.context.limits)


def live_of(ctx: click.Context, values: Mapping[str, Any], console: Console) -> Any:
    """The same for dependencies."""
    states = states_of(ctx, values, console)
    return None if states is None else states.live


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise UsageError("CMD-FLT-092", f"{option} {text!r} is not {form}", hint=f"write {option} {form}")
    return key, value


def show_generated(done: Generated, console: Console, out: str, *, dry_run: bool) -> None:
    """Print the changes in `rendered/`."""
    if out == "json":
        console.document("fleet-generate", generated_fleet(done))
        return
    if dry_run:
        for line in group_lines(done.groups, len(done.cells)):
            console.result(line)
    for line in object_lines(done.objects, len(done.cells), "would be " if dry_run else ""):
        console.result(line)
    number = len(done.change.files)
    changed = f"{counted(number, 'file')} {'would change' if dry_run else 'changed'}" if number else "unchanged"
    console.result(f"{counted(len(done.cells), 'cell')}, {counted(done.files, 'file')}: {changed}")


_SHOWN_CELLS = 3


def object_lines(objects: ObjectChanges, cells: int, would: str) -> Iterator[str]:
    """The Applications that come and go as lines to show.

    Args:
        cells: how many there are.
        would: the prefix of verbs: `would be ` in dry runs.
    """
    for item in objects.objects:
        where = f"{'from' if item.change == 'removed' else 'to'} {len(item.cells)} of {cells} cells"
        yield printable_lines(f"{item.kind} {item.name} {would}{item.change} {where} ({_some_cells(item.cells)})")
    for change, those in (("removed", objects.removed), ("added", objects.added)):
        if those and len(those) < cells:
            yield printable_lines(f"{counted(len(those), 'whole cell')} {would}{change}: {_some_cells(those)}")
    if objects.unknown:
        number = counted(len(objects.unknown), "cell")
        yield printable_lines(f"unknown: the Applications that {number} had ({_some_cells(objects.unknown)})")


def _some_cells(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_CELLS
    return ", ".join(names[:_SHOWN_CELLS]) + (f" and {more} more" if more > 0 else "")


def group_lines(groups: Iterable[FileGroup], cells: int) -> Iterator[str]:
    """Equal changes of cells as lines to show.

    Args:
        cells: how many there are.
    """
    for group in groups:
        differs = f"; differs only in {', '.join(sorted(group.differs_in))}" if group.differs_in else ""
        named = _some_cells(group.clusters)
        head = f"{group.kind} {group.path} in {len(group.clusters)} of {cells} cells ({named}){differs}"
        yield click.style(printable_lines(head), bold=True)
        yield from (f"  {line}" for line in paint(group.diff))
        if group.left_out:
            yield f"  … {group.left_out} more lines"
