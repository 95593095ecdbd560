"""The linter `applications`: unknown or meaningless names in `applications`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from yaml import Node

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.base.errors import InputError, did_you_mean
from commodore.base.names import check_instance_name, check_package_name, is_unusual
from commodore.core.inventory.lint.class_file import (
    ClassFile,
    entries,
    is_list,
    is_map,
    is_null,
    is_text,
    key_text,
    kind_of,
)
from commodore.core.inventory.lint.linter import Linter

PACKAGE_PREFIX: Final = "pkg."
_AS: Final = re.compile(r"\s+as\s+")

LIST: Final = Rule("applications-not-a-list", "error", "`applications` is not a list.")
ENTRY: Final = Rule("application-not-text", "error", "An entry of `applications` is not a string.")
REFERENCE: Final = Rule("application-reference", "error", "An entry of `applications` contains `${...}`.")
NAME: Final = Rule("application-name", "error", "A name in `applications` is invalid.")
ALIAS: Final = Rule("application-alias", "error", "An alias in `applications` is malformed or taken.")
UNUSUAL: Final = Rule("unusual-name", "warning", "A name in `applications` has capitals or quotes.")
UNKNOWN: Final = Rule("unknown-application", "warning", "No linted file describes what `applications` includes.")


def application_nodes(file: ClassFile) -> list[tuple[int, Node]]:
    """Return the entries of a file's `applications` with their index; empty if it is not a list."""
    listed = file.section("applications")
    return list(enumerate(listed.value)) if is_list(listed) else []


def included(file: ClassFile) -> list[str]:
    """Return the strings in a file's `applications`, without removals."""
    names = [node.value for _, node in application_nodes(file) if is_text(node)]
    return [entry for entry in names if not entry.startswith("~")]


def split_entry(entry: str) -> tuple[str, ...]:
    """Split an entry into component and alias; one part without an alias, more than two with several aliases."""
    return tuple(_AS.split(entry.strip()))


class Applications(Linter):
    """Checks after reading all lists: an entry is known if any linted file describes it.

    If no linted file describes any component, the files with descriptions are not linted, and components are not
    checked; likewise for packages.
    """

    name = "applications"
    summary = "Entries of `applications`: unknown names, malformed names and aliases."
    rules = (LIST, ENTRY, REFERENCE, NAME, ALIAS, UNUSUAL, UNKNOWN)

    def __init__(self) -> None:
        self._known: dict[str, set[str]] = {"components": set(), "packages": set()}
        self._used: list[tuple[str, str, Diagnostic]] = []
        self._open: set[str] = set()

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        if not file.is_class:
            return
        for section, known in self._known.items():
            listed = file.section("parameters", section)
            if is_map(listed):
                known |= {key_text(key).lstrip("=~") for key, _ in entries(listed)}
            elif listed is not None and not is_null(listed):
                self._open.add(section)
        listed = file.section("applications")
        if listed is not None and not is_list(listed):
            message = f"'applications' must be a list, it is {kind_of(listed)}"
            yield file.finding(self.name, LIST, listed, message, parameter="applications")
        taken: dict[str, str] = {}
        for index, node in application_nodes(file):
            yield from self._entry(file, node, f"applications[{index}]", taken)

    def _entry(self, file: ClassFile, node: Node, path: str, taken: dict[str, str]) -> Iterator[Diagnostic]:
        def diagnostic(rule: Rule, message: str, hint: str = "") -> Diagnostic:
            return file.finding(self.name, rule, node, message, parameter=path, hint=hint)

        if not is_text(node):
            yield diagnostic(ENTRY, f"{path} must be a string, it is {kind_of(node)}", "write one name per entry")
            return
        entry = node.value.removeprefix("~")
        removal = entry != node.value
        if "${" in entry:
            message = f"{entry!r} contains a reference, which is not replaced in `applications`"
            yield diagnostic(REFERENCE, message, "write the name itself")
            return
        if entry.startswith(PACKAGE_PREFIX):
            section, name = "packages", entry.removeprefix(PACKAGE_PREFIX)
            names: Sequence[str] = (name,)
            wrong = _name_problem(name, "package", entry)
        else:
            names = split_entry(entry)
            section, name = "components", names[0]
            wrong = _alias_problem(entry, taken, removal=removal) or _name_problem(name, "component", entry)
        if wrong is not None:
            yield diagnostic(*wrong)
            return
        if any(map(is_unusual, names)):
            yield diagnostic(UNUSUAL, f"{entry!r} has a name with capitals or quotes", "quotes become part of the name")
        if not removal:
            message = f"{section[:-1]} {name!r} is included, but no linted file describes it in parameters.{section}"
            self._used.append((section, name, diagnostic(UNKNOWN, message)))

    def finish(self) -> Iterator[Diagnostic]:
        for section, name, finding in self._used:
            known = self._known[section]
            if known and section not in self._open and name not in known:
                hint = did_you_mean(name, known) or "describe it, or lint the file that describes it, too"
                yield replace(finding, hint=hint)


def _alias_problem(entry: str, taken: dict[str, str], *, removal: bool) -> tuple[Rule, str, str] | None:
    """Return the problem of an entry and its alias; `taken` maps the instances of this list so far to their entries."""
    parts = split_entry(entry)
    if len(parts) > 2:
        return ALIAS, f"{entry!r} names several aliases", "write one entry 'component as alias' per instance"
    if entry.strip().startswith("as ") or entry.strip().endswith(" as"):
        return ALIAS, f"{entry!r} lacks a name before or after 'as'", "write 'component as alias'"
    if parts[1:] and (wrong := _name_problem(parts[1], "component instance", entry)) is not None:
        return ALIAS, *wrong[1:]
    if removal:
        taken.pop(parts[-1], None)
        return None
    other = taken.setdefault(parts[-1], entry)
    component = split_entry(other)[0]
    if component != parts[0]:
        message = (
            f"the instance {parts[-1]!r} of {parts[0]!r} has the name of an instance of {component!r} in this list"
        )
        return ALIAS, message, "give each instance a unique name"
    if len(split_entry(other)) != len(parts):
        return ALIAS, f"the instance {parts[-1]!r} is included twice: {other!r} and {entry!r}", "keep one of them"
    return None


def _name_problem(name: str, kind: str, entry: str) -> tuple[Rule, str, str] | None:
    try:
        if kind == "package":
            check_package_name(name)
        else:
            check_instance_name(name, kind)
    except InputError as error:
        return NAME, f"{error.message} (in {entry!r})", error.hint
    return None
