"""The work on one cluster: compile and stage its catalog, and publish it once judged, with retries."""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, Findings, InternalError, PolicyError
from commodore.base.events import Announce, Event, InCluster, Noted, TaskBegun, TaskEnded, as_record
from commodore.base.exhaustion import judge, refusal
from commodore.base.files.workspace import Workspace, remove_tree
from commodore.catalog import (
    CatalogCompile,
    Shared,
    StagedCatalog,
    moved_meanwhile,
    pending_file,
    publish_catalog,
    stage_catalog,
    tree_digest,
)
from commodore.clusters.compiled import Compiled, compiled
from commodore.clusters.outcome import ClusterOutcome
from commodore.core.lieutenant import Cluster, ClusterSource
from commodore.core.sources.git import Git, RemoteAnswers

Done = TypeVar("Done")
Keep = Literal["all", "state", "nothing"]
UNKNOWN_COMMIT = ""
"""A commit with unknown id that another process may have pushed."""

_MORE_TIME = "see its log, or increase --timeout"
_SPREAD = 0.25  # jitter of a pause, so that not all clusters retry at once


class Work(Protocol):
    """Compiles and publishes clusters, in this process or on other machines. See `ClusterWork`."""

    @property
    def threads(self) -> int:
        """The number of clusters processed at once."""

    def compile(self, outcome: ClusterOutcome, context: Context) -> Compiled:
        """Compile a cluster; the outcome has its errors."""

    def publish(
        self, compiled: Compiled, commits: Sequence[str], before_push: Callable[[str], None], context: Context
    ) -> ClusterOutcome:
        """Push the judged trees of a cluster, and nothing else."""

    def close(self) -> None:
        """Stop the workers."""


class ThreadEvents:
    """Route events of shared objects, such as the engine, to the cluster that the current thread works on.

    Args:
        others: receives the events of other threads.
    """

    def __init__(self, others: Announce) -> None:
        self._others = others
        self._local = threading.local()

    def announce(self, event: Event) -> None:
        """Pass an event to the listener of the current thread."""
        getattr(self._local, "announce", self._others)(event)

    @contextlib.contextmanager
    def announcing(self, announce: Announce) -> Iterator[None]:
        """Pass this thread's events to another listener within the block."""
        self._local.announce = announce
        try:
            yield
        finally:
            del self._local.announce


