"""`commodore fleet promote` and others that are about patches on their way."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from commodore.cli._options import options
from commodore.cli.console import Console, console_of, working_dir
from commodore.cli.fleet import states_of
from commodore.errors import CommodoreError, UsageError, raise_all
from commodore.printable import counted, printable_lines
from commodore.settings.fleet import FLEET_FOLD, FLEET_GRAPH, FLEET_PLAN, FLEET_PROMOTE, FLEET_STATUS

if TYPE_CHECKING:
    from commodore.fleet import FleetState, Found, Overview, PlannedStep, PromoteOptions, Step
    from commodore.fleet.repository.config import Node
    from commodore.workspace import Workspace


@click.command("promote")
@click.argument("patch", metavar="[TYPE APP PATCH]", nargs=-1)
@options(*FLEET_PROMOTE)
@click.pass_context
def fleet_promote(ctx: click.Context, /, patch: tuple[str, ...], **values: Any) -> int:
    """Let a patch go on to its next place.

    Places that are full become one, and a patch that is everywhere becomes base values, if no cell changes by that. A
    node that is entered by hand needs --approve, or an answer at the terminal.
    """
    from commodore.workspace import Workspace

    console = console_of(ctx)
    if values["all"] != (not patch) or (values["all"] and not values["auto"]) or (patch and len(patch) != 3):
        raise UsageError(
            "CMD-FLT-079", "name TYPE APP PATCH, or use --auto --all", hint="see 'commodore fleet promote --help'"
        )
    workspace = Workspace.at(working_dir(ctx))
    state = states_of(ctx, values, console)
    problems: list[CommodoreError] = []
    done: list[Step] = []
    with workspace.locked(console.context.limits):
        write_gitignore(workspace)
        for words in [patch] if patch else _all_patches(workspace, console):
            try:
                step = _promote(workspace, words, state, values, console)
            except CommodoreError as error:
                if not values["all"]:
                    raise
                problems.append(error)
                continue
            if step is not None:
                done.append(step)
                problems += step.problems
    _show_steps(done, console, values["out"])
    if values["generate"] and not values["dry_run"] and not problems and any(step.writes for step in done):
        _generate(workspace, console)
    raise_all(problems)
    return 0


def write_gitignore(workspace: Workspace) -> None:
    """Let git ignore the folder with the lock."""
    from commodore.workspace import write_atomically

    write_atomically(workspace.state / ".gitignore", b"*\n")


def _all_patches(workspace: Workspace, console: Console) -> list[tuple[str, str, str]]:
    from commodore.fleet import load_fleet

    fleet = load_fleet(workspace.root, console.context)
    return [(kind.name, patch.app, patch.name) for kind in fleet.types for patch in kind.patches]


def _promote(
    workspace: Workspace,
    words: tuple[str, ...],
    state: FleetState | None,
    values: Mapping[str, Any],
    console: Console,
) -> Step | None:
    """One step of one patch, written unless it is only to be shown; None if a person has to approve it and --auto."""
    from datetime import UTC, datetime

    from commodore.fleet import Conditions, find_patch, load_fleet, promote, write_changes

    context = console.context
    found = find_patch(load_fleet(workspace.root, context), *words)
    waiting: list[Node] = []

    def approve(node: Node) -> bool:
        if values["auto"]:
            waiting.append(node)
            return False
        return bool(values["approve"]) or _asked(node, found, console)

    conditions = Conditions(approve, state, values["auto"], datetime.now(UTC))
    try:
        step = promote(found, _options(values), conditions, context)
    except CommodoreError:
        if not waiting:
            raise
        console.result(f"{found.name} waits: {'/'.join(waiting[0].prefix)} is entered by hand")
        return None
    if not values["dry_run"]:
        write_changes(step.writes, workspace.root)
    return step


def _asked(node: Node, found: Found, console: Console) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    with console.paused():
        return click.confirm(f"{'/'.join(node.prefix)} is entered by hand. Promote {found.name}?", err=True)


def _options(values: Mapping[str, Any]) -> PromoteOptions:
    from commodore.fleet import PromoteOptions

    return PromoteOptions(values["level"], coalesce=values["coalesce"], fold=values["fold"])


def _generate(workspace: Workspace, console: Console) -> None:
    from commodore.cli.fleet import show_generated
    from commodore.fleet import GenerateOptions, generate

    with console.working():
        done = generate(workspace, GenerateOptions(), console.context)
    show_generated(done, console, "text", dry_run=False)


def _show_steps(steps: list[Step], console: Console, out: str) -> None:
    if out == "json":
        console.result(json.dumps([step.as_dict() for step in steps], indent=2))
        return
    for step in steps:
        for line in _step_lines(step):
            console.result(printable_lines(line))


def _step_lines(step: Step) -> Iterator[str]:
    if step.place is not None:
        yield f"{step.found.name} goes to {'/'.join(step.place)}"
    elif not step.writes and not step.problems:
        yield f"{step.found.name} is everywhere"
    for place, those in step.moved:
        yield f"  {'/'.join(place)} stands for {', '.join('/'.join(one) for one in those)}"
    if step.folded is not None:
        yield f"  folded into {step.found.app.base.document.place}"


@click.command("fold")
@click.argument("cluster_type", metavar="TYPE")
@click.argument("app", metavar="APP")
@click.argument("patch", metavar="PATCH")
@options(*FLEET_FOLD)
@click.pass_context
def fleet_fold(ctx: click.Context, /, cluster_type: str, app: str, patch: str, **values: Any) -> int:
    """Put a patch that is everywhere into the base values, and remove its files.

    Comments and the order of keys survive. Refused if an override would win over the patch then, unless --overrides
    sets what happens to it.
    """
    from commodore.fleet import find_patch, fold_patch, load_fleet, loss_lines, write_changes
    from commodore.workspace import Workspace

    console = console_of(ctx)
    workspace = Workspace.at(working_dir(ctx))
    with workspace.locked(console.context.limits):
        write_gitignore(workspace)
        found = find_patch(load_fleet(workspace.root, console.context), cluster_type, app, patch)
        done = fold_patch(found, values["overrides"])
        if not values["dry_run"]:
            write_changes(done.writes, workspace.root)
    paths = [str(path.relative_to(workspace.root)) for path, content in done.writes.items() if content is not None]
    if values["out"] == "json":
        gone = [str(path.relative_to(workspace.root)) for path, content in done.writes.items() if content is None]
        console.result(json.dumps({"writes": paths, "removes": gone, "changes": list(loss_lines(done))}, indent=2))
    else:
        console.result(f"{found.name} is folded into {', '.join(paths)}")
        for line in loss_lines(done):
            console.result(printable_lines(f"  {line}"))
    if values["generate"] and not values["dry_run"]:
        _generate(workspace, console)
    return 0


@click.command("plan")
@click.argument("cluster_type", metavar="TYPE")
@click.argument("app", metavar="APP")
@click.argument("patch", metavar="PATCH")
@options(*FLEET_PLAN)
@click.pass_context
def fleet_plan(ctx: click.Context, /, cluster_type: str, app: str, patch: str, **values: Any) -> None:
    """Show all steps that are left for a patch: places, approvals, what changes in cells. Nothing is written."""
    from commodore.fleet import find_patch, load_fleet, plan
    from commodore.workspace import Workspace

    console = console_of(ctx)
    fleet = load_fleet(Workspace.at(working_dir(ctx)).root, console.context)
    steps = list(plan(find_patch(fleet, cluster_type, app, patch), _options(values)))
    if values["out"] == "json":
        total = sum(step.soak for step in steps)
        console.result(json.dumps({"steps": [step.as_dict() for step in steps], "soak": total}, indent=2))
        return
    markdown = values["out"] == "markdown"
    if markdown:
        console.result("| Step | Place | Approval | Cells | Changes |\n|---|---|---|---|---|")
    for number, step in enumerate(steps, 1):
        for line in [_plan_row(number, step)] if markdown else _plan_lines(number, step):
            console.result(printable_lines(line))


def _place(step: PlannedStep) -> str:
    return "/".join(step.step.place) if step.step.place else "–"


def _changes(step: PlannedStep) -> list[str]:
    found = step.as_dict()["changes"]
    return [f"{one['path']}: {one['before']} → {one['after']} ({counted(one['cells'], 'cell')})" for one in found]


def _plan_row(number: int, step: PlannedStep) -> str:
    ends = "; folded" if step.step.folded else "; **the fold is refused**" if step.step.problems else ""
    changes = "<br>".join(text.replace("|", "\\|") for text in _changes(step))
    return f"| {number} | {_place(step)}{ends} | {', '.join(step.approvals)} | {len(step.cells)} | {changes} |"


def _plan_lines(number: int, step: PlannedStep) -> Iterator[str]:
    gate = f", approval of {', '.join(step.approvals)}" if step.approvals else ""
    soak = f", after {step.soak} s of soak" if step.soak else ""
    yield f"{number}. {_place(step)}: {counted(len(step.cells), 'cell')}{gate}{soak}"
    yield from (f"   {text}" for text in _changes(step))
    yield from (f"  {line}" for line in list(_step_lines(step.step))[1:])
    yield from (f"   {one.message} [{one.code}]" for one in step.step.problems)


@click.command("status")
@options(*FLEET_STATUS)
@click.pass_context
def fleet_status(ctx: click.Context, /, **values: Any) -> None:
    """Show where all patches are, what comes next, and which versions cells have."""
    from commodore.fleet import load_fleet, survey
    from commodore.workspace import Workspace

    console = console_of(ctx)
    context = console.context
    found = survey(load_fleet(Workspace.at(working_dir(ctx)).root, context), states_of(ctx, values, console))
    if values["out"] == "json":
        console.result(json.dumps(found.as_dict(), indent=2))
        return
    found.report.tell(context.announce)
    for line in _status_lines(found):
        console.result(printable_lines(line))


def _status_lines(found: Overview) -> Iterator[str]:
    if not found.patches:
        yield "no patches"
    for one in found.patches:
        ready = "" if one.ready is None else f", {one.ready} healthy"
        yield f"{one.patch}: {one.reached} of {one.cells} cells{ready} ({', '.join(one.placements) or 'not started'})"
        if one.skipped:
            yield f"  has skipped {', '.join(one.skipped)}"
        if one.place:
            yield f"  next: {one.place}" + (f", {one.gate} is entered by hand" if one.gate else "")
        elif one.reached == one.cells:
            yield "  everywhere: fold it"
    width = max([len(cell) for cells in found.versions.values() for cell in cells], default=0)
    for (kind, name), cells in found.versions.items():
        yield ""
        yield f"{kind}/{name}"
        yield from (f"  {cell:<{width}}  {version}" for cell, version in cells.items())
    for name, usual, others in found.lagging():
        yield f"{name}: other than {usual}: {', '.join(others)}"


@click.command("graph")
@options(*FLEET_GRAPH)
@click.pass_context
def fleet_graph(ctx: click.Context, /, format: str) -> None:
    """Draw the sequence with the patches in it."""
    from commodore.fleet import as_dot, as_mermaid, as_svg, load_fleet
    from commodore.workspace import Workspace

    console = console_of(ctx)
    fleet = load_fleet(Workspace.at(working_dir(ctx)).root, console.context)
    writers = {"mermaid": as_mermaid, "dot": as_dot, "svg": as_svg}
    console.result(writers[format](fleet), newline=False)
