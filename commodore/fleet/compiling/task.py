"""The work on one cluster: compile it up to what would be committed, and publish what was judged, with attempts."""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from commodore.catalog import tree_digest
from commodore.context import Context
from commodore.errors import CommodoreError, EnvironmentFault, Findings, InternalError, PolicyError
from commodore.events import Announce, Event, InCluster, TaskBegun, TaskEnded, as_record
from commodore.exhaustion import judge, refusal
from commodore.fleet.compiling.outcome import ClusterOutcome, State
from commodore.fleet.report.grouping import Hunk
from commodore.fleet.report.normalising import Normaliser
from commodore.git import Git, RemoteAnswers
from commodore.lieutenant import Cluster, ClusterSource
from commodore.pipeline import CatalogCompile, Shared, StagedCatalog, publish_catalog, stage_catalog
from commodore.workspace import Workspace

Done = TypeVar("Done")
_SPREAD = 0.25  # of a pause, up or down, so that not all clusters try again at once


class Voices:
    """Lets what clusters share, such as the engine, announce in the name of the cluster that the thread works on.

    Args:
        others: hears what is announced in other threads.
    """

    def __init__(self, others: Announce) -> None:
        self._others = others
        self._local = threading.local()

    def announce(self, event: Event) -> None:
        """Pass an event on."""
        getattr(self._local, "announce", self._others)(event)

    @contextlib.contextmanager
    def speaking(self, announce: Announce) -> Iterator[None]:
        """What this thread announces is heard by this listener for a while."""
        self._local.announce = announce
        try:
            yield
        finally:
            del self._local.announce


@dataclass(frozen=True, slots=True)
class Compiled:
    """What compiling a cluster came to.

    Attributes:
        hunks: its changes.
        staged: what can be published in this process; None if it has failed.
    """

    outcome: ClusterOutcome
    hunks: tuple[Hunk, ...] = ()
    staged: StagedCatalog | None = None


