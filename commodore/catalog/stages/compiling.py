"""Compile the rendered hierarchy with the engine."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from commodore.base.context import Context
from commodore.base.events import stage
from commodore.base.files.workspace import Workspace
from commodore.base.names import BOOTSTRAP_TARGET
from commodore.catalog.stages.checkouts import Components
from commodore.catalog.stages.components import INSTALLED
from commodore.catalog.stages.policy import effective_policy
from commodore.catalog.stages.tools import tool_environment
from commodore.core.engine import Batch, CompiledInstance, CompileRequest, Engine, InstanceJob
from commodore.core.engine.remote_results import RemoteCache
from commodore.core.inventory import Inventory
from commodore.core.results.caches import dependency_cache, result_cache, usable
from commodore.core.results.remote_store import RemoteOptions
from commodore.core.results.result_store import ResultStore
from commodore.core.sources.fetching import DependencyCache

if TYPE_CHECKING:
    from commodore.core.confinement import TrustPolicy


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options of a compile.

    Args:
        fetch: whether to fetch Kapitan dependencies.
        processes: number of workers, 0 for one per CPU.
        verbose: announce Kapitan's log messages.
        cached: use the caches of dependencies and results.
        shadow: the share of cached results to render anyway and compare, in percent.
        policy: the trust policy of components; None for the one in the global repository, or the default.
        remote: the remote stores of results; None without one. They are not used unless `cached`, or offline.
        allowed: the codes that are lowered to warnings, in addition to those of the hierarchy.
    """

    fetch: bool = True
    processes: int = 0
    verbose: bool = False
    cached: bool = True
    shadow: int = 0
    policy: TrustPolicy | None = None
    remote: RemoteOptions | None = None
    allowed: frozenset[str] = frozenset()


def open_engine(options: CompileOptions, context: Context) -> Engine:
    """Open the engine of a command, a context manager.

    Raises:
        EnvironmentFault: the library for remote stores is not installed.
        UsageError: the options of remote stores are invalid.
    """
    return Engine(
        context,
        processes=options.processes,
        dependency_cache=usable(dependency_cache()) if options.cached else None,
        result_cache=usable(result_cache()) if options.cached else None,
        shadow=options.shadow / 100,
        remote=_open_remote(options, context),
    )


def _open_remote(options: CompileOptions, context: Context) -> RemoteCache | None:
    cache = usable(result_cache()) if options.cached and options.remote is not None else None
    if cache is None or options.remote is None or context.offline:
        return None
    fetched = DependencyCache(usable(dependency_cache()), context.limits)
    return RemoteCache(options.remote, ResultStore(cache, context.limits), fetched)


def engine_of(given: Engine | None, options: CompileOptions, context: Context) -> AbstractContextManager[Engine]:
    """Return the given engine, which the caller closes; without one, a new engine for this run."""
    return nullcontext(given) if given is not None else open_engine(options, context)


def compile_instances(engine: Engine, batch: Batch, context: Context) -> tuple[CompiledInstance, ...]:
    """Compile every instance of a batch (`catalog_batch`) into `compiled/`.

    Raises:
        CommodoreError: the errors of all instances together; `compiled/` is not changed.
    """
    with stage(context.announce, "compiling", total=len(batch.jobs)):
        request = replace(batch.request, offline=context.offline)
        return engine.compile(batch.jobs, batch.nodes, request)


def catalog_batch(
    workspace: Workspace, components: Components, inventory: Inventory, refs: Path, options: CompileOptions
) -> Batch:
    """Return the batch of all instances of a cluster; `refs` is the folder with the new ref files."""
    jobs = [
        InstanceJob(name, components.component_of(name), instance.directory)
        for name, instance in components.instances.items()
    ]
    about = inventory.nodes[BOOTSTRAP_TARGET].parameters.get("cluster")
    own = [str(about.get(key)) for key in ("tenant", "name")] if isinstance(about, Mapping) else []
    request = CompileRequest(
        root=workspace.root,
        output=workspace.root,
        search_paths=(workspace.vendor, workspace.root, INSTALLED),
        refs=refs,
        cluster_refs=refs.joinpath(*own) if own else None,
        fetch=options.fetch,
        processes=options.processes,
        verbose=options.verbose,
        replace_all=True,
        environment=tool_environment(),
        near_hosts=False,
        policy=effective_policy(workspace, options.policy),
        allowed=components.allowed,
    )
    return Batch(jobs, {name: node.raw for name, node in inventory.nodes.items()}, request)


def standalone_request(
    workspace: Workspace, output: Path, component: Path, search_paths: tuple[Path, ...], options: CompileOptions
) -> CompileRequest:
    """Return the request of `component compile`.

    Kapitan dependencies of test cases are often fetched into the vendor folder of the component itself, so it is
    searched, too. The component's own folder comes last, so that its libraries are found without `-J`.
    """
    vendored = (workspace.vendor, component / "vendor")
    paths = (*search_paths, *vendored, workspace.dependencies, workspace.root, INSTALLED, component)
    return CompileRequest(
        root=workspace.root,
        output=output,
        search_paths=tuple(dict.fromkeys(paths)),
        refs=workspace.refs,
        reveal_fake=True,
        fetch=options.fetch,
        processes=options.processes,
        verbose=options.verbose,
        filter_search_paths=(output, INSTALLED, output / "vendor"),
        directory=Path.cwd(),
        environment=tool_environment(),
        near_hosts=False,
        policy=options.policy,
        allowed=options.allowed,
    )
