"""The engine: instances in, rendered and filtered folders out, by workers that have imported Kapitan once.

Nothing in this module and what it imports loads Kapitan or the Go runtime: both live in worker processes.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, InternalError, did_you_mean, raise_all
from commodore.base.events import StageAdvanced, Warned
from commodore.base.files.pinned import pinned
from commodore.base.files.tree import walk
from commodore.base.files.workspace import Workspace, copy_tree, folder_beside, guard_disk, remove_tree, replace_tree
from commodore.base.names import check_name
from commodore.base.programs.child_processes import Child, child_environment
from commodore.base.programs.workers import usable_cpus
from commodore.core.engine.cache.instance_records import FilesRead, write_record
from commodore.core.engine.cache.results import ResultFinder, Reuse
from commodore.core.engine.entry_paths import path_errors
from commodore.core.engine.inventory_transfer import write_nodes
from commodore.core.engine.jsonnet.traces import trace_events
from commodore.core.engine.model import Batch, BatchOutcome, CompiledInstance, CompileRequest, InstanceJob
from commodore.core.engine.remote_results import RemoteCache
from commodore.core.engine.schedule.scheduler import (
    COMPILE_STAGE,
    KEPT,
    Schedule,
    read_durations,
    slowest_first,
    write_durations,
)
from commodore.core.engine.tasks import BatchRun, FetchTask, Record, Task, TaskOutcome
from commodore.core.engine.worker.pool import worker_pool
from commodore.core.results.result_store import FOLDER_MODE, ResultStore

__all__ = ["COMPILE_STAGE", "Engine"]


class Engine:
    """Compiles instances. A context manager: leaving it, by whatever way, ends all workers and what they have started.

    With an empty cache of results, the workers get ready as soon as the engine is made, while the caller does something
    else; otherwise when something has to be rendered. One engine may compile many times.

    Args:
        processes: number of workers, 0 for one per usable CPU; a request may ask for another number.
        context: who listens, and the limits.
        dependency_cache: where Kapitan dependencies of a fixed version are kept for all runs, such as
            `dependency_cache()` of `commodore.core.results.caches`; None fetches all of them anew.
        result_cache: where results are kept for all runs, such as `result_cache()` of the same; None renders all.
        shadow: how much of what is in the cache is rendered all the same and compared, from 0 to 1.
        remote: remote stores of results, which the engine closes; None for none.
    """

    def __init__(
        self,
        context: Context,
        *,
        processes: int = 0,
        dependency_cache: Path | None = None,
        result_cache: Path | None = None,
        shadow: float = 0.0,
        remote: RemoteCache | None = None,
    ) -> None:
        self._processes = processes
        self._context = context
        self._dependency_cache = dependency_cache
        self._result_cache = result_cache
        self._shadow = shadow
        self._remote = remote
        self._pool = worker_pool()
        self._records: list[tuple[BatchRun, Mapping[str, Record]]] = []
        self._roots: dict[Path, Path] = {}
        if result_cache is None or not result_cache.exists():
            self._pool.get_ready()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(at_once=kind is not None and not issubclass(kind, Exception))

    def close(self, *, at_once: bool = False) -> None:
        """End all workers. The engine cannot be used any more.

        Args:
            at_once: leave out what is still to be written to remote stores.
        """
        self._pool.close()
        if self._remote is not None:
            remote, self._remote = self._remote, None
            remote.close(self._context.announce, at_once=at_once)

    def get_ready(self) -> None:
        """Let workers get ready while the caller does something else, as there will be something to render."""
        self._pool.get_ready()

    def renew(self) -> None:
        """Let the next compile begin with workers that remember nothing of the last one, such as the Python modules
        that kadet inputs have loaded. Kapitan stays loaded, or gets loaded while the caller does something else, so
        that starting them takes a moment.
        """
        self._pool.renew()
        self._records = []

    def files_read(self) -> FilesRead:
        """The files that the last compile has read or looked for, whatever came of it; none since `renew`."""
        return FilesRead(self._records)

    def compile(
        self, jobs: Sequence[InstanceJob], nodes: Mapping[str, Mapping[str, Any]], request: CompileRequest
    ) -> tuple[CompiledInstance, ...]:
        """Compile instances into `request.output/compiled/<instance>`, all or none of them.

        Args:
            jobs: what to compile. An instance without compile entries gives an empty folder, no jobs give nothing.
            nodes: the rendered inventory, every target with its node as plain data.
            request: what is common to the jobs.

        Returns:
            The instances in the order of the jobs.

        Raises:
            CommodoreError: something went wrong in one or more instances; all of it is reported together, and what was
                in `compiled` before is unchanged.
        """
        (outcome,) = self.compile_batches([Batch(jobs, nodes, request)])
        if outcome.error is not None:
            raise outcome.error
        return outcome.compiled

    def compile_batches(self, batches: Sequence[Batch]) -> tuple[BatchOutcome, ...]:
        """Do several independent compiles at once: each batch all or nothing, whatever becomes of the others.

        The batches may share instances' names, components, working directories and Kapitan dependencies, of which each
        is fetched once; they must not share an instance's output folder. The largest number of workers that a request
        asks for counts for all.

        Returns:
            What each batch came to, in their order.
        """
        _check_outputs(batches)
        with ExitStack() as stagings:
            runs, reuses = self._begin_all(batches, stagings)
            begun = [(run, batch.nodes) for run, batch in zip(runs, batches, strict=True) if isinstance(run, BatchRun)]
            durations = {run.request.root: read_durations(run.request.root, self._context.limits) for run, _ in begun}
            rank = slowest_first(begun, durations)
            size = self._size(batches)
            schedule = Schedule(begun, rank, self._context.announce, size, self._context.limits, reuses)
            if any(run.pending for run, _ in begun):
                self._pool.run(schedule.offer, self._done(schedule, [run for run, _ in begun]), keep=size)
            self._announce_again(reuses.values())
            self._records = [(run, {**reuses[run.key].records(), **schedule.records(run)}) for run, _ in begun]
            outcomes = tuple(
                _conclude(run, batch, schedule, reuses[run.key])
                if isinstance(run, BatchRun)
                else BatchOutcome(error=run)
                for run, batch in zip(runs, batches, strict=True)
            )
        for root, known in durations.items():
            _remember(root, known, outcomes, batches, self._hold(root))
        if self._result_cache is not None and any(run.pending for run, _ in begun):
            from commodore.core.results.caches.maintenance import keep_bounded  # a run without news does not load it

            store, limits = ResultStore(self._result_cache, self._context.limits), self._context.limits
            keep_bounded(store, limits.result_cache_bytes, limits.result_check_age)
        return outcomes

    def _hold(self, folder: Path) -> Path:
        """A folder that is written to, without links, as it was when it was first named: links that were there may lead
        to it, and one that has come into its way since is refused.
        """
        return self._roots.get(folder) or self._roots.setdefault(folder, Workspace.at(folder).root)

    def _done(self, schedule: Schedule, runs: Sequence[BatchRun]) -> Callable[[Task, TaskOutcome, int | None], None]:
        remote = self._remote
        if remote is None:
            return schedule.done
        jobs = {(run.key, name): job for run in runs for name, job in run.jobs.items()}

        def done(task: Task, outcome: TaskOutcome, worker: int | None) -> None:
            remote.count(outcome.remote)
            if outcome.kept:
                units = task.units if isinstance(task, FetchTask) else {(task.run.key, task.instance)}
                remote.offer({jobs[unit].component for unit in units}, outcome.kept)
            schedule.done(task, outcome, worker)

        return done

    def _announce_again(self, reuses: Iterable[Reuse]) -> None:
        """Announce the warnings and traces of the instances that were taken from the cache."""
        for reuse in reuses:
            for name, hit in reuse.hits.items():
                for trace in trace_events(name, hit.result.traces):
                    self._context.announce(trace)
                for warning in hit.result.warnings:
                    self._context.announce(Warned(*warning))

    def _begin_all(
        self, batches: Sequence[Batch], stagings: ExitStack
    ) -> tuple[list[BatchRun | CommodoreError], dict[str, Reuse]]:
        """The batches' runs, each with what is left to render, and by run's key the results that are there already."""
        finder = None
        if self._result_cache is not None:
            offline = any(batch.request.offline for batch in batches)
            context = Context(self._context.announce, self._context.limits, offline)
            remote = self._remote if self._remote is not None and self._remote.access and not offline else None
            finder = ResultFinder(self._result_cache, self._dependency_cache, self._shadow, context, remote)
        reuses: dict[str, Reuse] = {}
        runs: list[BatchRun | CommodoreError] = []
        for batch in batches:
            try:
                run, reuse = self._begin(batch, stagings, finder)
            except CommodoreError as error:
                runs.append(error)
            else:
                runs.append(run)
                reuses[run.key] = reuse
        return runs, reuses

    def _begin(self, batch: Batch, stagings: ExitStack, finder: ResultFinder | None) -> tuple[BatchRun, Reuse]:
        root = batch.request.root
        _check(batch.jobs, batch.nodes)
        with guard_disk(root):
            run = BatchRun(
                key=uuid.uuid4().hex,
                request=batch.request,
                targets={},
                jobs={job.name: job for job in batch.jobs},
                staging=stagings.enter_context(Workspace(self._hold(root)).staging("compile")),
                limits=self._context.limits,
                environment={
                    **child_environment(Child.WORKER_WITH_STORE if self._remote is not None else Child.WORKER),
                    **batch.request.environment,
                },
                dependency_cache=self._dependency_cache,
                pending=tuple(job.name for job in batch.jobs),
                roots={folder: self._hold(folder) for folder in (root, batch.request.output)},
            )
            reuse = Reuse()
            if finder is not None:
                run, reuse = finder.find(run, batch.nodes)
                if reuse.is_in_place(run):
                    reuse.in_place = True
                else:
                    reuse.unpack(run)
                for name in reuse.hits:
                    self._context.announce(StageAdvanced(COMPILE_STAGE, name, source=KEPT))
            if run.pending:
                self._pool.get_ready()
                access = self._remote.access if self._remote is not None and not batch.request.offline else None
                run = replace(
                    run, remote=access, targets=write_nodes(batch.nodes, run.staging / "nodes", self._context.limits)
                )
            return run, reuse

    def _size(self, batches: Sequence[Batch]) -> int:
        asked = max((batch.request.processes for batch in batches), default=0)
        jobs = sum(len(batch.jobs) for batch in batches)
        return max(1, min(asked or self._processes or usable_cpus(), jobs))


def _check(jobs: Sequence[InstanceJob], nodes: Mapping[str, Any]) -> None:
    errors: list[CommodoreError] = []
    for name in (job.name for job in jobs):
        check_name(name, "instance", unusual=True)
        if name not in nodes:
            errors.append(
                InputError(
                    "CMD-ENG-003", f"the inventory has no target for instance {name!r}", hint=did_you_mean(name, nodes)
                )
            )
        else:
            errors += path_errors(name, nodes[name])
    raise_all(errors)


def _check_outputs(batches: Sequence[Batch]) -> None:
    places = [(batch.request.output, job.name) for batch in batches for job in batch.jobs]
    if len(set(places)) != len(places):
        raise InternalError("CMD-ENG-050", "an instance is to be compiled twice")


def _remember(
    root: Path, known: Mapping[str, float], outcomes: Sequence[BatchOutcome], batches: Sequence[Batch], held: Path
) -> None:
    """Keep how long the instances of a working directory took, unless there was no choice what to begin with."""
    done = [
        outcome.compiled
        for outcome, batch in zip(outcomes, batches, strict=True)
        if batch.request.root == root and len(outcome.compiled) > 1
    ]
    if done:
        write_durations(
            held, {**known, **{one.name: one.seconds for compiled in done for one in compiled if not one.reused}}
        )


def _conclude(run: BatchRun, batch: Batch, schedule: Schedule, reuse: Reuse) -> BatchOutcome:
    try:
        raise_all(schedule.errors(run))
        raise_all(reuse.check(run))
        if not reuse.in_place:
            with guard_disk(run.request.root):
                publish(run)
    except CommodoreError as error:
        return BatchOutcome(error=error)
    if run.request.replace_all:
        for name, record in {**reuse.records(), **schedule.records(run)}.items():
            reused = name in reuse.hits
            write_record(run, name, record, reused=reused)
    seconds, compiled = schedule.seconds(run), run.request.output / "compiled"
    brought = {name for name, hit in reuse.hits.items() if hit.brought}
    return BatchOutcome(
        tuple(
            CompiledInstance(
                name=job.name,
                component=job.component,
                directory=compiled / job.name,
                seconds=seconds.get(job.name, 0.0),
                reused=job.name in reuse.hits,
                brought=job.name in brought,
            )
            for job in batch.jobs
        )
    )


def publish(run: BatchRun) -> None:
    """Put what was rendered in the place of what was there before, by renames.

    With `replace_all` the whole folder `compiled` is replaced at once, else each instance's folder. An instance without
    files gets none.
    """
    output = run.held(run.request.output)
    compiled = output / "compiled"
    with _beside(run) as beside:
        fresh = beside / "compiled"
        fresh.mkdir()
        fresh.chmod(FOLDER_MODE)  # whatever the umask
        for name in run.jobs:
            if _has_files(run.rendered(name)):
                _move(run.rendered(name), fresh / name)
        if run.request.replace_all:
            replace_tree(fresh, compiled, root=output)
            return
        for name in run.jobs:
            if (fresh / name).exists():
                replace_tree(fresh / name, compiled / name, root=output)
            else:
                remove_tree(compiled / name, root=output)


@contextmanager
def _beside(run: BatchRun) -> Iterator[Path]:
    """A folder on the file system of the output: the staging folder itself, or a temporary one in the output folder."""
    output = run.held(run.request.output)
    with pinned(output / "compiled", output) as compiled:
        if compiled.parent.stat().st_dev == run.staging.stat().st_dev:
            yield run.staging
            return
        with folder_beside(compiled) as folder:
            yield folder


def _has_files(folder: Path) -> bool:
    return any(not entry.is_dir(follow_symlinks=False) for _, entry in walk(folder))


def _move(source: Path, target: Path) -> None:
    if source.stat().st_dev == target.parent.stat().st_dev:
        source.rename(target)
    else:
        copy_tree(source, target)