@dataclass(frozen=True, slots=True)
class ClusterWork:
    """Works on clusters, in several threads at once.

    Attributes:
        request: how each of them is compiled; its cluster and workspace are not looked at.
        clusters: the folder with a workspace for each.
        shared: what they have in common.
        voices: of the shared engine.
        log: the file for what is announced about a cluster.
        retries: how often a cluster is tried again after an environment's error.
        timeout: seconds that one attempt may take.
        stopped: is set when the run is to end.
    """

    request: CatalogCompile
    clusters: Path
    source: ClusterSource
    shared: Shared
    voices: Voices
    log: Callable[[str], Path]
    retries: int
    timeout: float
    stopped: threading.Event

    @property
    def answers(self) -> RemoteAnswers:
        assert self.shared.answers is not None
        return self.shared.answers

    def compile(self, one: ClusterOutcome, context: Context) -> Compiled:
        """Compile a cluster; whatever is wrong is in the outcome."""

        def attempt(context: Context) -> Compiled:
            known = _Remembering(self.source)
            staged = stage_catalog(self._request(one), known, self.shared, context)
            return _compiled(one, staged, known.cluster)

        try:
            with self._logged(one, context) as context:
                done, attempts, seconds = self._tried(one, attempt, context)
        except _Failed as failed:
            return Compiled(failed.outcome)
        return replace(done, outcome=replace(done.outcome, attempts=attempts, seconds=seconds))

    def publish(
        self, compiled: Compiled, commits: Sequence[str], before_push: Callable[[str], None], context: Context
    ) -> ClusterOutcome:
        """Push the trees of a cluster that were judged, and nothing else.

        If they are not staged in this process any more, or a push has failed, they are compiled again: only the same
        trees are pushed then.

        Args:
            commits: those that may have been pushed already, by a process that was killed.
            before_push: is given each commit before it is pushed.
        """
        one, staged, pushed = compiled.outcome, compiled.staged, list(commits)

        def note(commit: str) -> None:
            pushed.append(commit)
            before_push(commit)

        def attempt(context: Context) -> ClusterOutcome:
            nonlocal staged
            now, staged = staged, None
            if now is None:
                now = self._stage_again(one, context)
                if not now.result.change.changed:
                    return _settled(one, now, pushed, context)
            url = now.clone.remote
            try:
                change = publish_catalog(now, self.source, context, note).change
            except CommodoreError:
                self.answers.forget(url)  # the remote may have more by now than when it was asked
                raise
            state: State = "pushed" if change.pushed else "unchanged"
            return replace(one, state=state, commit=change.committed_sha or "")

        try:
            with self._logged(one, context) as context:
                done, _, _ = self._tried(one, attempt, context)
        except _Failed as failed:
            return replace(failed.outcome, seconds=one.seconds, attempts=one.attempts)
        return done

    def _stage_again(self, one: ClusterOutcome, context: Context) -> StagedCatalog:
        staged = stage_catalog(self._request(one), self.source, self.shared, context)
        if tree_digest(staged.request.workspace) != one.tree:
            raise PolicyError(
                "CMD-FLT-110",
                f"the catalog of {one.id} is not the one that was judged",
                hint="nothing of it was pushed; begin a new run, which judges what it is now",
                locations=[str(staged.clone.path)],
            )
        return staged

    def _request(self, one: ClusterOutcome) -> CatalogCompile:
        return replace(self.request, cluster=one.id, workspace=self.workspace(one.id))

    def workspace(self, cluster: str) -> Workspace:
        """The workspace of a cluster."""
        return Workspace.at(self.clusters / cluster)

    @contextlib.contextmanager
    def _logged(self, one: ClusterOutcome, context: Context) -> Iterator[Context]:
        """The context of one cluster: what is announced goes to its log, too, with its name to the run's listener."""
        path, lock = self.log(one.id), threading.Lock()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:

            def hear(event: Event) -> None:
                if not isinstance(event, TaskBegun | TaskEnded):
                    with lock:
                        file.write(json.dumps(as_record(event)) + "\n")
                context.announce(InCluster(one.id, event))

            with self.voices.speaking(hear):
                yield context.heard_by(hear)

    def _tried(
        self, one: ClusterOutcome, attempt: Callable[[Context], Done], context: Context
    ) -> tuple[Done, int, float]:
        """What an attempt gives, the number of attempts that it took, and the seconds of the last one.

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
                error = _as_error(raised, one.id)
                outcome = replace(one, attempts=number, seconds=round(time.perf_counter() - start, 3))
                if self.stopped.is_set():
                    raise _Failed(replace(outcome, state="cancelled")) from raised
                if limit.is_over:
                    raise _Failed(outcome.failing(_too_long(one.id, self.timeout), "timeout")) from raised
                if error.exit_code != EnvironmentFault.exit_code or number > self.retries:
                    raise _Failed(outcome.failing(error)) from raised
            self._pause(number, context)
            self.answers.forget()

    def _pause(self, number: int, context: Context) -> None:
        pauses = context.limits.fleet_pauses
        pause = pauses[min(number, len(pauses)) - 1]
        self.stopped.wait(pause * random.uniform(1 - _SPREAD, 1 + _SPREAD))  # noqa: S311 - no secret


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


def _compiled(one: ClusterOutcome, staged: StagedCatalog, cluster: Cluster | None) -> Compiled:
    assert cluster is not None, "it was compiled"
    result, change = staged.result, staged.result.change
    normaliser = Normaliser(cluster)
    hunks = tuple(Hunk.of(file, normaliser) for file in change.files)
    outcome = replace(
        one,
        state="changed" if change.changed else "unchanged",
        rendered=result.rendered,
        reused=result.reused,
        tree=tree_digest(staged.request.workspace),
        base_commit=staged.clone.sha,
        summary={name: count for name, count in asdict(change.summary).items() if count},
        groups=tuple(hunk.id for hunk in hunks),
        notices=result.notices,
    )
    kept = replace(staged, result=replace(result, change=replace(change, files=())))  # a fleet's would be many
    return Compiled(outcome, hunks, kept if change.changed else None)


def _settled(one: ClusterOutcome, staged: StagedCatalog, pushed: Sequence[str], context: Context) -> ClusterOutcome:
    """The outcome where the remote has the trees already: by a push of this run, or by another one."""
    clone = staged.clone
    git = Git(clone.path, context)
    for commit in pushed:
        if git.run(["merge-base", "--is-ancestor", commit, clone.sha], check=False).returncode == 0:
            return replace(one, state="pushed", commit=commit)
    return replace(one, state="unchanged", commit=clone.sha)


def _as_error(error: Exception, cluster: str) -> CommodoreError:
    """Any exception as an error that can be told: one cluster's bug is no other's."""
    if isinstance(error, Findings):
        return error
    if isinstance(error, CommodoreError):
        return judge(error)
    return refusal(error) or InternalError(
        "CMD-FLT-119",
        f"internal error in cluster {cluster}: {type(error).__name__}: {error}",
        hint="set COMMODORE_TRACEBACK=1, compile the cluster alone, and report what it shows",
    )


def _too_long(cluster: str, seconds: float) -> EnvironmentFault:
    return EnvironmentFault(
        "CMD-FLT-109",
        f"cluster {cluster} took longer than {seconds:g} seconds",
        hint="look at its log, or give it more time with --timeout",
    )