@dataclass(frozen=True, slots=True)
class ClusterWork:
    """Compile and publish clusters, in several threads at once.

    Attributes:
        request: the options for each cluster; its cluster and workspace are ignored.
        clusters: the folder with a workspace for each cluster.
        shared: the resources that clusters share.
        events: the router of the shared engine's events.
        log: returns the file for the events of a cluster.
        retries: the number of retries of a cluster after an environment error.
        timeout: the maximum seconds of an attempt.
        stopped: set to stop the run.
        threads: the number of clusters processed at once.
        keep: the part of a finished workspace to keep: all, the state for the next run, or nothing.
    """

    request: CatalogCompile
    clusters: Path
    source: ClusterSource
    shared: Shared
    events: ThreadEvents
    log: Callable[[str], Path]
    retries: int
    timeout: float
    stopped: threading.Event
    threads: int = 1
    keep: Keep = "all"

    @property
    def answers(self) -> RemoteAnswers:
        assert self.shared.answers is not None
        return self.shared.answers

    def compile(self, outcome: ClusterOutcome, context: Context) -> Compiled:
        """Compile a cluster; the outcome has its errors."""

        def attempt(context: Context) -> Compiled:
            known = _RecordingSource(self.source)
            staged = stage_catalog(self._request(outcome), known, self.shared, context)
            assert known.cluster is not None, "it was compiled"
            return compiled(outcome, staged, known.cluster)

        try:
            with self._logged(outcome, context) as context:
                done, attempts, seconds = self._retry(outcome, attempt, context)
            done = replace(done, outcome=replace(done.outcome, attempts=attempts, seconds=seconds))
        except _Failed as failed:
            done = Compiled(failed.outcome)
        if not (self.request.push and done.outcome.state == "changed"):
            self._clean(done.outcome, context)
        return done

    def publish(
        self, compiled: Compiled, commits: Sequence[str], before_push: Callable[[str], None], context: Context
    ) -> ClusterOutcome:
        """Push the judged trees of a cluster, and nothing else.

        If they are not staged in this process any more, or a push has failed, they are compiled again. Only equal trees
        are pushed then, and only on top of the commit that they were compared with.

        Args:
            commits: commits that a killed process may have pushed already; may include `UNKNOWN_COMMIT`.
            before_push: called with each commit before it is pushed.
        """
        item, staged, pushed = compiled.outcome, compiled.staged, list(commits)

        def note(commit: str) -> None:
            pushed.append(commit)
            before_push(commit)

        def attempt(context: Context) -> ClusterOutcome:
            nonlocal staged
            now, staged = staged, None
            if now is not None and _has_moved(now, context):
                self.answers.forget(now.clone.remote)
                now = None
            if now is None:
                now = self._stage_again(item, context)
                if not now.result.change.changed:
                    return _no_push_outcome(item, now, pushed, context)
                if not now.clone.empty and now.clone.sha != item.base_commit:
                    raise moved_meanwhile(now.clone, item.base_commit, now.clone.sha, context)
            url = now.clone.remote
            try:
                change = publish_catalog(now, self.source, context, note).change
            except CommodoreError:
                self.answers.forget(url)  # the remote may have changed since it was queried
                raise
            if not change.pushed:  # the remote has these trees already
                return _same_trees_outcome(item, change.committed_sha or "", pushed)
            return replace(item, state="pushed", commit=change.committed_sha or "")

        try:
            with self._logged(item, context) as context:
                done, _, _ = self._retry(item, attempt, context)
        except _Failed as failed:
            done = replace(failed.outcome, seconds=item.seconds, attempts=item.attempts)
        self._clean(done, context)
        return done

    def _clean(self, outcome: ClusterOutcome, context: Context) -> None:
        """Remove the parts of a workspace that are not kept. A report still to be sent to Lieutenant is preserved."""
        workspace = self.workspace(outcome.id)
        if self.keep == "all" or outcome.state == "cancelled" or not workspace.root.is_dir():
            return
        with workspace.locked(context.limits):
            kept = {workspace.state}
            if self.keep == "state" or pending_file(workspace).is_file():
                kept.add(workspace.catalog)
            for path in sorted(workspace.root.iterdir()):
                if path not in kept:
                    remove_tree(path)
            if workspace.catalog not in kept:
                remove_tree(workspace.root)

    def close(self) -> None:
        """Do nothing: shared resources are closed by their owner."""

    def _stage_again(self, outcome: ClusterOutcome, context: Context) -> StagedCatalog:
        staged = stage_catalog(self._request(outcome), self.source, self.shared, context)
        if tree_digest(staged.request.workspace) != outcome.tree:
            raise PolicyError(
                "CMD-FLT-110",
                f"the catalog of {outcome.id} differs from the judged one",
                hint="nothing of it was pushed; start a new run to judge the current catalog",
                locations=[str(staged.clone.path)],
            )
        return staged

    def _request(self, outcome: ClusterOutcome) -> CatalogCompile:
        return replace(self.request, cluster=outcome.id, workspace=self.workspace(outcome.id))

    def workspace(self, cluster: str) -> Workspace:
        """Return the workspace of a cluster."""
        return Workspace.at(self.clusters / cluster)

    @contextlib.contextmanager
    def _logged(self, outcome: ClusterOutcome, context: Context) -> Iterator[Context]:
        """Yield the context of a cluster: its events go to its log, and to the run's listener with its name."""
        path, lock = self.log(outcome.id), threading.Lock()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:

            def on_event(event: Event) -> None:
                if not isinstance(event, TaskBegun | TaskEnded):
                    with lock:
                        file.write(json.dumps(as_record(event)) + "\n")
                context.announce(InCluster(outcome.id, event))

            with self.events.announcing(on_event):
                yield context.with_announce(on_event)

    def _retry(
        self, item: ClusterOutcome, attempt: Callable[[Context], Done], context: Context
    ) -> tuple[Done, int, float]:
        """Repeat an attempt until it succeeds. Returns its result, the number of attempts, and the last one's seconds.

        Raises:
            _Failed: no attempt succeeded.
        """
        number = 0
        while True:
            number += 1
            start = time.perf_counter()
            limit = _Limit(context, self.timeout)
            try:
                with limit:
                    done = attempt(limit.context)
                return done, number, round(time.perf_counter() - start, 3)
            except Exception as raised:
                error = _as_error(raised, item.id)
                outcome = replace(item, attempts=number, seconds=round(time.perf_counter() - start, 3))
                if self.stopped.is_set():
                    raise _Failed(replace(outcome, state="cancelled")) from raised
                if limit.is_over:
                    late = f"cluster {item.id} took longer than {self.timeout:g} seconds"
                    error = EnvironmentFault("CMD-FLT-109", late, hint=_MORE_TIME)
                    raise _Failed(outcome.failing(error, "timeout")) from raised
                failed = outcome.failing(error)
                if not failed.may_pass or number > self.retries:
                    raise _Failed(failed) from raised
            self.pause(failed, context)
            self.answers.forget()

    def pause(self, failed: ClusterOutcome, context: Context) -> None:
        """Announce a retry of a cluster, and wait for it, or until the run is stopped."""
        pauses = context.limits.fleet_pauses
        pause = pauses[min(failed.attempts, len(pauses)) - 1] * random.uniform(1 - _SPREAD, 1 + _SPREAD)  # noqa: S311 - no secret
        assert failed.error is not None
        again = f"attempt {failed.attempts + 1} of {self.retries + 1} in {pause:.0f} s"
        context.announce(Noted(f"{failed.error.message} [{failed.error.code}]; {again}"))
        self.stopped.wait(pause)


