"""Generating the charts of a fleet: read, check, merge, render, check again, and only then write."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.diagnostics import EVERY, Diagnostics
from commodore.base.errors import CommodoreError, InputError, UsageError, did_you_mean, raise_all
from commodore.base.events import Warned, ignore, stage
from commodore.base.files.staging import temporary_folder
from commodore.base.files.workspace import Workspace, write_atomically
from commodore.base.printable import counted, some_of
from commodore.base.programs.threads import threads
from commodore.base.programs.workers import usable_cpus
from commodore.core.render.chart_results import ChartResults
from commodore.core.results.caches import result_cache, usable
from commodore.core.review import FileGroup, TreeChange
from commodore.fleet.cells import CellValues, Status, merge_fleet
from commodore.fleet.chart_files import Chart, read_chart
from commodore.fleet.charts import cell_chart, chart_yaml
from commodore.fleet.checks import check_expressions, check_names, check_values
from commodore.fleet.comparing import group_changes, rendered_at
from commodore.fleet.finished import hold_finished
from commodore.fleet.helm import Helm, helm_path
from commodore.fleet.objects import ObjectChanges, object_changes, removal_errors
from commodore.fleet.output import (
    Files,
    RenderedOutput,
    cell_folder,
    changes,
    check_folder,
    check_foreign,
    read_rendered,
    write_rendered,
)
from commodore.fleet.patches import check_patches
from commodore.fleet.rendering import Job, Renderer
from commodore.fleet.repository.apps import read_fleet
from commodore.fleet.repository.config import FleetConfig, Prefix
from commodore.fleet.repository.layout import CONFIG, RENDERED
from commodore.fleet.repository.model import Fleet
from commodore.fleet.values_text import ValuesWriter


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of a fleet is meant.

    Attributes:
        types: cluster types; all if empty.
        names: by dimension the names of nodes; all if there are none.
    """

    types: tuple[str, ...] = ()
    names: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    @property
    def whole(self) -> bool:
        return not self.types and not any(self.names.values())

    def cells(self, config: FleetConfig) -> tuple[Prefix, ...]:
        """The cells that are meant.

        Raises:
            UsageError: CMD-FLT-090, there is no such dimension, node or type, or no cell that has all of them.
        """
        check_known("cluster type", self.types, [kind.name for kind in config.types])
        check_known("dimension", [name for name, given in self.names.items() if given], config.dimensions)
        for number, (dimension, singular) in enumerate(zip(config.dimensions, config.singulars, strict=True), 1):
            known = dict.fromkeys(prefix[-1] for prefix in config.prefixes() if len(prefix) == number)
            check_known(singular, self.names.get(dimension, ()), known)
        wanted = {config.dimensions.index(name): given for name, given in self.names.items() if given}
        found = tuple(cell for cell in config.cells() if all(cell[at] in given for at, given in wanted.items()))
        if not found:
            said = ", ".join(f"{config.singulars[at]} {some_of(given)}" for at, given in sorted(wanted.items()))
            raise UsageError(
                "CMD-FLT-090",
                f"no cell of this fleet is in all of {said}",
                hint="leave one of them out; 'commodore fleet graph' shows the sequence",
            )
        return found


