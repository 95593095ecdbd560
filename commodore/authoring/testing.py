"""Test cases: all cases of a component or package are compiled in one run, with shared workers, charts and libraries;
the output is compared with golden trees, and checked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from commodore.authoring.cases import Case, Suite, find_suite
from commodore.authoring.golden import GoldenDifference, compare, read_tree, update_golden
from commodore.authoring.object_checks import check_objects, check_references
from commodore.authoring.places import Copies, restore_places, with_restored_places
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic
from commodore.base.errors import CommodoreError, Findings, InputError
from commodore.base.events import Announce, Event, Warned, stage
from commodore.base.files.staging import temporary_folder
from commodore.catalog.stages.compiling import CompileOptions, open_engine
from commodore.catalog.stages.tools import check_tools
from commodore.core.engine import Batch, Engine

Status = Literal["ok", "updated", "differs", "failed"]


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Options of a test run: cases (empty: all), updating golden trees, and treating findings as failures."""

    only: tuple[str, ...] = ()
    update: bool = False
    strict: bool = False


def _rounded(seconds: float) -> float:
    return round(seconds, 3)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """Result of a test case.

    Attributes:
        status: `ok` and `updated` are fine; `differs` from its golden tree; `failed` in another way.
        seconds: the time for preparing and compiling this case.
        differences: differences from the golden tree; updated ones if the status is `updated`.
        findings: findings of the checks.
        errors: the errors of a failed case.
    """

    name: str
    status: Status
    seconds: float = field(metadata={"json": _rounded})
    differences: tuple[GoldenDifference, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    errors: tuple[CommodoreError, ...] = ()

    @property
    def passed(self) -> bool:
        return self.status in ("ok", "updated")


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """Results of all cases of a run, sorted by name. `name` is the component's or package's."""

    name: str
    cases: tuple[CaseResult, ...]
    golden_tests: bool
    seconds: float

    @property
    def passed(self) -> bool:
        return all(case.passed for case in self.cases)


@dataclass(frozen=True, slots=True)
class RenderedInstance:
    """An instance of a case: the parameters of its target, and the key of its component's own."""

    name: str
    key: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rendered:
    """Output of a case: the folder `compiled/` with its instances, or the error."""

    case: Case
    seconds: float
    folder: Path | None = None
    instances: tuple[RenderedInstance, ...] = ()
    error: CommodoreError | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case that is ready to be compiled: its folder `compiled/`, and its instances."""

    batch: Batch
    folder: Path
    instances: tuple[RenderedInstance, ...]


Prepare = Callable[[Case, Path], Prepared]
"""Prepares a case in a separate folder, or raises its error."""


class CaseSource(Protocol):
    """A component or package whose test cases are run, and the options."""

    @property
    def name(self) -> str: ...

    @property
    def directory(self) -> Path:
        """The folder with `tests/`, absolute and without links."""

    @property
    def options(self) -> CompileOptions: ...

    @property
    def checks(self) -> CheckOptions: ...

    def copies(self, place: Path) -> Copies:
        """Return copies of the author's files in the folder of a case, each with the path of the original."""

    def preparing(self, cases: Sequence[Case], folder: Path, context: Context) -> AbstractContextManager[Prepare]:
        """Open the data shared by all cases in a folder."""


def run_suite(source: CaseSource, context: Context) -> SuiteResult:
    """Compile all cases of a component or package and check the results. Only updated golden trees are written to the
    author's folder.

    Raises:
        CommodoreError: an error of all cases: no cases, a requested case does not exist, a full disk. The
            error of a single case is part of its result.
    """
    start = time.perf_counter()
    context = context.with_announce(once(context)).allowing(source.options.allowed)
    suite = find_suite(source.directory, source.checks.only, context)
    name = source.name
    with temporary_folder() as folder:
        places = [folder / "cases" / case.name for case in suite.cases]
        copies = [copy for place in places for copy in source.copies(place)]
        context = with_restored_places(context, [*places, folder], copies)
        with open_engine(source.options, context) as engine:
            with source.preparing(suite.cases, folder, context) as prepare:
                prepared = [
                    _prepared(source, prepare, case, place) for case, place in zip(suite.cases, places, strict=True)
                ]
            rendered = tuple(_compiled(source, prepared, engine, context))
            with stage(context.announce, "comparing with golden trees"):
                results = tuple(_judge(suite, each, source.checks, context) for each in rendered)
    return SuiteResult(name, results, suite.golden_tests, time.perf_counter() - start)


_Attempt = tuple[Case, Path, float, Prepared | CommodoreError]


def _prepared(source: CaseSource, prepare: Prepare, case: Case, place: Path) -> _Attempt:
    """Prepare a case in its folder, and measure the time."""
    start = time.perf_counter()
    try:
        ready: Prepared | CommodoreError = prepare(case, place)
    except CommodoreError as error:
        ready = restore_places(error, place, source.copies(place))
    return case, place, time.perf_counter() - start, ready


def _compiled(source: CaseSource, attempts: Sequence[_Attempt], engine: Engine, context: Context) -> Iterator[Rendered]:
    """Compile all prepared cases at once.

    Raises:
        EnvironmentFault: a tool that they need is missing or too old, or the operating system refused.
    """
    batches = [ready.batch for *_, ready in attempts if isinstance(ready, Prepared)]
    check_tools(((job.name, batch.nodes.get(job.name, {})) for batch in batches for job in batch.jobs), context)
    with stage(context.announce, "compiling", total=sum(len(batch.jobs) for batch in batches)):
        outcomes = iter(engine.compile_batches(batches))
    for case, place, seconds, ready in attempts:
        if isinstance(ready, CommodoreError):
            yield Rendered(case, seconds, error=ready)
            continue
        outcome = next(outcomes)
        if outcome.error is not None:
            yield Rendered(case, seconds, error=restore_places(outcome.error, place, source.copies(place)))
        else:
            seconds += sum(compiled.seconds for compiled in outcome.compiled)
            yield Rendered(case, seconds, ready.folder, ready.instances)


def _judge(suite: Suite, rendered: Rendered, options: CheckOptions, context: Context) -> CaseResult:
    case = rendered.case
    if rendered.folder is None:
        error = rendered.error
        errors = error.errors if isinstance(error, Findings) else (error,) if error else ()
        return CaseResult(case.name, "failed", rendered.seconds, errors=errors)
    try:
        return _compare(suite, rendered, rendered.folder, options, context)
    except CommodoreError as error:
        return CaseResult(case.name, "failed", rendered.seconds, errors=(error,))


def _compare(suite: Suite, rendered: Rendered, folder: Path, options: CheckOptions, context: Context) -> CaseResult:
    case = rendered.case
    tree = read_tree(folder)
    findings = check_objects(tree)
    for instance in rendered.instances:
        findings += check_references(instance.parameters, instance.name, instance.key, folder, tree, context)
    differences: tuple[GoldenDifference, ...] = ()
    errors: tuple[CommodoreError, ...] = ()
    status: Status = "ok"
    has_golden = case.golden.is_dir()
    if has_golden or options.update:
        differences = compare(read_tree(case.golden), tree, context.limits)
        if differences or (options.update and not has_golden):
            status = "updated" if options.update else "differs"
    elif suite.golden_tests:
        status, errors = "failed", (_no_golden(case),)
    if status == "updated":
        update_golden(folder, case.golden)
    if findings and options.strict and status in ("ok", "updated"):
        status = "failed"
    return CaseResult(case.name, status, rendered.seconds, differences, findings, errors)


def _no_golden(case: Case) -> InputError:
    return InputError(
        "CMD-TEST-006",
        f"the test case {case.name!r} has no golden tree yet",
        hint=f"review the rendered output, then accept it with: --case {case.name} --update",
        locations=[str(case.golden)],
    )


def once(context: Context) -> Announce:
    """Return a listener that announces each warning once, as the cases of a component have much the same."""
    collected: set[Event] = set()

    def on_event(event: Event) -> None:
        if isinstance(event, Warned):
            if event in collected:
                return
            collected.add(event)
        context.announce(event)

    return on_event