class _Failed(Exception):
    def __init__(self, outcome: ClusterOutcome) -> None:
        super().__init__(outcome.id)
        self.outcome = outcome


class _Limit:
    """A context whose programs are stopped after some seconds."""

    def __init__(self, context: Context, seconds: float) -> None:
        self.context = context.nested()
        self.is_over = False
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def _end(self) -> None:
        self.is_over = True
        self.context.cancellation.cancel()

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *exception: object) -> None:
        self._timer.cancel()


@dataclass(slots=True)
class _RecordingSource:
    """A source that records the loaded cluster."""

    source: ClusterSource
    cluster: Cluster | None = None

    def load(self, cluster: str, context: Context) -> Cluster:
        self.cluster = self.source.load(cluster, context)
        return self.cluster

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        self.source.report(cluster, body)


def _no_push_outcome(
    outcome: ClusterOutcome, staged: StagedCatalog, pushed: Sequence[str], context: Context
) -> ClusterOutcome:
    """Return the outcome if the remote has the trees already, by a push of this run or of another one."""
    clone = staged.clone
    git = Git(clone.path, context)
    for commit in filter(None, pushed):
        if git.run(["merge-base", "--is-ancestor", commit, clone.sha], check=False).returncode == 0:
            return replace(outcome, state="pushed", commit=commit)
    return _same_trees_outcome(outcome, clone.sha, pushed)


def _same_trees_outcome(outcome: ClusterOutcome, commit: str, pushed: Sequence[str]) -> ClusterOutcome:
    """Return the outcome if the remote's newest commit has the trees: a worker may have pushed it and died."""
    ours = UNKNOWN_COMMIT in pushed and commit != outcome.base_commit
    return replace(outcome, state="pushed" if ours else "unchanged", commit=commit)


def _has_moved(staged: StagedCatalog, context: Context) -> bool:
    """Return True if another process has committed to the clone since the change was staged."""
    head = Git(staged.clone.path, context).run(["rev-parse", "--verify", "--quiet", "HEAD"], check=False)
    return head.text != staged.clone.sha


def _as_error(error: Exception, cluster: str) -> CommodoreError:
    """Convert any exception to a reportable error, so that a bug in one cluster does not affect others."""
    if isinstance(error, Findings):
        return error
    if isinstance(error, CommodoreError):
        return judge(error)
    return refusal(error) or InternalError(
        "CMD-FLT-119",
        f"internal error in cluster {cluster}: {type(error).__name__}: {error}",
        hint="set COMMODORE_TRACEBACK=1, compile the cluster alone, and report the output",
    )
