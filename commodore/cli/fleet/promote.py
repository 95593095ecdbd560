"""`commodore fleet promote` and others that are about patches on their way."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from commodore.base.errors import CommodoreError, NotReady, UsageError, raise_all
from commodore.base.printable import counted, printable_lines, some_of
from commodore.cli.fleet.commands import states_of
from commodore.cli.fleet.documents import FoldedPatch, PatchPlan, PromotedSteps
from commodore.cli.fleet.settings import FLEET_FOLD, FLEET_GRAPH, FLEET_PLAN, FLEET_PROMOTE, FLEET_STATUS
from commodore.cli.shell.console import Console, console_of, working_dir
from commodore.cli.shell.options import options

if TYPE_CHECKING:
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import FleetState, LocatedPatch, Overview, PlannedStep, PromoteOptions, SequenceNode, Step


@click.command("promote")
@click.argument("patch", metavar="[TYPE APP PATCH]", nargs=-1)
@options(*FLEET_PROMOTE)
@click.pass_context
def fleet_promote(ctx: click.Context, /, patch: tuple[str, ...], **values: Any) -> int:
    """Promote a patch to its next place.

    Places that are full become one, and a patch that is everywhere becomes base values, if no cell changes by that. A
    node that requires approval needs --approve, or an answer at the terminal.

    Ends with exit code 5 if nothing is wrong, and nothing is done as patches wait: for an approval, for an application,
    for the end of a soak, for what they depend on.
    """
    from commodore.base.files.workspace import Workspace

    console = console_of(ctx)
    if values["all"] != (not patch) or (values["all"] and not values["auto"]) or (patch and len(patch) != 3):
        raise UsageError(
            "CMD-FLT-079", "name TYPE APP PATCH, or use --auto --all", hint="see 'commodore fleet promote --help'"
        )
    workspace = Workspace.at(working_dir(ctx))
    state = states_of(ctx, values, console)
    check_level(values["level"], workspace, console)
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
            done.append(step)
            problems += step.problems
    _show_steps(done, console, values["out"], dry_run=values["dry_run"])
    written = [step for step in done if step.writes]
    if values["generate"] and not values["dry_run"] and written:
        problems += _generate(workspace, console, values, [step.located for step in written])
    raise_all(problems)
    return NotReady.exit_code if not written and any(step.waits for step in done) else 0


def check_level(level: str | None, workspace: Workspace, console: Console) -> None:
    """Refuse a dimension that the fleet does not have.

    Raises:
        UsageError: CMD-FLT-090.
    """
    from commodore.fleet import check_known, read_config

    if level:
        check_known("dimension", [level], read_config(workspace.root, console.context.limits).dimensions)


def write_gitignore(workspace: Workspace) -> None:
    """Let git ignore the folder with the lock."""
    from commodore.base.files.workspace import write_atomically

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
) -> Step:
    """One step of one patch, written unless it is only to be shown; one that does nothing if the patch waits."""
    from datetime import UTC, datetime

    from commodore.fleet import Conditions, Step, find_patch, load_fleet, promote, write_changes

    context = console.context
    patch = find_patch(load_fleet(workspace.root, context), *words)
    waiting: list[SequenceNode] = []

    def approve(node: SequenceNode) -> bool:
        if values["auto"]:
            waiting.append(node)
            return False
        return bool(values["approve"]) or _asked(node, patch, console)

    conditions = Conditions(approve, state, values["auto"], datetime.now(UTC))
    try:
        step = promote(patch, _options(values), conditions, context)
    except NotReady as error:
        return Step(patch, None, waits=f"{error.message} [{error.code}]")
    except CommodoreError:
        if not waiting:
            raise
        return Step(patch, None, waits=f"{'/'.join(waiting[0].prefix)} requires approval")
    if not values["dry_run"]:
        write_changes(step.writes, workspace.root)
    return step


def _asked(node: SequenceNode, patch: LocatedPatch, console: Console) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return console.confirmed(f"{'/'.join(node.prefix)} requires approval. Promote {patch.name}?")


def _options(values: Mapping[str, Any]) -> PromoteOptions:
    from commodore.fleet import PromoteOptions

    return PromoteOptions(values["level"], coalesce=values["coalesce"], fold=values["fold"])


def _generate(
    workspace: Workspace, console: Console, values: Mapping[str, Any], promoted: Iterable[LocatedPatch]
) -> list[CommodoreError]:
    """Generate the fleet after a promotion, and return the errors of the remaining steps."""
    from commodore.cli.fleet.commands import show_generated
    from commodore.fleet import GenerateOptions, generate

    apps = frozenset((item.kind.name, item.app.name) for item in promoted)
    requested = GenerateOptions(allow_removal=tuple(values["allow_removal"]), going_on=apps)
    try:
        with console.working():
            done = generate(workspace, requested, console.context)
    except CommodoreError as error:
        return [error.hinting("config is written already, rendered is not: mend it and run 'commodore fleet generate'")]
    if values["out"] == "json":  # which stands alone on standard output
        changed = counted(len(done.change.files), "file")
        console.status(f"{counted(len(done.cells), 'cell')}, {counted(done.files, 'file')}: {changed} changed")
    else:
        show_generated(done, console, "text", dry_run=False)
    return list(done.unfinished)


def _show_steps(steps: list[Step], console: Console, out: str, *, dry_run: bool) -> None:
    if out == "json":
        console.document("fleet-promote", PromotedSteps(steps))
        return
    for step in steps:
        for line in _step_lines(step, dry_run=dry_run):
            console.result(printable_lines(line))


def _step_lines(step: Step, *, dry_run: bool = False) -> Iterator[str]:
    if step.waits:
        yield f"{step.located.name} waits: {step.waits}"
    elif step.place is not None:
        yield f"{step.located.name} {'would go' if dry_run else 'goes'} to {'/'.join(step.place)}"
    elif not step.writes and not step.problems:
        yield f"{step.located.name} is everywhere"
    for place, those in step.moved:
        stands = "would stand" if dry_run else "stands"
        yield f"  {'/'.join(place)} {stands} for {', '.join('/'.join(item) for item in those)}"
    if step.folded is not None:
        yield f"  {'would be ' if dry_run else ''}folded into {step.located.app.base.document.place}"


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
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import find_patch, fold_patch, load_fleet, loss_lines, write_changes

    console = console_of(ctx)
    workspace = Workspace.at(working_dir(ctx))
    with workspace.locked(console.context.limits):
        write_gitignore(workspace)
        result = find_patch(load_fleet(workspace.root, console.context), cluster_type, app, patch)
        done = fold_patch(result, values["overrides"])
        if not values["dry_run"]:
            write_changes(done.writes, workspace.root)
    paths = [str(path.relative_to(workspace.root)) for path, content in done.writes.items() if content is not None]
    if values["out"] == "json":
        gone = [str(path.relative_to(workspace.root)) for path, content in done.writes.items() if content is None]
        console.document("fleet-fold", FoldedPatch(paths, gone, list(loss_lines(done))))
    else:
        console.result(f"{result.name} {'would be' if values['dry_run'] else 'is'} folded into {', '.join(paths)}")
        for line in loss_lines(done):
            console.result(printable_lines(f"  {line}"))
    if values["generate"] and not values["dry_run"]:
        raise_all(_generate(workspace, console, values, []))
    return 0


@click.command("plan")
@click.argument("cluster_type", metavar="TYPE")
@click.argument("app", metavar="APP")
@click.argument("patch", metavar="PATCH")
@options(*FLEET_PLAN)
@click.pass_context
def fleet_plan(ctx: click.Context, /, cluster_type: str, app: str, patch: str, **values: Any) -> None:
    """Show all steps that are left for a patch: places, approvals, what changes in cells. Nothing is written."""
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import find_patch, load_fleet, plan, waits_of

    console = console_of(ctx)
    result = find_patch(load_fleet(Workspace.at(working_dir(ctx)).root, console.context), cluster_type, app, patch)
    steps, waits = list(plan(result, _options(values))), waits_of(result, result.merged())
    if values["out"] == "json":
        console.document("fleet-plan", PatchPlan(waits, steps, sum(step.soak for step in steps)))
        return
    markdown = values["out"] == "markdown"
    for wait in waits:
        console.result(printable_lines(f"now: waits for {wait.in_words}" + ("\n" if markdown else "")))
    if markdown:
        console.result("| Step | Place | Approval | Cells | Changes |\n|---|---|---|---|---|")
    for number, step in enumerate(steps, 1):
        for line in [_plan_row(number, step)] if markdown else _plan_lines(number, step):
            console.result(printable_lines(line))


def _place(step: PlannedStep) -> str:
    return "/".join(step.step.place) if step.step.place else "–"


def _changes(step: PlannedStep) -> list[str]:
    result = step.as_plain().changes
    changes = [f"{item.path}: {item.before} → {item.after} ({counted(item.cells, 'cell')})" for item in result]
    applied = f"applied in {step.applied} of {len(step.cells)}"
    return [*changes, *(f"{applied}, waits for {wait.in_words}" for wait in step.waits)]


def _plan_row(number: int, step: PlannedStep) -> str:
    ends = "; folded" if step.step.folded else "; **the fold is refused**" if step.step.problems else ""
    changes = "<br>".join(text.replace("|", "\\|") for text in _changes(step))
    return f"| {number} | {_place(step)}{ends} | {', '.join(step.approvals)} | {len(step.cells)} | {changes} |"


def _plan_lines(number: int, step: PlannedStep) -> Iterator[str]:
    gate = f", approval of {', '.join(step.approvals)}" if step.approvals else ""
    soak = f", after {step.soak_text} of soak" if step.soak else ""
    yield f"{number}. {_place(step)}: {counted(len(step.cells), 'cell')}{gate}{soak}"
    yield from (f"   {text}" for text in _changes(step))
    yield from (f"  {line}" for line in list(_step_lines(step.step))[1:])
    yield from (f"   {problem.message} [{problem.code}]" for problem in step.step.problems)


@click.command("status")
@options(*FLEET_STATUS)
@click.pass_context
def fleet_status(ctx: click.Context, /, **values: Any) -> None:
    """Show where all patches are, what comes next, and which versions cells have.

    Of many cells, only the versions of most cells and the different ones are shown, unless options choose some.
    """
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import OverviewFilter, load_fleet, survey

    console = console_of(ctx)
    context = console.context
    types, apps, patches, cells = (tuple(values[name]) for name in ("cluster_type", "app", "patch", "cell"))
    narrowing = OverviewFilter(types, apps, patches, cells, values["lagging"])
    state = states_of(ctx, values, console)
    result = survey(load_fleet(Workspace.at(working_dir(ctx)).root, context), state, narrowing)
    if values["out"] == "json":
        console.document("fleet-status", result)
        return
    result.report.announce(context.announce)
    chosen = any(values[name] for name in ("app", "cell", "lagging"))
    versions = _matrix_lines(result) if values["out"] == "matrix" else _version_lines(result, whole=chosen)
    some = chosen or bool(types or patches)
    if not result.patches:
        console.result("no patches match" if some else "no patches")
    for line in (*_status_lines(result), *versions):
        console.result(printable_lines(line))


def _status_lines(overview: Overview) -> Iterator[str]:
    for patch in overview.patches:
        ready = "" if patch.ready is None else f", {patch.ready} healthy"
        placements = ", ".join(patch.placements) or "not started"
        yield f"{patch.patch}: {patch.reached} of {patch.cells} cells{ready} ({placements})"
        for wait in patch.waits:
            yield f"  applied in {patch.applied} of {patch.reached}, waits for {wait.in_words}"
        if patch.skipped:
            yield f"  has skipped {some_of(patch.skipped)}"
        if patch.place:
            yield f"  next: {patch.place}" + (f", {patch.gate} requires approval" if patch.gate else "")
        elif patch.applied == patch.cells:
            yield "  everywhere: fold it"


_MANY = 200  # lines


def _version_lines(overview: Overview, *, whole: bool) -> Iterator[str]:
    """The versions of all cells; of many only a summary, unless the `whole` is asked for."""
    lines = sum(map(len, overview.versions.values()))
    width = max([len(cell) for cells in overview.versions.values() for cell in cells], default=0)
    short = lines > _MANY and not whole
    for (kind, name), cells in overview.versions.items():
        usual, number, all_cells = overview.usual[kind, name]
        if short:
            yield f"{kind}/{name}: {usual} in {number} of {all_cells} cells"
            continue
        yield ""
        yield f"{kind}/{name}"
        yield from (f"  {cell:<{width}}  {version}" for cell, version in cells.items())
    for name, usual, others in overview.lagging():
        yield f"{name}: other than {usual}: {some_of(others)}"
    if short:
        yield f"{lines} versions are not shown: see some with --app, --cell or --lagging, all with -o matrix"


def _matrix_lines(overview: Overview) -> Iterator[str]:
    """The versions as a table: a row for each cell, a column for each application."""
    for kind in dict.fromkeys(kind for kind, _ in overview.versions):
        columns = {name: cells for (of, name), cells in overview.versions.items() if of == kind}
        rows = list(dict.fromkeys(cell for cells in columns.values() for cell in cells))
        table = [[kind, *columns], *([row, *(cells.get(row, "-") for cells in columns.values())] for row in rows)]
        widths = [max(len(row[number]) for row in table) for number in range(len(table[0]))]
        yield ""
        for row in table:
            yield "  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip()


@click.command("graph")
@options(*FLEET_GRAPH)
@click.pass_context
def fleet_graph(ctx: click.Context, /, format: str) -> None:
    """Draw the sequence with the patches in it."""
    from commodore.base.files.workspace import Workspace
    from commodore.fleet import as_dot, as_mermaid, as_svg, load_fleet

    console = console_of(ctx)
    fleet = load_fleet(Workspace.at(working_dir(ctx)).root, console.context)
    writers = {"mermaid": as_mermaid, "dot": as_dot, "svg": as_svg}
    console.result(writers[format](fleet), newline=False)