def check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise if one of the names is not known.

    Raises:
        UsageError: CMD-FLT-090.
    """
    there = list(known)
    for name in names:
        if name not in there:
            raise UsageError(
                "CMD-FLT-090",
                f"there is no {what} {name!r} in this fleet",
                hint=did_you_mean(name, there) or f"there are {some_of(there)}",
            )


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """How a fleet is generated.

    Attributes:
        write: replace `rendered/`; else only say what would change.
        need_helm: a chart that cannot be tried for want of helm is an error.
        force: replace what is not the generator's, too.
        going_on: types and folders of applications that are rendered although a patch of them is everywhere.
        allow_removal: names of Applications that may go from cells, with or without their type before them.
        processes: of helm at the same time; 0 is one per usable CPU.
        cached: keep and use results of earlier runs.
    """

    selection: Selection = Selection()
    write: bool = True
    strict: bool = False
    need_helm: bool = False
    force: bool = False
    allow_removal: tuple[str, ...] = ()
    going_on: frozenset[tuple[str, str]] = frozenset()
    processes: int = 0
    cached: bool = True


@dataclass(frozen=True, slots=True)
class Generated:
    """What came of it.

    Attributes:
        report: warnings and notes; errors were raised.
        change: of files in `rendered/`.
        groups: the same, equal ones together.
        objects: the Applications that come and go with it.
        files: how many there are now.
        removals: why it may not be written: Applications would go; raised already if it was to be.
        unfinished: the applications that stay as they are rendered, since a patch of them has to be folded.
    """

    fleet: Fleet
    cells: tuple[CellValues, ...]
    report: Diagnostics
    change: TreeChange
    groups: tuple[FileGroup, ...]
    objects: ObjectChanges
    files: int
    removals: tuple[CommodoreError, ...]
    unfinished: tuple[CommodoreError, ...]


def generate(
    workspace: Workspace, options: GenerateOptions, context: Context, status: Status | None = None
) -> Generated:
    """Generate the charts of the fleet in a working directory.

    Raises:
        CommodoreError: all that is wrong with it, `rendered/` is as it was then.
    """
    if not options.write:
        return _generate(workspace, options, context, status)
    with workspace.locked(context.limits):
        write_atomically(workspace.state / ".gitignore", b"*\n")
        return _generate(workspace, options, context, status)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is to be written, before it is."""

    fleet: Fleet
    chart: Chart
    cells: tuple[CellValues, ...]
    report: Diagnostics
    wanted: RenderedOutput
    unfinished: tuple[CommodoreError, ...]


def prepare(
    root: Path,
    options: GenerateOptions,
    context: Context,
    status: Status | None = None,
    present: Files | None = None,
) -> Prepared:
    """Read, check, merge and render a fleet. Warnings and notes are announced.

    Args:
        present: the files of `rendered/`, from which applications stay as they are while a patch of them has to be
            folded; None for those of the configuration.

    Raises:
        CommodoreError: all that is wrong with it.
    """
    report = Diagnostics(EVERY if options.strict else ())
    fleet = read_fleet(root, report, context.limits)
    cells = options.selection.cells(fleet.config)
    _stop_at_errors(report, context)
    check_patches(fleet, report)
    types = options.selection.types or tuple(kind.name for kind in fleet.types)
    with stage(context.announce, "merging values", len(cells) * len(types)):
        merged = merge_fleet(fleet, cells, types, report, status)
    unfinished: list[CommodoreError] = []
    if present is not None:
        merged, unfinished = hold_finished(fleet, merged, present, report, options.going_on)
    chart = read_chart(fleet, context.limits)
    check_values(fleet, chart, merged, report)
    _stop_at_errors(report, context)
    wanted = render_cells(fleet, chart, merged, report, options, context)
    report.announce(context.announce)
    report.raise_errors()
    return Prepared(fleet, chart, tuple(merged), report, wanted, tuple(unfinished))


def _stop_at_errors(report: Diagnostics, context: Context) -> None:
    """Raise the errors, if there are any, after the warnings."""
    if report.added("error"):
        report.announce(context.announce)
    report.raise_errors()


def _generate(workspace: Workspace, options: GenerateOptions, context: Context, status: Status | None) -> Generated:
    check_folder(workspace.root, force=options.force)
    present = read_rendered(workspace.root)
    done = prepare(workspace.root, options, context, status, present)
    if options.selection.whole:
        check_foreign(present, force=options.force)
    change = changes(present, done.wanted, context.limits)
    wanted, config = done.wanted.files, done.fleet.config
    objects = object_changes(change, present, wanted, config.depth, done.fleet.choices.output)
    names = [
        text
        for kind in done.fleet.types
        for app in kind.apps
        for _, name in app.items
        for text in (name, f"{kind.name}/{name}")
    ]
    removals = tuple(removal_errors(objects, options.allow_removal, names, force=options.force))
    groups = group_changes(change, present, wanted, config.singulars, context.limits)
    if options.write and change:
        raise_all(removals)
        write_rendered(workspace, present, done.wanted)
    return Generated(
        done.fleet, done.cells, done.report, change, groups, objects, len(wanted), removals, done.unfinished
    )


