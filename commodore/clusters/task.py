"""The work on one cluster: compile it up to what would be committed, and publish what was judged, with attempts."""

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
"""Stands for a commit that another process may have pushed, whose name is not known."""

_MORE_TIME = "look at its log, or give it more time with --timeout"
_SPREAD = 0.25  # of a pause, up or down, so that not all clusters try again at once


class Work(Protocol):
    """Works on clusters: in this process, or elsewhere. See `ClusterWork`."""

    @property
    def threads(self) -> int:
        """The number of clusters that are worked on at once."""

    def compile(self, outcome: ClusterOutcome, context: Context) -> Compiled:
        """Compile a cluster; whatever is wrong is in the outcome."""

    def publish(
        self, compiled: Compiled, commits: Sequence[str], before_push: Callable[[str], None], context: Context
    ) -> ClusterOutcome:
        """Push the trees of a cluster that were judged, and nothing else."""

    def close(self) -> None:
        """End what works elsewhere."""


class ThreadEvents:
    """Route events of shared objects, such as the engine, to the cluster that the current thread works on.

    Args:
        others: gets the events of other threads.
    """

    def __init__(self, others: Announce) -> None:
        self._others = others
        self._local = threading.local()

    def announce(self, event: Event) -> None:
        """Pass an event on."""
        getattr(self._local, "announce", self._others)(event)

    @contextlib.contextmanager
    def announcing(self, announce: Announce) -> Iterator[None]:
        """Give this thread's events to another listener for a while."""
        self._local.announce = announce
        try:
            yield
        finally:
            del self._local.announce


