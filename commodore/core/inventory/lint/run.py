"""Lint of files and folders by all selected linters."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from commodore.base.context import Context
from commodore.base.diagnostics import Diagnostic, Rule
from commodore.base.errors import InputError, UsageError, did_you_mean
from commodore.base.events import Noted, Warned
from commodore.core.inventory.files import class_files, has_patterns
from commodore.core.inventory.lint.applications import Applications
from commodore.core.inventory.lint.class_file import FILES, UNREADABLE, ClassFile, read_class_file
from commodore.core.inventory.lint.deprecated import DeprecatedParameters
from commodore.core.inventory.lint.filters import Filters
from commodore.core.inventory.lint.keys import DuplicateKeys, TopLevelKeys
from commodore.core.inventory.lint.linter import Linter
from commodore.core.inventory.lint.missing_url import MissingUrl
from commodore.core.inventory.lint.model import Report, Skipped
from commodore.core.inventory.lint.references import References
from commodore.core.inventory.lint.removals import Removals
from commodore.core.inventory.lint.schema import Schema, without_repeated
from commodore.core.inventory.lint.secrets import SecretReferences
from commodore.core.inventory.lint.specs import Components, Packages

LINTERS: Final = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            Components,
            DeprecatedParameters,
            Packages,
            Applications,
            DuplicateKeys,
            Filters,
            MissingUrl,
            References,
            Removals,
            SecretReferences,
            TopLevelKeys,
            Schema,
        )
    }
)
"""All linters by name; the default linters come first."""

ALL: Final = "all"
ALIASES: Final = MappingProxyType({"component-versions": "components"})
"""Old names of linters."""


@dataclass(frozen=True, slots=True)
class LintRequest:
    """A lint: files and folders, linters (empty: the default linters), and ignore patterns.

    `linters` may contain `all` and aliases. `ignore` are patterns as in `.commodoreignore`, for every target. `report`
    is the output file of the report, which is never linted, as it repeats the findings of the last run.
    """

    targets: tuple[Path, ...]
    linters: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    report: Path | None = None


def select_linters(names: Iterable[str]) -> tuple[str, ...]:
    """Return the named linters, in a fixed order; without names, the default linters.

    Raises:
        InputError: CMD-INV-060, a linter is unknown.
    """
    selected = {ALIASES.get(name.lower(), name.lower()) for name in names}
    for name in sorted(selected - {ALL, *LINTERS}):
        hint = did_you_mean(name, LINTERS) or f"the known linters are {', '.join((*LINTERS, ALL))}"
        raise InputError("CMD-INV-060", f"unknown linter {name!r}", hint=hint)
    return tuple(
        name for name, kind in LINTERS.items() if (name in selected or ALL in selected if selected else kind.by_default)
    )


def lint(request: LintRequest, context: Context) -> Report:
    """Lint files and folders. Each file is read once, also if several linters and targets use it.

    Args:
        context: announces skipped files (in debug), and a warning if no file is left to lint.

    Raises:
        InputError: CMD-INV-060, a linter is unknown; CMD-INV-024, an ignore pattern is invalid.
        UsageError: CMD-INV-061, there is nothing to lint, and no pattern excludes files.
    """
    names = select_linters(request.linters)
    linters = [LINTERS[name]() for name in names]
    findings: list[Diagnostic] = []
    skipped: list[Skipped] = []
    order: dict[str, int] = {}
    for path in _files(request):
        name = _name(path)
        order[name] = len(order)
        read = read_class_file(path, name, context.limits)
        if isinstance(read, ClassFile):
            findings += [finding for linter in linters for finding in linter.read(read)]
        elif isinstance(read, Diagnostic):
            findings.append(read)
        else:
            skipped.append(read)
            context.announce(Noted(f"skipped {read.file}: {read.reason}", level=1))
    findings += [finding for linter in linters for finding in linter.finish()]
    _check_amount(request, len(order), context)
    return Report(
        findings=_in_order(without_repeated(findings), order),
        files=len(order) - len(skipped),
        skipped=tuple(skipped),
        linters=names,
        rules=MappingProxyType(_rules(linters)),
    )


def _files(request: LintRequest) -> Iterator[Path]:
    seen = set() if request.report is None else {os.path.abspath(request.report)}
    for target in request.targets:
        for path in class_files(target, request.ignore):
            absolute = os.path.abspath(path)
            if absolute not in seen:
                seen.add(absolute)
                yield path


def _check_amount(request: LintRequest, files: int, context: Context) -> None:
    if files:
        return
    shown = ", ".join(str(target) for target in request.targets)
    if any(has_patterns(target, request.ignore) for target in request.targets):
        hint = "check .commodoreignore and --ignore-patterns if this is not intended"
        context.announce(Warned("CMD-INV-062", f"all files of {shown} are ignored; nothing was linted", hint))
        return
    message = (
        f"there is nothing to lint in {shown}" if shown else "there is nothing to lint: no files or folders were given"
    )
    raise UsageError("CMD-INV-061", message, hint="name the files or folders of a hierarchy, '.' for this one")


def _name(path: Path) -> str:
    """Return a path for messages: on one line, and not readable as a command of a CI service."""
    name = " ".join(str(path).encode("utf-8", errors="replace").decode("utf-8").splitlines())
    return f"./{name}" if name.startswith(":") else name


def _in_order(findings: list[Diagnostic], order: dict[str, int]) -> tuple[Diagnostic, ...]:
    """Sort findings by file and place; equal messages of two linters at the same place are reported once."""

    def key(finding: Diagnostic) -> tuple[Any, ...]:
        place, (_, _, rule) = finding.locations[0], finding.code.partition("/")
        return order[place.place], place.line, place.column, str(finding.subject.object), rule, finding.message

    ordered = sorted(findings, key=key, reverse=True)
    once = {(*key(finding)[:3], *key(finding)[4:]): finding for finding in ordered}
    return tuple(once.values())[::-1]


def _rules(linters: Iterable[Linter]) -> dict[tuple[str, str], Rule]:
    return {
        (FILES, UNREADABLE.id): UNREADABLE,
        **{(linter.name, rule.id): rule for linter in linters for rule in linter.rules},
    }
