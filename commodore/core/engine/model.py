"""Arguments and results of the engine: jobs, the request that is common to them, batches of both, results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commodore.base.errors import CommodoreError

if TYPE_CHECKING:
    from commodore.core.confinement import TrustPolicy


@dataclass(frozen=True, slots=True)
class InstanceJob:
    """An instance to compile.

    Args:
        name: the instance; the Kapitan target of that name is rendered into the folder of that name.
        component: the component's name, which filters see as `target` and `component`.
        directory: the instance's component directory; the files of filters are relative to it.
        repository: the folder that its links may point into; by default the directory.
    """

    name: str
    component: str
    directory: Path
    repository: Path | None = None


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """The settings common to all instances of a run.

    Args:
        root: the working directory of the run. Paths of `external` commands are relative to it, unless `directory`
            is set, and fetched Kapitan dependencies may write to it.
        output: the folder that `compiled/<instance>` is written to; Kapitan dependencies' relative output paths are
        below it.
        search_paths: the folders where inputs, imports and files of native functions are searched, in order.
            Names below `compiled/` are always files rendered by this run, never older files in `output`.
        refs: the folder with the ref files, `catalog/refs`.
        cluster_refs: the folder in it for ref files of this cluster only; None if it does not exist.
        reveal_fake: write `a/b` in place of `?{vaultkv:a/b}` and use no ref files.
        fetch: fetch all Kapitan dependencies again; if False, only those of targets with a `force_fetch` dependency.
        offline: read Kapitan dependencies from the cache only.
        processes: number of workers, 0 for one per usable CPU; at most the number of jobs.
        verbose: announce Kapitan's log messages.
        replace_all: replace the whole `compiled` folder; else only the folders of this run's instances.
        filter_search_paths: the folders where filters' imports are searched after the importing file's own folder;
            empty for `root`, the installed package and `root/vendor`.
        directory: current directory of external commands and base of relative paths in filters; None for `root`.
        environment: variables to set for workers, such as KAPITAN_HELM_PATH, in addition to the caller's environment
            at the start of the run.
        near_hosts: whether dependencies may come from loopback and link-local addresses that no policy names.
        policy: the permissions of components beyond reading files; None for the default policy.
        allowed: the codes of errors that are lowered to warnings.
    """

    root: Path
    output: Path
    search_paths: tuple[Path, ...]
    refs: Path
    cluster_refs: Path | None = None
    reveal_fake: bool = False
    fetch: bool = True
    offline: bool = False
    processes: int = 0
    verbose: bool = False
    replace_all: bool = False
    filter_search_paths: tuple[Path, ...] = ()
    directory: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    near_hosts: bool = True
    policy: TrustPolicy | None = None
    allowed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CompiledInstance:
    """A rendered and filtered instance.

    Args:
        directory: the folder with its files; it does not exist without files.
        seconds: the wall time of rendering; 0 if it was not needed.
        reused: whether the result of an earlier run was valid.
        brought: whether that result was read from a remote store in this run.
    """

    name: str
    component: str
    directory: Path
    seconds: float
    reused: bool = False
    brought: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """One of several compiles that share the workers but nothing else: the arguments of `Engine.compile`."""

    jobs: Sequence[InstanceJob]
    nodes: Mapping[str, Mapping[str, Any]]
    request: CompileRequest


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """The outcome of a batch: its instances in the order of the jobs, or an error, with its output unchanged."""

    compiled: tuple[CompiledInstance, ...] = ()
    error: CommodoreError | None = None
