"""Linters `components` and `packages`: entries of `parameters.components` and `parameters.packages`.

They agree with the published tool, except for shapes that it could not read at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final

from yaml import Node, ScalarNode

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.base.errors import did_you_mean
from commodore.core.inventory.lint.class_file import (
    ClassFile,
    entries,
    is_map,
    is_null,
    is_reference,
    is_text,
    key_text,
    kind_of,
)
from commodore.core.inventory.lint.linter import Linter

SPEC_KEYS: Final = ("url", "version", "path")

PARAMETERS: Final = Rule("parameters-not-a-map", "error", "`parameters` is not a map.")
LIST: Final = Rule("list-not-a-map", "error", "`components` or `packages` is not a map.")
NAME: Final = Rule("name-not-text", "error", "The name of a component or package is not a string.")
SPEC: Final = Rule("spec-not-a-map", "error", "The entry of a component or package is not a map.")
VERSION: Final = Rule("missing-version", "error", "An entry has no `version`.")
UNKNOWN: Final = Rule("unknown-key", "error", "An entry has keys other than `url`, `version` and `path`.")
TYPE: Final = Rule("not-text", "error", "`url` or `version` is not a string.")


class _Specs(Linter):
    """Base class of the linters of the two lists."""

    section: ClassVar[str]
    kind: ClassVar[str]
    rules = (PARAMETERS, LIST, NAME, SPEC, VERSION, UNKNOWN, TYPE)
    by_default = True

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        parameters = file.section("parameters")
        if parameters is None:
            return
        if not is_map(parameters):
            message = f"'parameters' must be a map, it is {kind_of(parameters)}"
            hint = "if the file is not a class, add it to .commodoreignore"
            yield file.finding(self.name, PARAMETERS, parameters, message, parameter="parameters", hint=hint)
            return
        path = f"parameters.{self.section}"
        listed = file.section("parameters", self.section)
        if listed is None or is_null(listed) or is_reference(listed):
            return
        if not is_map(listed):
            message = f"{path} must be a map from names to `url`, `version` and `path`, it is {kind_of(listed)}"
            yield file.finding(self.name, LIST, listed, message, parameter=path)
            return
        for key, spec in entries(listed):
            yield from self._entry(file, key, spec, f"{path}.{key_text(key)}")

    def _entry(self, file: ClassFile, key: Node, spec: Node, path: str) -> Iterator[Diagnostic]:
        if not is_text(key):
            message = f"the name of a {self.kind} must be a string, {key_text(key)} is {kind_of(key)}"
            hint = f"write it in quotes: '{key_text(key)}'"
            yield file.finding(self.name, NAME, key, message, parameter=path, hint=hint)
        if is_reference(spec):
            return
        if not is_map(spec):
            message = f"{path} must be a map with `url`, `version` and optionally `path`, it is {kind_of(spec)}"
            yield file.finding(self.name, SPEC, key, message, parameter=path)
            return
        members = {key_text(name): (name, value) for name, value in entries(spec)}
        if "version" not in members:
            message = f"{self.kind} {key_text(key)!r} has no `version`"
            yield file.finding(self.name, VERSION, key, message, parameter=path)
        unknown = sorted(set(members) - set(SPEC_KEYS))
        if unknown:
            names = ", ".join(repr(name) for name in unknown)
            message = f"{self.kind} {key_text(key)!r} has unknown key{'s' if unknown[1:] else ''} {names}"
            hint = did_you_mean(unknown[0], SPEC_KEYS) or "the known keys are `url`, `version` and `path`"
            yield file.finding(self.name, UNKNOWN, members[unknown[0]][0], message, parameter=path, hint=hint)
        for name in ("url", "version"):
            if name in members and not is_text(members[name][1]):
                value = members[name][1]
                message = f"{path}.{name} must be a string, it is {kind_of(value)}"
                hint = (
                    ""
                    if is_null(value) or not isinstance(value, ScalarNode)
                    else f"write it in quotes: '{key_text(value)}'"
                )
                yield file.finding(self.name, TYPE, value, message, parameter=f"{path}.{name}", hint=hint)


class Components(_Specs):
    name = "components"
    summary = "Entries of `parameters.components`: `version`, types, unknown keys."
    section = "components"
    kind = "component"


class Packages(_Specs):
    name = "packages"
    summary = "Entries of `parameters.packages`: `version`, types, unknown keys."
    section = "packages"
    kind = "package"
