"""What travels between the main process and its workers. Both ends are the same program in the same version."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.events import Event, Noted, Warned
from commodore.base.limits import Limits
from commodore.base.programs.workers import SharedPayload
from commodore.core.engine.model import CompileRequest, InstanceJob
from commodore.core.results.remote_store import Counts, ReadAccess
from commodore.core.results.result_store import ResultAddress
from commodore.core.sources.fetching import CacheKey

if TYPE_CHECKING:
    from commodore.core.confinement import TrustPolicy


@dataclass(frozen=True, slots=True)
class BatchRun(SharedPayload):
    """One batch of a call of `Engine.compile_batches`, as the workers see it.

    Args:
        key: tells one run from another; a worker forgets everything when it changes.
        request: the caller's request.
        targets: every target of the inventory and the file with its node.
        jobs: what is compiled in this run, by instance.
        staging: the run's own folder; `work/<instance>` and `fetch/<wave>/<n>` are made below it.
        dependency_cache: the folder with what was fetched before, None for none.
        result_cache: the folder with what was rendered before, None for none.
        part_cache: the folder with parts of instances, such as what helm has made of a chart; None to make all again.
        pending: the instances that have to be rendered; there are results for the others.
        subjects: under what name the result of an instance may be kept (see `commodore.core.engine.cache`).
        sources: the identities of what dependencies come from, as far as they are known.
        environment: the variables of workers, and of all that they start.
        remote: the remote stores that parts are read from; None for none.
        roots: the folders that are written to, by how the request names them, as they were when they were first named:
            without links.
    """

    key: str
    request: CompileRequest
    targets: Mapping[str, Path]
    jobs: Mapping[str, InstanceJob]
    staging: Path
    limits: Limits
    dependency_cache: Path | None = None
    result_cache: Path | None = None
    part_cache: Path | None = None
    pending: tuple[str, ...] = ()
    subjects: Mapping[str, str] = field(default_factory=dict, hash=False)
    sources: Mapping[tuple[str, ...], str] = field(default_factory=dict, hash=False)
    environment: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    remote: ReadAccess | None = field(default=None, hash=False)
    roots: Mapping[Path, Path] = field(default_factory=dict, hash=False)

    def held(self, folder: Path) -> Path:
        """A folder that is written to, without links: a link that has come into its way since is refused."""
        return self.roots.get(folder, folder)

    def context(self) -> Context:
        """What a worker hands on. What is said there is among the notes of the outcome."""
        allowed = self.request.allowed
        return Context(_log, self.limits, self.request.offline, allowed=allowed, check_host=self.check_host)

    @property
    def policy(self) -> TrustPolicy:
        """What components may do."""
        from commodore.core.confinement import DEFAULT_POLICY  # only runs that render something need it

        policy = self.request.policy or DEFAULT_POLICY
        return replace(policy, near_hosts=True) if self.request.near_hosts else policy

    def check_host(self, source: str, what: str = "what a redirect leads to") -> None:
        """Refuse a source that the policy does not allow to fetch from.

        Raises:
            PolicyError: CMD-CONF-011 or CMD-CONF-012.
        """
        self.policy.require_host(source, what)

    @property
    def rendering_seconds(self) -> float:
        """The time for one instance."""
        asked = self.request.policy.rendering_seconds if self.request.policy is not None else None
        return self.limits.rendering_seconds if asked is None else asked

    @property
    def rendering_bytes(self) -> int:
        """The memory for one instance."""
        asked = self.request.policy.rendering_bytes if self.request.policy is not None else None
        return self.limits.rendering_bytes if asked is None else asked

    def at_work(self, instance: str) -> Path:
        """The file in which a worker says what of an instance it is at, should it not come to an end."""
        return self.workplace(instance) / "at-work"

    def workplace(self, instance: str) -> Path:
        """The folder that an instance alone works in: it holds `compiled/<instance>` and temporary files."""
        return self.staging / "work" / instance

    def rendered(self, instance: str) -> Path:
        return self.workplace(instance) / "compiled" / instance


def _log(event: Event) -> None:
    if isinstance(event, Noted):
        logging.getLogger(__name__).warning(event.message)


@dataclass(frozen=True, slots=True)
class KapitanDependency:
    """One entry of `parameters.kapitan.dependencies`, validated and with its defaults."""

    instance: str
    index: int
    kind: str
    source: str
    output: Path
    fields: Mapping[str, Any] = field(hash=False)

    @property
    def group(self) -> tuple[str, ...]:
        """What is fetched once: Kapitan's own grouping."""
        if self.kind == "helm":
            return ("helm", self.source, *(str(self.fields.get(key)) for key in ("chart_name", "version", "helm_path")))
        return ("http" if self.kind == "https" else self.kind, self.source)


