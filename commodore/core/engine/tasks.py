"""Messages between the main process and its workers. Both are the same program in the same version."""

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
    """A batch of a call of `Engine.compile_batches`, for the workers.

    Args:
        key: identifies the run; a worker drops all its state when it changes.
        request: the caller's request.
        targets: every target of the inventory and the file with its node.
        jobs: the jobs of this run, by instance.
        staging: the run's own folder; `work/<instance>` and `fetch/<wave>/<n>` are created below it.
        dependency_cache: the folder of fetched dependencies, None without a cache.
        result_cache: the folder of results, None without a cache.
        part_cache: the folder of partial results, such as charts rendered by helm; None to render everything again.
        pending: the instances to render; the others have results.
        subjects: the subject under which an instance's result may be stored (see `commodore.core.engine.cache`).
        sources: the known identities of the dependencies' sources.
        environment: the variables of workers, and of all processes that they start.
        remote: the remote stores that partial results are read from; None without a store.
        roots: the output folders by their names in the request, with links resolved on first use.
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

    def resolved(self, folder: Path) -> Path:
        """Return an output folder with links resolved: a link created in its path later is refused."""
        return self.roots.get(folder, folder)

    def context(self) -> Context:
        """Return the context of a worker. Its messages become notes of the outcome."""
        allowed = self.request.allowed
        return Context(_log, self.limits, self.request.offline, allowed=allowed, check_host=self.check_host)

    @property
    def policy(self) -> TrustPolicy:
        """Return the permissions of components."""
        from commodore.core.confinement import DEFAULT_POLICY  # only runs that render need it

        policy = self.request.policy or DEFAULT_POLICY
        return replace(policy, near_hosts=True) if self.request.near_hosts else policy

    def check_host(self, source: str, what: str = "what a redirect leads to") -> None:
        """Refuse a source if the policy does not allow fetching from it.

        Raises:
            PolicyError: CMD-CONF-011 or CMD-CONF-012.
        """
        self.policy.require_host(source, what)

    @property
    def rendering_seconds(self) -> float:
        """Return the time limit for an instance, in seconds."""
        own = self.request.policy.rendering_seconds if self.request.policy is not None else None
        return self.limits.rendering_seconds if own is None else own

    @property
    def rendering_bytes(self) -> int:
        """Return the memory limit for an instance, in bytes."""
        own = self.request.policy.rendering_bytes if self.request.policy is not None else None
        return self.limits.rendering_bytes if own is None else own

    def step_file(self, instance: str) -> Path:
        """Return the file that a worker writes its current step to, for the error if it has to be killed."""
        return self.workplace(instance) / "at-work"

    def workplace(self, instance: str) -> Path:
        """Return the instance's own working folder, with `compiled/<instance>` and temporary files."""
        return self.staging / "work" / instance

    def rendered(self, instance: str) -> Path:
        return self.workplace(instance) / "compiled" / instance


def _log(event: Event) -> None:
    if isinstance(event, Noted):
        logging.getLogger(__name__).warning(event.message)


@dataclass(frozen=True, slots=True)
class KapitanDependency:
    """An entry of `parameters.kapitan.dependencies`, validated and with its defaults."""

    instance: str
    index: int
    kind: str
    source: str
    output: Path
    fields: Mapping[str, Any] = field(hash=False)

    @property
    def group(self) -> tuple[str, ...]:
        """Return the key of dependencies that are fetched once: Kapitan's own grouping."""
        if self.kind == "helm":
            return ("helm", self.source, *(str(self.fields.get(key)) for key in ("chart_name", "version", "helm_path")))
        return ("http" if self.kind == "https" else self.kind, self.source)


@dataclass(frozen=True, slots=True)
class InspectTask:
    """Read an instance's dependencies. The outcome has `dependencies`."""

    run: BatchRun
    instance: str

    @property
    def seconds(self) -> float:
        return self.run.rendering_seconds


Unit = tuple[str, str]
"""An instance of a run: the run's key and the instance's name."""


@dataclass(frozen=True, slots=True)
class FetchGroup:
    """Dependencies that are fetched together from one source, one for each place, and the instances that need them."""

    items: tuple[KapitanDependency, ...]
    units: frozenset[Unit]


@dataclass(frozen=True, slots=True)
class FetchTask:
    """Fetch groups one after another. The outcome has `failures`.

    Args:
        run: one of the runs that need them; all of them fetch in the same way.
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
        """Return no limit: fetching has limits of its own."""
        return math.inf


@dataclass(frozen=True, slots=True)
class Failure:
    """A group that could not be fetched. The error does not name the instances."""

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
    """The inputs that an instance has read.

    Args:
        digests: the digest of each input, by its key.
        refusal: the reason why the result cannot be stored; empty if it can.
        unseen: whether it may have read files that are not among these inputs.
        kept: the address of its stored result, if other machines may use it.
    """

    digests: Mapping[tuple[str, ...], str] = field(hash=False)
    refusal: str = ""
    unseen: bool = False
    kept: ResultAddress | None = None


@dataclass(frozen=True, slots=True)
class Evaluations:
    """Counts of evaluated Jsonnet files.

    Args:
        files: the number of evaluated files.
        seconds: their CPU time, with imports and native functions.
    """

    files: int
    seconds: float

    def facts(self) -> tuple[tuple[str, str | int | float], ...]:
        """Return the counts for traces of a run; nothing without evaluations."""
        return (("jsonnet files", self.files), ("jsonnet CPU seconds", round(self.seconds, 6))) if self.files else ()


Task = InspectTask | FetchTask | CompileTask


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """The outcome of a task: its result, or errors; in both cases notes to report, and the traces of Jsonnet files.

    For traces of a run: its start (clock of `time.perf_counter`), the duration of its parts, counts of Jsonnet
    evaluations, and the parts of the instance taken from the cache.

    Args:
        dependencies: the result of an `InspectTask`.
        failures: the result of a `FetchTask`.
        record: the result of a `CompileTask`, also of one that has failed.
        kept: the additions to the store of results, or to the cache of dependencies, that other machines may use.
        remote: counts of requests to remote stores.
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
        """Return further facts for a trace."""
        evaluated = self.evaluations.facts() if self.evaluations is not None else ()
        return (*evaluated, *((("from the cache", ", ".join(self.taken)),) if self.taken else ()))
