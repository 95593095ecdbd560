"""Generate the charts of a fleet: read, check, merge, render, check again, and write."""

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
    """A part of a fleet.

    Attributes:
        types: cluster types; all if empty.
        names: names of nodes by dimension; all if empty.
    """

    types: tuple[str, ...] = ()
    names: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    @property
    def whole(self) -> bool:
        return not self.types and not any(self.names.values())

    def cells(self, config: FleetConfig) -> tuple[Prefix, ...]:
        """Return the selected cells.

        Raises:
            UsageError: CMD-FLT-090, a dimension, node or type is unknown, or no cell has all of them.
        """
        check_known("cluster type", self.types, [kind.name for kind in config.types])
        check_known("dimension", [name for name, given in self.names.items() if given], config.dimensions)
        for number, (dimension, singular) in enumerate(zip(config.dimensions, config.singulars, strict=True), 1):
            known = dict.fromkeys(prefix[-1] for prefix in config.prefixes() if len(prefix) == number)
            check_known(singular, self.names.get(dimension, ()), known)
        names_by_level = {config.dimensions.index(name): given for name, given in self.names.items() if given}
        cells = tuple(cell for cell in config.cells() if all(cell[at] in given for at, given in names_by_level.items()))
        if not cells:
            said = ", ".join(f"{config.singulars[at]} {some_of(given)}" for at, given in sorted(names_by_level.items()))
            raise UsageError(
                "CMD-FLT-090",
                f"no cell of this fleet is in all of {said}",
                hint="leave one of them out; 'commodore fleet graph' shows the sequence",
            )
        return cells


def check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise an error for an unknown name.

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
    """The options of generating a fleet.

    Attributes:
        write: replace `rendered/`; else only report changes.
        need_helm: a missing helm is an error, even if it is only needed to test charts.
        force: replace foreign files, too.
        going_on: types and folders of applications that are rendered although they have a finished patch.
        allow_removal: names of Applications that may be removed from cells, with or without their type in front.
        processes: parallel processes of helm; 0 means one for each usable CPU.
        cached: use the results cache.
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
    """The result of generating.

    Attributes:
        report: warnings and notes; errors are raised.
        change: the changed files in `rendered/`.
        groups: the same, grouped.
        objects: the added and removed Applications.
        files: the number of files.
        removals: errors about removed Applications, which prevent writing; raised if it was requested.
        unfinished: the applications that stay unchanged until a patch of them is folded.
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
        CommodoreError: all errors; `rendered/` is unchanged.
    """
    if not options.write:
        return _generate(workspace, options, context, status)
    with workspace.locked(context.limits):
        write_atomically(workspace.state / ".gitignore", b"*\n")
        return _generate(workspace, options, context, status)


@dataclass(frozen=True, slots=True)
class Prepared:
    """The output before it is written."""

    fleet: Fleet
    chart: Chart
    cells: tuple[CellValues, ...]
    report: Diagnostics
    output: RenderedOutput
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
        present: the files of `rendered/`, from which applications with a finished patch stay unchanged until it is
            folded; None to render them anew.

    Raises:
        CommodoreError: all errors.
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
    output = render_cells(fleet, chart, merged, report, options, context)
    report.announce(context.announce)
    report.raise_errors()
    return Prepared(fleet, chart, tuple(merged), report, output, tuple(unfinished))


def _stop_at_errors(report: Diagnostics, context: Context) -> None:
    """Raise the errors, if any, after the warnings."""
    if report.added("error"):
        report.announce(context.announce)
    report.raise_errors()


def _generate(workspace: Workspace, options: GenerateOptions, context: Context, status: Status | None) -> Generated:
    check_folder(workspace.root, force=options.force)
    present = read_rendered(workspace.root)
    done = prepare(workspace.root, options, context, status, present)
    if options.selection.whole:
        check_foreign(present, force=options.force)
    change = changes(present, done.output, context.limits)
    output, config = done.output.files, done.fleet.config
    objects = object_changes(change, present, output, config.depth, done.fleet.choices.output)
    names = [
        text
        for kind in done.fleet.types
        for app in kind.apps
        for _, name in app.items
        for text in (name, f"{kind.name}/{name}")
    ]
    removals = tuple(removal_errors(objects, options.allow_removal, names, force=options.force))
    groups = group_changes(change, present, output, config.singulars, context.limits)
    if options.write and change:
        raise_all(removals)
        write_rendered(workspace, present, done.output)
    return Generated(
        done.fleet, done.cells, done.report, change, groups, objects, len(output), removals, done.unfinished
    )


def render_cells(
    fleet: Fleet,
    chart: Chart,
    merged: Sequence[CellValues],
    report: Diagnostics,
    options: GenerateOptions,
    context: Context,
) -> RenderedOutput:
    """Return the files of cells; errors of helm are reported."""
    writer = ValuesWriter()
    names = fleet.config.singulars
    jobs = []
    for values in merged:
        cluster = dict(zip(names, values.cell, strict=True)) if fleet.choices.inject_dimensions else {}
        jobs.append(Job(values, cluster, writer.write(cluster, values.values)))
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
    """Return helm's output for cells in style manifests; in style charts the objects for a fake cluster."""
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
            return [], [item for objects in renderer.prove(jobs, report) for item in objects]


def check_output(root: Path, changed: Sequence[str], revision: str, context: Context) -> list[CommodoreError]:
    """Report changed files of `rendered/` that differ from the generated ones.

    Args:
        changed: paths in the repository that differ from the revision.
        revision: the base of the change.
    """
    paths = [path for path in changed if path.startswith(f"{RENDERED}/")]
    if not paths:
        return []
    try:
        before = rendered_at(root, revision, context)
        made = prepare(root, GenerateOptions(), context.with_announce(ignore), present=before).output.files
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
    """Return the error that `rendered/` is outdated."""
    kinds: dict[str, list[str]] = {}
    for file in generated.change.files:
        kinds.setdefault(file.kind, []).append(file.new_path)
    counts = "; ".join(f"{len(paths)} {kind}: {some_of(paths)}" for kind, paths in kinds.items())
    number = len(generated.change.files)
    return InputError(
        "CMD-FLT-060",
        f"rendered/ is stale: {counted(number, 'file')} ({counts})",
        hint="run 'commodore fleet generate'",
    )