def render_cells(
    fleet: Fleet,
    chart: Chart,
    merged: Sequence[CellValues],
    report: Diagnostics,
    options: GenerateOptions,
    context: Context,
) -> RenderedOutput:
    """The files of cells; what helm refuses goes to the report."""
    writer = ValuesWriter()
    names = fleet.config.singulars
    jobs = []
    for one in merged:
        cluster = dict(zip(names, one.cell, strict=True)) if fleet.choices.inject_dimensions else {}
        jobs.append(Job(one, cluster, writer.write(cluster, one.values)))
    rendered, proofs = _with_helm(fleet, chart, jobs, report, options, context)
    check_expressions(fleet, chart, report, rendered, proofs)
    check_names(rendered, report)
    files: dict[str, bytes] = {}
    for number, job in enumerate(jobs):
        kind, cell = job.cell.type, job.cell.cell
        if fleet.choices.output == "charts":
            made = cell_chart(fleet, chart, kind, cell, job.text)
        else:
            resources = {f"templates/{name}": text for name, text in rendered[number].items()}
            made = {"Chart.yaml": chart_yaml(fleet, chart, kind, cell), "values.yaml": job.text.encode(), **resources}
        files |= {f"{cell_folder(kind, cell)}/{name}": text for name, text in made.items()}
    folders = frozenset(cell_folder(job.cell.type, job.cell.cell) for job in jobs)
    return RenderedOutput(files, folders, options.selection.whole)


def _with_helm(
    fleet: Fleet, chart: Chart, jobs: Sequence[Job], report: Diagnostics, options: GenerateOptions, context: Context
) -> tuple[list[dict[str, bytes]], list[Any]]:
    """What helm makes of cells in style manifests; in style charts the objects for a fake cluster."""
    resources = fleet.choices.output == "manifests"
    try:
        program = helm_path()
    except CommodoreError as error:
        if resources or options.need_helm:
            raise
        report.add(Warned("CMD-FLT-029", "charts are not tried out: helm is not there", error.hint))
        return [], []
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        pool, part = stack.enter_context(threads(max(1, options.processes or usable_cpus()), context, "helm"))
        results = ChartResults(usable(result_cache()) if options.cached else None, program, context.limits)
        renderer = Renderer(fleet, chart, Helm(folder, part), results, pool)
        with stage(context.announce, "rendering cells", len(jobs)):
            if resources:
                return renderer.resources(jobs, report), []
            return [], [one for objects in renderer.prove(jobs, report) for one in objects]


def check_output(root: Path, changed: Sequence[str], revision: str, context: Context) -> list[CommodoreError]:
    """Report changed files of `rendered/` that are not what the configuration makes.

    Args:
        changed: paths in the repository that differ from the revision.
        revision: what the change is compared with.
    """
    paths = [path for path in changed if path.startswith(f"{RENDERED}/")]
    if not paths:
        return []
    try:
        before = rendered_at(root, revision, context)
        made = prepare(root, GenerateOptions(), context.with_announce(ignore), present=before).wanted.files
    except CommodoreError as error:
        return [error]
    now = read_rendered(root)
    edited = [path for path in paths if now.get(name := path.removeprefix(f"{RENDERED}/")) != made.get(name)]
    if not edited:
        return []
    message = f"{RENDERED}/ was changed without a cause in {CONFIG}/: {some_of(edited)}"
    hint = "change the configuration, and run 'commodore fleet generate'"
    return [InputError("CMD-FLT-060", message, hint=hint, locations=edited[:1])]


def stale_error(generated: Generated) -> CommodoreError:
    """The error that says that `rendered/` is not what the configuration makes."""
    kinds: dict[str, list[str]] = {}
    for file in generated.change.files:
        kinds.setdefault(file.kind, []).append(file.new_path)
    told = "; ".join(f"{len(paths)} {kind}: {some_of(paths)}" for kind, paths in kinds.items())
    number = len(generated.change.files)
    return InputError(
        "CMD-FLT-060",
        f"rendered/ is stale: {counted(number, 'file')} ({told})",
        hint="run 'commodore fleet generate'",
    )
