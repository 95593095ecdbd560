"""What the engine takes and gives back: jobs, the request that is common to them, batches of both, results."""

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
    """One instance to compile.

    Args:
        name: the instance; the Kapitan target of that name is rendered into the folder of that name.
        component: the component's name, which filters see as `target` and `component`.
        directory: the instance's component directory; the files of filters are relative to it.
        repository: the folder that its links may lead into; by default the directory.
    """

    name: str
    component: str
    directory: Path
    repository: Path | None = None


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """What is common to all instances of a run.

    Args:
        root: the working directory of the run. Paths of `external` commands are relative to it, unless `directory`
            says otherwise, and its files may be written by fetched Kapitan dependencies.
        output: the folder that gets `compiled/<instance>`; Kapitan dependencies' relative output paths are below it.
        search_paths: where inputs, imports and files of native functions are looked up, first one first.
            Names below `compiled/` always mean what this run has rendered, never what lies in `output` from before.
        refs: the folder with the ref files, `catalog/refs`.
        cluster_refs: the folder in it for ref files of this cluster alone; None if there is no such one.
        reveal_fake: write `a/b` in place of `?{vaultkv:a/b}` and use no ref files.
        fetch: fetch all Kapitan dependencies anew; if false only those of targets with a `force_fetch` one.
        offline: take Kapitan dependencies from the cache alone.
        processes: number of workers, 0 for one per usable CPU; never more than there are jobs.
        verbose: announce what Kapitan logs.
        replace_all: let `compiled` hold nothing but this run's instances; else only their own folders are replaced.
        filter_search_paths: where filters' imports are looked up after the importing file's own folder;
            empty for `root`, the installed package and `root/vendor`.
        directory: current directory of external commands and base of relative paths in filters; None for `root`.
        environment: variables to set for what workers run, such as KAPITAN_HELM_PATH; the rest of the environment is
            the caller's as it is when the run begins.
        near_hosts: whether dependencies may come from addresses of this machine and its link that no policy names.
        policy: what components may do beyond reading files; None for what holds without a policy file.
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
    """An instance that is rendered and filtered.

    Args:
        directory: the folder with its files; not there if there are none.
        seconds: the wall time that rendering took; 0 if it was not needed.
        reused: whether the result of an earlier run still held.
        brought: whether that result was brought from a remote store just now.
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
    """What a batch came to: its instances in the order of the jobs, or the error that left its output as it was."""

    compiled: tuple[CompiledInstance, ...] = ()
    error: CommodoreError | None = None
