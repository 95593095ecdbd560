"""Linter `removals`: entries and keys with `~` that have an unexpected effect (ADR 0006)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.base.errors import did_you_mean
from commodore.core.inventory.lint.applications import application_nodes, included, split_entry
from commodore.core.inventory.lint.class_file import ClassFile, entries, fields, is_list, is_map, is_text, key_text
from commodore.core.inventory.lint.linter import Linter

BEFORE: Final = Rule("removal-before-include", "error", "`~name` is before `name` in a list.")
NOTHING: Final = Rule("removal-of-nothing", "warning", "`~name` removes an entry that no linted file includes.")
CLASSES: Final = Rule("removal-of-a-class", "error", "`~name` in `classes`, which does not support removals.")
BESIDE: Final = Rule("removal-beside-key", "warning", "`~key` and `key` are in the same map.")


class Removals(Linter):
    """Checks the removals of a list at once, and unknown names after reading all files."""

    name = "removals"
    summary = "`~` in `applications`, `classes` and keys that removes nothing or too much."
    rules = (BEFORE, NOTHING, CLASSES, BESIDE)

    def __init__(self) -> None:
        self._included: set[str] = set()
        self._removed: list[tuple[str, Diagnostic]] = []

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        if not file.is_class:
            return
        self._included |= set(included(file))
        if b"~" not in file.content:
            return
        yield from self._applications(file)
        classes = file.section("classes")
        for index, node in enumerate(classes.value if is_list(classes) else ()):
            if is_text(node) and node.value.startswith("~"):
                message = f"{node.value!r} is read as the name of a class: `classes` does not support removals"
                hint = "remove the include itself"
                yield file.finding(self.name, CLASSES, node, message, parameter=f"classes[{index}]", hint=hint)
        parameters = file.section("parameters")
        if is_map(parameters):
            yield from self._keys(file)

    def _applications(self, file: ClassFile) -> Iterator[Diagnostic]:
        nodes = [(index, node) for index, node in application_nodes(file) if is_text(node)]
        for place, (index, node) in enumerate(nodes):
            if not node.value.startswith("~"):
                continue
            name, path = node.value.removeprefix("~"), f"applications[{index}]"
            earlier = {other.value for _, other in nodes[:place]}
            if name in {other.value for _, other in nodes[place + 1 :]} - earlier:
                message = f"{node.value!r} is before {name!r} in this list; other tools remove that later entry"
                hint = f"remove the '~' entry if {name!r} is intended, else remove both"
                yield file.finding(self.name, BEFORE, node, message, parameter=path, hint=hint)
            elif name not in earlier:
                message = f"{node.value!r} removes an entry that no linted file includes"
                self._removed.append((name, file.finding(self.name, NOTHING, node, message, parameter=path)))

    def _keys(self, file: ClassFile) -> Iterator[Diagnostic]:
        for path, node in fields(file.root):
            if not is_map(node) or not path.startswith("parameters"):
                continue
            keys = {key_text(key): key for key, _ in entries(node)}
            for text, key in keys.items():
                if text.startswith("~") and text.removeprefix("~") in keys:
                    message = f"{text!r} and {text.removeprefix('~')!r} are in the same map: their order matters"
                    hint = "put both into one key"
                    yield file.finding(self.name, BESIDE, key, message, parameter=f"{path}.{text}", hint=hint)

    def finish(self) -> Iterator[Diagnostic]:
        for name, finding in self._removed:
            if name not in self._included:
                yield replace(finding, hint=self._hint(name))

    def _hint(self, name: str) -> str:
        aliased = sorted(entry for entry in self._included if split_entry(entry)[0] == name)
        if aliased:
            return f"an instance is removed by its whole entry: '~{aliased[0]}'"
        return did_you_mean(name, self._included) or "remove the entry, or lint the file that includes it, too"