@dataclass(frozen=True, slots=True)
class ClusterWork:
    """Works on clusters, in several threads at once.

    Attributes:
        request: how each of them is compiled; its cluster and workspace are ignored.
        clusters: the folder with a workspace for each.
        shared: what they have in common.
        events: the router of the shared engine's events.
        log: the file for what is announced about a cluster.
        retries: how often a cluster is tried again after an environment's error.
        timeout: seconds that one attempt may take.
        stopped: is set when the run is to end.
        threads: how many clusters are worked on at once.
        keep: what stays of a workspace that is done: all, what the next run needs to know (`state`), or nothing.
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
        """Compile a cluster; whatever is wrong is in the outcome."""

        def attempt(context: Context) -> Compiled:
            known = _Remembering(self.source)
            staged = stage_catalog(self._request(outcome), known, self.shared, context)
            assert known.cluster is not None, "it was compiled"
            return compiled(outcome, staged, known.cluster)

        try:
            with self._logged(outcome, context) as context:
                done, attempts, seconds = self._tried(outcome, attempt, context)
            done = replace(done, outcome=replace(done.outcome, attempts=attempts, seconds=seconds))
        except _Failed as failed:
            done = Compiled(failed.outcome)
        if not (self.request.push and done.outcome.state == "changed"):
            self._clean(done.outcome, context)
        return done

    def publish(
        self, compiled: Compiled, commits: Sequence[str], before_push: Callable[[str], None], context: Context
    ) -> ClusterOutcome:
        """Push the trees of a cluster that were judged, and nothing else.

        If they are not staged in this process any more, or a push has failed, they are compiled again: only the same
        trees are pushed then, and only on top of the commit that they were compared with.

        Args:
            commits: those that may have been pushed already, by a process that was killed; perhaps `UNKNOWN_COMMIT`.
            before_push: is given each commit before it is pushed.
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
                    return _settled(item, now, pushed, context)
                if not now.clone.empty and now.clone.sha != item.base_commit:
                    raise moved_meanwhile(now.clone, item.base_commit, now.clone.sha, context)
            url = now.clone.remote
            try:
                change = publish_catalog(now, self.source, context, note).change
            except CommodoreError:
                self.answers.forget(url)  # the remote may have more by now than when it was asked
                raise
            if not change.pushed:  # the remote has these trees by now
                return _found(item, change.committed_sha or "", pushed)
            return replace(item, state="pushed", commit=change.committed_sha or "")

        try:
            with self._logged(item, context) as context:
                done, _, _ = self._tried(item, attempt, context)
        except _Failed as failed:
            done = replace(failed.outcome, seconds=item.seconds, attempts=item.attempts)
        self._clean(done, context)
        return done

    def _clean(self, outcome: ClusterOutcome, context: Context) -> None:
        """Remove what is not to be kept of a workspace, but for a report that Lieutenant could not take yet."""
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
        """Does nothing: what is shared is ended by its owner."""

    def _stage_again(self, outcome: ClusterOutcome, context: Context) -> StagedCatalog:
        staged = stage_catalog(self._request(outcome), self.source, self.shared, context)
        if tree_digest(staged.request.workspace) != outcome.tree:
            raise PolicyError(
                "CMD-FLT-110",
                f"the catalog of {outcome.id} is not the one that was judged",
                hint="nothing of it was pushed; begin a new run, which judges what it is now",
                locations=[str(staged.clone.path)],
            )
        return staged

    def _request(self, outcome: ClusterOutcome) -> CatalogCompile:
        return replace(self.request, cluster=outcome.id, workspace=self.workspace(outcome.id))

    def workspace(self, cluster: str) -> Workspace:
        """The workspace of a cluster."""
        return Workspace.at(self.clusters / cluster)

    @contextlib.contextmanager
    def _logged(self, outcome: ClusterOutcome, context: Context) -> Iterator[Context]:
        """The context of one cluster: what is announced goes to its log, too, with its name to the run's listener."""
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

    def _tried(
        self, item: ClusterOutcome, attempt: Callable[[Context], Done], context: Context
    ) -> tuple[Done, int, float]:
        """The result of an attempt, the number of attempts that it took, and the seconds of the last one.

        Raises:
            _Failed: none was good.
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
        """Announce that a cluster is tried again, and wait until then, or until the run is to end."""
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
    """A context whose programs are ended after some seconds."""

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
class _Remembering:
    """A source that keeps the cluster that it was asked for."""

    source: ClusterSource
    cluster: Cluster | None = None

    def load(self, cluster: str, context: Context) -> Cluster:
        self.cluster = self.source.load(cluster, context)
        return self.cluster

    def report(self, cluster: str, body: Mapping[str, Any]) -> None:
        self.source.report(cluster, body)


def _settled(outcome: ClusterOutcome, staged: StagedCatalog, pushed: Sequence[str], context: Context) -> ClusterOutcome:
    """The outcome where the remote has the trees already: by a push of this run, or by another one."""
    clone = staged.clone
    git = Git(clone.path, context)
    for commit in filter(None, pushed):
        if git.run(["merge-base", "--is-ancestor", commit, clone.sha], check=False).returncode == 0:
            return replace(outcome, state="pushed", commit=commit)
    return _found(outcome, clone.sha, pushed)


def _found(outcome: ClusterOutcome, commit: str, pushed: Sequence[str]) -> ClusterOutcome:
    """The outcome where the remote's newest commit has the trees: a worker may have pushed it, and ended then."""
    ours = UNKNOWN_COMMIT in pushed and commit != outcome.base_commit
    return replace(outcome, state="pushed" if ours else "unchanged", commit=commit)


def _has_moved(staged: StagedCatalog, context: Context) -> bool:
    """True if the clone is at another commit than the change was staged on: another process has committed it."""
    head = Git(staged.clone.path, context).run(["rev-parse", "--verify", "--quiet", "HEAD"], check=False)
    return head.text != staged.clone.sha


def _as_error(error: Exception, cluster: str) -> CommodoreError:
    """Any exception as an error that can be reported: one cluster's bug is no other's."""
    if isinstance(error, Findings):
        return error
    if isinstance(error, CommodoreError):
        return judge(error)
    return refusal(error) or InternalError(
        "CMD-FLT-119",
        f"internal error in cluster {cluster}: {type(error).__name__}: {error}",
        hint="set COMMODORE_TRACEBACK=1, compile the cluster alone, and report what it shows",
    )
