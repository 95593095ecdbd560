"""Linter `missing-url`: entries with a `version` and without a `url` in any file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from yaml import Node

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.base.errors import did_you_mean
from commodore.core.inventory.lint.applications import included, split_entry
from commodore.core.inventory.lint.class_file import ClassFile, entries, is_map, is_null, is_text, key_text, member
from commodore.core.inventory.lint.linter import Linter

MISSING: Final = Rule("missing-url", "warning", "An entry has a `version`, and no linted file has its `url`.")
_SECTIONS: Final = {"components": "component", "packages": "package"}


@dataclass(frozen=True, slots=True)
class _Version:
    section: str
    name: str
    finding: Diagnostic


class MissingUrl(Linter):
    """Checks all files together: the global defaults usually have the URLs, and tenants set versions.

    If no linted file has any `url` of the list, the files with URLs are not linted, and nothing is checked. An alias
    needs no `url`.
    """

    name = "missing-url"
    summary = "`version` without a `url` in any of the linted files."
    rules = (MISSING,)

    def __init__(self) -> None:
        self._versions: list[_Version] = []
        self._urls: dict[str, set[str]] = {section: set() for section in _SECTIONS}
        self._aliases: set[str] = set()
        self._open: set[str] = set()

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        if not file.is_class:
            return
        self._aliases |= {alias for _, *aliases in map(split_entry, included(file)) for alias in aliases}
        for section in _SECTIONS:
            listed = file.section("parameters", section)
            if listed is not None and not is_map(listed) and not is_null(listed):
                self._open.add(section)
            if is_map(listed):
                self._read_list(
                    file, section, {key_text(key).lstrip("=~"): (key, spec) for key, spec in entries(listed)}
                )
        yield from ()

    def _read_list(self, file: ClassFile, section: str, listed: dict[str, tuple[Node, Node]]) -> None:
        for name, (key, spec) in listed.items():
            url = member(spec, "url")
            if not is_map(spec) or (url is not None and not (is_text(url) and not url.value)):
                self._urls[section].add(name)  # a reference to another entry may include the URL
            elif member(spec, "version") is not None:
                path = f"parameters.{section}.{name}"
                message = f"{_SECTIONS[section]} {name!r} has a `version` here, but no linted file has its `url`"
                finding = file.finding(self.name, MISSING, key, message, parameter=path)
                self._versions.append(_Version(section, name, finding))

    def finish(self) -> Iterator[Diagnostic]:
        for version in self._versions:
            urls = self._urls[version.section]
            if not urls or version.section in self._open or version.name in urls:
                continue
            if version.section == "components" and version.name in self._aliases:
                continue
            hint = (
                did_you_mean(version.name, urls)
                or "add the `url`, remove the entry, or lint the file with the `url`, too"
            )
            yield replace(version.finding, hint=hint)
