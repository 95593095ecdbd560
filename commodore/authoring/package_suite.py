"""`package test`: all test cases of a package in one run, which share the workers, repositories, charts and libraries.

Each case is what `package compile . tests/<case>.yml` renders.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from commodore.authoring.cases import Case, find_suite
from commodore.authoring.fake_cluster import Facts
from commodore.authoring.package import PackageSource, render_package
from commodore.authoring.places import restore_places, with_restored_places
from commodore.authoring.testing import (
    CheckOptions,
    Rendered,
    RenderedInstance,
    SuiteResult,
    compile_cases,
    judge_all,
    once,
)
from commodore.base.context import Context
from commodore.base.errors import CommodoreError
from commodore.base.files.staging import temporary_folder
from commodore.base.files.workspace import Workspace
from commodore.base.names import parameter_key
from commodore.catalog.stages.bundling import bundle_libraries, library_sources
from commodore.catalog.stages.checkouts import Components, Fetcher
from commodore.catalog.stages.compiling import CompileOptions, catalog_batch, open_engine
from commodore.catalog.stages.locating import settings_located
from commodore.catalog.stages.publishing import write_references
from commodore.core.dependencies.bundle import LibrarySources
from commodore.core.engine import Batch, BatchOutcome
from commodore.core.inventory import Inventory
from commodore.core.results.caches import repository_cache, usable
from commodore.core.sources.git import RepositoryStore


@dataclass(frozen=True, slots=True)
class PackageSuite:
    """The package whose cases are to be run, and how. `directory` holds `tests/`."""

    directory: Path
    facts: Facts = field(default_factory=Facts)
    options: CompileOptions = field(default_factory=CompileOptions)
    checks: CheckOptions = field(default_factory=CheckOptions)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A case that is ready to be compiled."""

    case: Case
    workspace: Workspace
    components: Components
    inventory: Inventory
    batch: Batch
    seconds: float


def run_package_suite(suite: PackageSuite, context: Context) -> SuiteResult:
    """Compile all cases of a package and judge what comes out. Nothing is written to the package's folder, but the
    golden trees if they are to be updated.

    Raises:
        CommodoreError: what concerns all cases: there are none, one that is asked for is not there, a full disk. What
            is wrong with a case is part of its result.
    """
    start = time.perf_counter()
    context = context.with_announce(once(context)).allowing(suite.options.allowed)
    directory = suite.directory.resolve()
    found = find_suite(directory, suite.checks.only, context)
    name = _source(directory, found.cases[0]).name
    with temporary_folder() as folder, contextlib.ExitStack() as stack:
        context = with_restored_places(context, [folder / "cases" / case.name for case in found.cases])
        engine = stack.enter_context(open_engine(suite.options, context))
        prepared = _prepare_all(suite, directory, found.cases, folder, context)
        rendered = compile_cases(prepared, _conclude, engine, context)
        results = judge_all(found, rendered, suite.checks, context)
    return SuiteResult(name, results, found.golden_tests, time.perf_counter() - start)


def _source(directory: Path, case: Case) -> PackageSource:
    return PackageSource.at(directory, case.file.relative_to(directory).as_posix())


def _prepare_all(
    suite: PackageSuite, directory: Path, cases: Sequence[Case], folder: Path, context: Context
) -> list[_Prepared | Rendered]:
    """One store of repositories for all cases, so that each repository is fetched once and each remote asked once."""
    mirrors = usable(repository_cache()) if suite.options.cached else None
    store = RepositoryStore(folder / "repositories", context, mirrors=mirrors)
    sources: LibrarySources | None = None
    prepared: list[_Prepared | Rendered] = []
    with contextlib.ExitStack() as stack:
        for case in cases:
            start = time.perf_counter()
            fetcher = Fetcher(Workspace.at(folder / "cases" / case.name), store, context, cached=suite.options.cached)
            sources = sources or stack.enter_context(library_sources(fetcher, suite.options.policy))
            try:
                prepared.append(_prepare(suite, case, _source(directory, case), fetcher, sources))
            except CommodoreError as error:
                prepared.append(
                    Rendered(case, time.perf_counter() - start, error=restore_places(error, fetcher.workspace.root))
                )
    return prepared


def _prepare(
    suite: PackageSuite, case: Case, source: PackageSource, fetcher: Fetcher, sources: LibrarySources
) -> _Prepared:
    start = time.perf_counter()
    workspace = fetcher.workspace
    with settings_located(workspace, fetcher.context):
        components, inventory = render_package(fetcher, source, (), suite.facts)
        bundle_libraries(fetcher, components, inventory, sources)
        write_references(components, inventory, workspace.refs, fetcher.context)
    batch = catalog_batch(workspace, components, inventory, workspace.refs, suite.options)
    return _Prepared(case, workspace, components, inventory, batch, time.perf_counter() - start)


def _conclude(one: _Prepared, outcome: BatchOutcome) -> Rendered:
    if outcome.error is not None:
        return Rendered(one.case, one.seconds, error=restore_places(outcome.error, one.workspace.root))
    seconds = one.seconds + sum(compiled.seconds for compiled in outcome.compiled)
    instances = tuple(
        RenderedInstance(name, parameter_key(one.components.component_of(name)), one.inventory.nodes[name].parameters)
        for name in one.components.instances
    )
    return Rendered(one.case, seconds, one.workspace.compiled, instances)
