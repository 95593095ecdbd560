"""The engine: renders and filters instances in worker processes that have imported Kapitan once.

Neither this module nor its imports load Kapitan or the Go runtime: both are in worker processes only.
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
    FROM_CACHE,
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
    """Compiles instances. A context manager: leaving it in any way ends all workers and the processes they started.

    With an empty cache of results, the workers start with the engine, while the caller continues; otherwise when an
    instance has to be rendered. An engine may compile many times.

    Args:
        processes: number of workers, 0 for one per usable CPU; a request may ask for another number.
        context: announces events and has the limits.
        dependency_cache: folder of Kapitan dependencies of a fixed version for all runs, such as `dependency_cache()`
            of `commodore.core.results.caches`; None fetches all of them again.
        result_cache: folder of results for all runs, such as `result_cache()` of the same; None renders everything.
        shadow: the share of cached results that are rendered anyway and compared, from 0 to 1.
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
            at_once: drop the results that are not written to remote stores yet.
        """
        self._pool.close()
        if self._remote is not None:
            remote, self._remote = self._remote, None
            remote.close(self._context.announce, at_once=at_once)

    def get_ready(self) -> None:
        """Start workers in the background, as there will be instances to render."""
        self._pool.get_ready()

    def renew(self) -> None:
        """Start the next compile with new workers, without state of the last one such as Python modules of kadet
        inputs. Kapitan stays loaded, or is loaded in the background, so that they start fast.
        """
        self._pool.renew()
        self._records = []

    def files_read(self) -> FilesRead:
        """Return the files that the last compile has read or looked for, also if it failed; none since `renew`."""
        return FilesRead(self._records)

    def compile(
        self, jobs: Sequence[InstanceJob], nodes: Mapping[str, Mapping[str, Any]], request: CompileRequest
    ) -> tuple[CompiledInstance, ...]:
        """Compile instances into `request.output/compiled/<instance>`, all or none of them.

        Args:
            jobs: the instances to compile. One without compile entries results in an empty folder.
            nodes: the rendered inventory, every target with its node as plain data.
            request: the settings common to all jobs.

        Returns:
            The instances in the order of the jobs.

        Raises:
            CommodoreError: one or more instances failed; all errors are reported together, and `compiled` is not
                changed.
        """
        (outcome,) = self.compile_batches([Batch(jobs, nodes, request)])
        if outcome.error is not None:
            raise outcome.error
        return outcome.compiled

    def compile_batches(self, batches: Sequence[Batch]) -> tuple[BatchOutcome, ...]:
        """Run several independent compiles at once: each batch all or nothing, independent of the others.

        The batches may share instances' names, components, working directories and Kapitan dependencies, of which each
        is fetched once; they must not share an instance's output folder. The largest number of workers in a request
        applies to all.

        Returns:
            The outcome of each batch, in their order.
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
            _save_durations(root, known, outcomes, batches, self._resolve(root))
        if self._result_cache is not None and any(run.pending for run, _ in begun):
            # Imported late: a run that renders nothing does not need it.
            from commodore.core.results.caches.maintenance import keep_bounded

            store, limits = ResultStore(self._result_cache, self._context.limits), self._context.limits
            keep_bounded(store, limits.result_cache_bytes, limits.result_check_age)
        return outcomes

    def _resolve(self, folder: Path) -> Path:
        """Return an output folder with links resolved, as on first use: initial links in its path are followed, and one
        that is created later is refused.
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
        """Announce the warnings and traces of cached results again."""
        for reuse in reuses:
            for name, hit in reuse.hits.items():
                for trace in trace_events(name, hit.result.traces):
                    self._context.announce(trace)
                for warning in hit.result.warnings:
                    self._context.announce(Warned(*warning))

    def _begin_all(
        self, batches: Sequence[Batch], stagings: ExitStack
    ) -> tuple[list[BatchRun | CommodoreError], dict[str, Reuse]]:
        """Return the batches' runs, each with the instances left to render, and the reused results by the run's key."""
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
                staging=stagings.enter_context(Workspace(self._resolve(root)).staging("compile")),
                limits=self._context.limits,
                environment={
                    **child_environment(Child.WORKER_WITH_STORE if self._remote is not None else Child.WORKER),
                    **batch.request.environment,
                },
                dependency_cache=self._dependency_cache,
                pending=tuple(job.name for job in batch.jobs),
                roots={folder: self._resolve(folder) for folder in (root, batch.request.output)},
            )
            reuse = Reuse()
            if finder is not None:
                run, reuse = finder.find(run, batch.nodes)
                if reuse.is_in_place(run):
                    reuse.in_place = True
                else:
                    reuse.unpack(run)
                for name in reuse.hits:
                    self._context.announce(StageAdvanced(COMPILE_STAGE, name, source=FROM_CACHE))
            if run.pending:
                self._pool.get_ready()
                access = self._remote.access if self._remote is not None and not batch.request.offline else None
                run = replace(
                    run, remote=access, targets=write_nodes(batch.nodes, run.staging / "nodes", self._context.limits)
                )
            return run, reuse

    def _size(self, batches: Sequence[Batch]) -> int:
        requested = max((batch.request.processes for batch in batches), default=0)
        jobs = sum(len(batch.jobs) for batch in batches)
        return max(1, min(requested or self._processes or usable_cpus(), jobs))


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
        raise InternalError("CMD-ENG-050", "two jobs have the same output folder")


def _save_durations(
    root: Path, known: Mapping[str, float], outcomes: Sequence[BatchOutcome], batches: Sequence[Batch], resolved: Path
) -> None:
    """Save the durations of a working directory's instances, if there were several: a single one needs no order."""
    done = [
        outcome.compiled
        for outcome, batch in zip(outcomes, batches, strict=True)
        if batch.request.root == root and len(outcome.compiled) > 1
    ]
    if done:
        write_durations(
            resolved,
            {
                **known,
                **{
                    instance.name: instance.seconds for compiled in done for instance in compiled if not instance.reused
                },
            },
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
    """Replace the output by the rendered folders, by renames.

    With `replace_all` the whole folder `compiled` is replaced at once, else each instance's folder. An instance without
    files gets no folder.
    """
    output = run.resolved(run.request.output)
    compiled = output / "compiled"
    with _beside(run) as beside:
        fresh = beside / "compiled"
        fresh.mkdir()
        fresh.chmod(FOLDER_MODE)  # independent of the umask
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
    """Yield a folder on the file system of the output: the staging folder, or a temporary one in the output folder."""
    output = run.resolved(run.request.output)
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
