"""The results of test cases, for people and for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.diagnostics import Diagnostic
from commodore.base.files.workspace import write_atomically
from commodore.base.printable import counted, printable_lines
from commodore.cli.shell.console import Console, paint
from commodore.cli.shell.diagnostics import diagnostic_lines

if TYPE_CHECKING:
    from commodore.authoring import CaseResult, CheckOptions, SuiteResult

_COLOURS = {"ok": "green", "updated": "cyan", "differs": "yellow", "failed": "red"}
_SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": ">", "text": "~"}
_NAMED = 4  # cases that are named with a finding


def check_options(values: dict[str, Any]) -> CheckOptions:
    """Return the options of a test command for its cases."""
    from commodore.authoring import CheckOptions

    return CheckOptions(only=values["case"], update=values["update"], strict=values["strict"])


def show_results(result: SuiteResult, started: datetime, junit: Path | None, console: Console) -> int:
    """Write the results to standard output, and to `junit`; returns the exit code."""
    from commodore.authoring import as_junit

    for case in result.cases:
        if console.log_format == "json":
            console.document("test-case", case, form="line")
        else:
            for line in _lines(case):
                console.result(line)
    if console.log_format != "json":
        for line in _finding_lines(result):
            console.result(line)
    if junit is not None:
        write_atomically(junit, as_junit(result, started))
    counts = Counter(str(case.status) for case in result.cases)
    counts_text = ", ".join(f"{counts[status]} {status}" for status in _COLOURS if counts[status])
    without = "" if result.golden_tests or counts["updated"] else "; there are no golden trees to compare with"
    cases = counted(len(result.cases), "test case")
    console.status(f"{cases} of {result.name} in {result.seconds:.1f} s: {counts_text}{without}")
    if counts["differs"] and console.log_format == "text":
        console.status("  hint: if this is intended, accept it with --update")
    return 0 if result.passed else 1


def _lines(case: CaseResult) -> Iterable[str]:
    status = click.style(f"{case.status:<8}", fg=_COLOURS[case.status], bold=True)
    yield f"{status} {printable_lines(case.name)} ({case.seconds:.1f} s)"
    for error in case.errors:
        yield from (f"  {line}" for line in diagnostic_lines(Diagnostic.of(error)))
    for difference in case.differences:
        yield f"  {_SIGNS[difference.kind]} {difference.kind}: {printable_lines(str(difference))}"
        yield from (f"      {line}" for line in paint((line.style, line.text) for line in difference.lines))
    if case.status == "failed" and not case.errors:
        yield f"  {counted(len(case.findings), 'finding')}, and --strict lets cases with findings fail"


def _finding_lines(result: SuiteResult) -> Iterable[str]:
    """The findings, each once: most are common to all cases."""
    lines: dict[Diagnostic, list[str]] = {}
    for case in result.cases:
        for finding in dict.fromkeys(case.findings):
            lines.setdefault(finding, []).append(case.name)
    for finding, names in lines.items():
        cases = f"{', '.join(names[:_NAMED])}{' …' if len(names) > _NAMED else ''}"
        where = "all cases" if 1 < len(names) == len(result.cases) else printable_lines(cases)
        yield from diagnostic_lines(finding, label="finding", note=f" ({where})")
