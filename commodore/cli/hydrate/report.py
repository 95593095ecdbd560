"""Reports of hydrated groups: on the terminal, and in files for jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from commodore.base.documents import document_text
from commodore.base.errors import CommodoreError
from commodore.base.files.workspace import guard_disk, write_atomically
from commodore.base.printable import in_markdown, printable
from commodore.cli.hydrate.common import group_data, outcome_lines, result_data
from commodore.cli.hydrate.documents import GroupRecord, HydratedGroups
from commodore.cli.shell.console import Console

if TYPE_CHECKING:
    from commodore.hydrate import PlannedGroup, Result

Shown = Sequence[tuple[dict[str, Any], str, "Result"]]
"""Of each group its JSON-ready data, its branch, and what became of it."""


def shown(results: Iterable[tuple[PlannedGroup, Result]]) -> Shown:
    """The results of groups of a plan."""
    return [
        (result_data(group_data(planned), result, planned), planned.group.branch, result) for planned, result in results
    ]


def report(groups: Shown, values: Mapping[str, Any], console: Console, code: int = 0) -> int:
    """Show what became of groups, and write the files that --report names.

    Args:
        code: an exit code that others make.

    Returns:
        the exit code: the highest of all.
    """
    errors = [result for _, _, result in groups if isinstance(result, CommodoreError)]
    code = max([code, *(error.exit_code for error in errors)])
    text = document_text("hydrate-run", HydratedGroups([GroupRecord(**data) for data, _, _ in groups], code))
    if values["out"] == "json":
        console.data(text)
    for _, branch, result in groups:
        if values["out"] == "text":
            for line in outcome_lines(branch, result):
                console.result(printable(line))
        if isinstance(result, CommodoreError):
            console.error(result.about(f"branch {branch}"))
    for form, file in values["report"]:
        written = f"{text}\n" if form == "json" else "".join(f"{line}\n" for line in _summary(groups))
        with guard_disk(file):
            write_atomically(file, written.encode("utf-8", "replace"))
    return code


def _summary(groups: Shown) -> Iterator[str]:
    yield "| Branch | Outcome | Commit | Changed paths | Why |"
    yield "|---|---|---|---|---|"
    for _, branch, result in groups:
        if isinstance(result, CommodoreError):
            cells = [branch, "failed", "", "", f"{result.message} [{result.code}]"]
        else:
            changed = ", ".join((*result.changed, *(f"{path} (removed)" for path in result.removed)))
            cells = [branch, result.word, result.commit[:7], changed, result.reason]
        yield f"| {' | '.join(in_markdown(printable(' '.join(cell.split()))) for cell in cells)} |"
