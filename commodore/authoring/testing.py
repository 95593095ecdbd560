"""Compiling and judging test cases: what was rendered, held against what was agreed, and looked over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from commodore.authoring.cases import Case, Suite
from commodore.authoring.golden import Difference, compare, read_tree, update_golden
from commodore.authoring.object_checks import check_objects, check_references
from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic
from commodore.base.errors import CommodoreError, Findings, InputError
from commodore.base.events import Announce, Event, Warned, stage
from commodore.catalog.stages.tools import check_tools
from commodore.core.engine import Batch, BatchOutcome, Engine

Status = Literal["ok", "updated", "differs", "failed"]


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Which cases (none: all), whether to agree with what is rendered now, and whether findings count as failures."""

    only: tuple[str, ...] = ()
    update: bool = False
    strict: bool = False


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What a test case came to.

    Attributes:
        status: `ok` and `updated` are fine; `differs` from its golden tree; `failed` in another way.
        seconds: what preparing and compiling it took, as if it were alone.
        differences: from the golden tree; what was agreed anew, if the status is `updated`.
        findings: what to look at.
        errors: why it failed.
    """

    name: str
    status: Status
    seconds: float
    differences: tuple[Difference, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    errors: tuple[CommodoreError, ...] = ()

    @property
    def passed(self) -> bool:
        return self.status in ("ok", "updated")

    def as_dict(self) -> dict[str, Any]:
        """The result as JSON-ready data, for machine-readable output."""
        return {
            "case": self.name,
            "status": self.status,
            "seconds": round(self.seconds, 3),
            "differences": [
                {
                    "kind": one.kind,
                    "object": one.object._asdict() if one.object else None,
                    "file": one.file,
                    "diff": [line.text for line in one.lines],
                }
                for one in self.differences
            ],
            "findings": [{"code": one.code, "message": one.message, "hint": one.hint} for one in self.findings],
            "errors": [error.as_dict() for error in self.errors],
        }


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """The results of all cases that were run, in name order. `name` is the component's or package's."""

    name: str
    cases: tuple[CaseResult, ...]
    golden_tests: bool
    seconds: float

    @property
    def passed(self) -> bool:
        return all(case.passed for case in self.cases)


@dataclass(frozen=True, slots=True)
class RenderedInstance:
    """An instance of a case: the parameters of its target, and the key that holds its component's own."""

    name: str
    key: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a case was rendered to: the folder `compiled/` with its instances, or the error that kept it from that."""

    case: Case
    seconds: float
    folder: Path | None = None
    instances: tuple[RenderedInstance, ...] = ()
    error: CommodoreError | None = None


class Prepared(Protocol):
    """A case that is ready to be compiled."""

    @property
    def batch(self) -> Batch: ...


_Prepared = TypeVar("_Prepared", bound=Prepared)


def compile_cases(
    prepared: Sequence[_Prepared | Rendered],
    conclude: Callable[[_Prepared, BatchOutcome], Rendered],
    engine: Engine,
    context: Context,
) -> tuple[Rendered, ...]:
    """Compile all cases at once, and let `conclude` say what each was rendered to. Those that are `Rendered` already,
    as they could not be prepared, stay what they are.

    Raises:
        EnvironmentFault: a tool that they need is missing or too old, or the operating system refused.
    """
    ready = [one for one in prepared if not isinstance(one, Rendered)]
    batches = [one.batch for one in ready]
    check_tools(((job.name, one.nodes.get(job.name, {})) for one in batches for job in one.jobs), context)
    with stage(context.announce, "compiling", total=sum(len(batch.jobs) for batch in batches)):
        outcomes = iter(engine.compile_batches(batches))
    return tuple(one if isinstance(one, Rendered) else conclude(one, next(outcomes)) for one in prepared)


def judge_all(
    suite: Suite, rendered: tuple[Rendered, ...], options: CheckOptions, context: Context
) -> tuple[CaseResult, ...]:
    """Judge every case, and update golden trees if that is asked for. A case that failed keeps its golden tree."""
    with stage(context.announce, "comparing with golden trees"):
        return tuple(_judge(suite, one, options, context) for one in rendered)


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
    for one in rendered.instances:
        findings += check_references(one.parameters, one.name, one.key, folder, tree, context)
    differences: tuple[Difference, ...] = ()
    errors: tuple[CommodoreError, ...] = ()
    status: Status = "ok"
    wanted = case.golden.is_dir()
    if wanted or options.update:
        differences = compare(read_tree(case.golden), tree, context.limits)
        if differences or (options.update and not wanted):
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
    """A listener that passes each warning on once: all cases of a component say much the same."""
    collected: set[Event] = set()

    def on_event(event: Event) -> None:
        if isinstance(event, Warned):
            if event in collected:
                return
            collected.add(event)
        context.announce(event)

    return on_event
