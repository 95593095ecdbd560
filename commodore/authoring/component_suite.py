"""`component test`: all test cases of a component in one run, which share the workers, charts and libraries.

Each case is what `component compile . --search-paths ./dependencies --search-paths . -f tests/<case>.yml` renders in a
fresh clone, in a copy of its own: two cases may fetch different versions of a chart to one place.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from commodore.authoring.cases import Case, find_suite
from commodore.authoring.component import ComponentSource, render_component
from commodore.authoring.fake_cluster import Facts
from commodore.authoring.places import restore_places, with_restored_places
from commodore.authoring.sandbox import Sandbox
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
from commodore.base.events import stage
from commodore.base.files.staging import temporary_folder
from commodore.base.files.workspace import Workspace
from commodore.base.names import check_instance_name, parameter_key
from commodore.catalog.stages.bundling import StandaloneBundler
from commodore.catalog.stages.compiling import CompileOptions, open_engine, standalone_request
from commodore.catalog.stages.locating import settings_located
from commodore.core.engine import Batch, BatchOutcome, InstanceJob
from commodore.core.inventory import Node


@dataclass(frozen=True, slots=True)
class ComponentSuite:
    """The component whose cases are to be run, and how.

    Attributes:
        source: the component; the instance of its cases is what their golden trees say.
        alias: the instance of all cases instead.
        search_paths: further folders to search for Jsonnet files.
    """

    source: ComponentSource
    alias: str | None = None
    search_paths: tuple[Path, ...] = ()
    facts: Facts = field(default_factory=Facts)
    options: CompileOptions = field(default_factory=CompileOptions)
    checks: CheckOptions = field(default_factory=CheckOptions)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A case that is ready to be compiled: its copy of the component in `home`, and its rendered target."""

    case: Case
    copied: ComponentSource
    home: Path
    node: Node
    batch: Batch
    seconds: float


def run_component_suite(suite: ComponentSuite, context: Context) -> SuiteResult:
    """Compile all cases of a component and judge what comes out. Nothing is written to the component's folder, but the
    golden trees if they are to be updated.

    Raises:
        CommodoreError: what concerns all cases: there are none, one that is asked for is not there, a full disk. What
            is wrong with a case is part of its result.
    """
    start = time.perf_counter()
    context = context.with_announce(once(context)).allowing(suite.options.allowed)
    found = find_suite(suite.source.directory, suite.checks.only, context)
    with temporary_folder() as folder, contextlib.ExitStack() as stack:
        home = suite.source.root
        copies = [(_copy_place(folder / "cases" / case.name, home), home) for case in found.cases]
        context = with_restored_places(context, [folder], copies)
        engine = stack.enter_context(open_engine(suite.options, context))
        with stage(context.announce, "preparing test cases", total=len(found.cases)):
            prepared = _prepare_all(suite, found.cases, folder, context)
        rendered = compile_cases(prepared, _conclude, engine, context)
        results = judge_all(found, rendered, suite.checks, context)
    return SuiteResult(suite.source.name, results, found.golden_tests, time.perf_counter() - start)


def _prepare_all(
    suite: ComponentSuite, cases: Sequence[Case], folder: Path, context: Context
) -> list[_Prepared | Rendered]:
    source = suite.source
    sandbox = Sandbox.of(source, context)
    bundler = StandaloneBundler(
        folder / "repositories", source.name, source.root, source.directory, context, suite.options.policy
    )
    prepared: list[_Prepared | Rendered] = []
    for case in cases:
        start = time.perf_counter()
        place = folder / "cases" / case.name
        try:
            prepared.append(_prepare(suite, case, sandbox, place, bundler, context))
        except CommodoreError as error:
            seconds = time.perf_counter() - start
            prepared.append(
                Rendered(
                    case,
                    seconds,
                    error=restore_places(error, place, [(_copy_place(place, sandbox.root), sandbox.root)]),
                )
            )
    return prepared


def _prepare(
    suite: ComponentSuite, case: Case, sandbox: Sandbox, place: Path, bundler: StandaloneBundler, context: Context
) -> _Prepared:
    start = time.perf_counter()
    instance = check_instance_name(suite.alias or case.alias or suite.source.name, "component instance")
    copied = sandbox.copy(_copy_place(place, sandbox.root), instance)
    workspace = Workspace.at(place / "workspace")
    with settings_located(workspace, context):
        node = render_component(workspace, copied, [case.file], suite.facts, context)
    bundler.fill(workspace.vendor, node.parameters)
    fetched = (copied.directory / "dependencies", copied.directory)
    request = standalone_request(
        workspace,
        copied.directory,
        copied.directory,
        (*sandbox.translate(suite.search_paths, copied), *fetched),
        suite.options,
    )
    job = InstanceJob(instance, copied.name, copied.directory, copied.root)
    batch = Batch([job], {node.name: node.raw}, replace(request, directory=copied.directory))
    return _Prepared(case, copied, sandbox.root, node, batch, time.perf_counter() - start)


def _copy_place(place: Path, home: Path) -> Path:
    """Where a case's copy lies below the case's folder; its last part is the name that the author's folder has."""
    return place / "copy" / home.name


def _conclude(one: _Prepared, outcome: BatchOutcome) -> Rendered:
    if outcome.error is not None:
        place = one.copied.root.parent.parent
        return Rendered(
            one.case, one.seconds, error=restore_places(outcome.error, place, [(one.copied.root, one.home)])
        )
    seconds = one.seconds + sum(compiled.seconds for compiled in outcome.compiled)
    instance = RenderedInstance(one.copied.instance, parameter_key(one.copied.name), one.node.parameters)
    return Rendered(one.case, seconds, one.copied.directory / "compiled", (instance,))