@dataclass(frozen=True, slots=True)
class InspectTask:
    """Read an instance's dependencies. Gives dependencies."""

    run: BatchRun
    instance: str

    @property
    def seconds(self) -> float:
        return self.run.rendering_seconds


Unit = tuple[str, str]
"""An instance of a run: the run's key and the instance's name."""


@dataclass(frozen=True, slots=True)
class FetchGroup:
    """Dependencies that come from one source at one time, one for each place, and the instances that need them."""

    items: tuple[KapitanDependency, ...]
    units: frozenset[Unit]


@dataclass(frozen=True, slots=True)
class FetchTask:
    """Fetch groups one after another. Gives failures.

    Args:
        run: one of the runs that need them; they agree in what matters to fetching.
        place: the folder to download to.
    """

    run: BatchRun
    groups: tuple[FetchGroup, ...]
    place: Path

    @property
    def instance(self) -> str:
        return self.groups[0].items[0].instance

    @property
    def units(self) -> frozenset[Unit]:
        return frozenset(unit for group in self.groups for unit in group.units)

    @property
    def seconds(self) -> float:
        """Without a bound: fetching has limits of its own."""
        return math.inf


@dataclass(frozen=True, slots=True)
class Failure:
    """A group that was not fetched. The error does not name the instances."""

    units: frozenset[Unit]
    error: CommodoreError


@dataclass(frozen=True, slots=True)
class CompileTask:
    """Render an instance into `run.rendered(instance)` and run its filters."""

    run: BatchRun
    instance: str

    @property
    def seconds(self) -> float:
        return self.run.rendering_seconds


@dataclass(frozen=True, slots=True)
class Record:
    """What an instance has read.

    Args:
        found: every thing with the digest of what was there.
        refusal: why the result cannot be kept; empty if it can.
        unseen: whether it may have read files that are not among these things.
        kept: how its result is found that was kept, if other machines may have it.
    """

    found: Mapping[tuple[str, ...], str] = field(hash=False)
    refusal: str = ""
    unseen: bool = False
    kept: ResultAddress | None = None


@dataclass(frozen=True, slots=True)
class Evaluations:
    """How the Jsonnet files of an instance were evaluated.

    Args:
        files: how many there were.
        seconds: CPU time that they took, with imports and native functions.
    """

    files: int
    seconds: float

    def facts(self) -> tuple[tuple[str, str | int | float], ...]:
        """The same for traces of a run; nothing if there was nothing to evaluate."""
        return (("jsonnet files", self.files), ("jsonnet CPU seconds", round(self.seconds, 6))) if self.files else ()


Task = InspectTask | FetchTask | CompileTask


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What a task came to: what it gives, or errors; and either way notes worth reporting, and the traces
    of Jsonnet files.

    For traces: when it was begun (the clock of `time.perf_counter`), how long its parts took, how Jsonnet was
    evaluated, and which parts of the instance were taken from the cache.

    Args:
        dependencies: what an `InspectTask` gives.
        failures: what a `FetchTask` gives.
        record: what a `CompileTask` gives; also one of an instance that has failed.
        kept: what it has added to the store of results, or to the cache of dependencies, if other machines may have it.
        remote: what came of asking remote stores.
    """

    dependencies: tuple[KapitanDependency, ...] = ()
    failures: tuple[Failure, ...] = ()
    record: Record | None = None
    errors: tuple[CommodoreError, ...] = ()
    notes: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    warnings: tuple[Warned, ...] = ()
    seconds: float = 0.0
    started: float = 0.0
    parts: tuple[tuple[str, float], ...] = ()
    evaluations: Evaluations | None = None
    taken: tuple[str, ...] = ()
    kept: tuple[ResultAddress | CacheKey, ...] = ()
    remote: Counts | None = None

    def facts(self) -> tuple[tuple[str, str | int | float], ...]:
        """What else is worth showing in a trace."""
        evaluated = self.evaluations.facts() if self.evaluations is not None else ()
        return (*evaluated, *((("from the cache", ", ".join(self.taken)),) if self.taken else ()))
