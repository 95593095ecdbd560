"""A whole lint: which linters there are, which files are read, and what comes of it."""

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
"""All linters by name, those first that run by default."""

ALL: Final = "all"
ALIASES: Final = MappingProxyType({"component-versions": "components"})
"""Names of old documentation."""


@dataclass(frozen=True, slots=True)
class LintRequest:
    """What to lint: files and folders; with which linters (empty: those that run by default); what to leave out.

    `linters` may hold `all` and aliases. `ignore` are patterns as in `.commodoreignore`, for every target. `report` is
    the file that the report goes to: that of the last run repeats what it found, and is never read.
    """

    targets: tuple[Path, ...]
    linters: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    report: Path | None = None


def select_linters(names: Iterable[str]) -> tuple[str, ...]:
    """The linters that names stand for, in a fixed order; those that run by default if there are none.

    Raises:
        InputError: CMD-INV-060, there is no such linter.
    """
    wanted = {ALIASES.get(name.lower(), name.lower()) for name in names}
    for name in sorted(wanted - {ALL, *LINTERS}):
        hint = did_you_mean(name, LINTERS) or f"known are {', '.join((*LINTERS, ALL))}"
        raise InputError("CMD-INV-060", f"there is no linter {name!r}", hint=hint)
    return tuple(
        name for name, kind in LINTERS.items() if (name in wanted or ALL in wanted if wanted else kind.by_default)
    )


def lint(request: LintRequest, context: Context) -> Report:
    """Lint files and folders. Each file is read once, however many linters and targets it belongs to.

    Args:
        context: announces which files are skipped (in debug), and if none is left to lint.

    Raises:
        InputError: CMD-INV-060, there is no such linter; CMD-INV-024, an ignore pattern means nothing.
        UsageError: CMD-INV-061, there is nothing to lint, though nothing says that it should be left out.
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
        hint = "look at .commodoreignore and --ignore-patterns if it should not be so"
        context.announce(Warned("CMD-INV-062", f"all files of {shown} are ignored; nothing was linted", hint))
        return
    message = f"there is nothing to lint in {shown}" if shown else "nothing was named to lint"
    raise UsageError("CMD-INV-061", message, hint="name the files or folders of a hierarchy, '.' for this one")


def _name(path: Path) -> str:
    """A path as messages show it: on one line, and not to be taken for a command of a CI service."""
    name = " ".join(str(path).encode("utf-8", errors="replace").decode("utf-8").splitlines())
    return f"./{name}" if name.startswith(":") else name


def _in_order(findings: list[Diagnostic], order: dict[str, int]) -> tuple[Diagnostic, ...]:
    """By file and place; what two linters say of one place with the same words comes once."""

    def key(one: Diagnostic) -> tuple[Any, ...]:
        place, (_, _, rule) = one.locations[0], one.code.partition("/")
        return order[place.place], place.line, place.column, str(one.subject.object), rule, one.message

    ordered = sorted(findings, key=key, reverse=True)
    once = {(*key(one)[:3], *key(one)[4:]): one for one in ordered}
    return tuple(once.values())[::-1]


def _rules(linters: Iterable[Linter]) -> dict[tuple[str, str], Rule]:
    return {
        (FILES, UNREADABLE.id): UNREADABLE,
        **{(linter.name, rule.id): rule for linter in linters for rule in linter.rules},
    }
