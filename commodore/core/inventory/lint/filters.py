"""The linter `filters`: definitions of postprocessing filters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from yaml import Node

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.base.errors import did_you_mean
from commodore.core.inventory.filter_definitions import BUILTINS, FILTER_KEYS, check_filter
from commodore.core.inventory.lint.class_file import (
    ClassFile,
    entries,
    is_list,
    is_map,
    is_null,
    is_reference,
    is_text,
    key_text,
    kind_of,
    plain_data,
)
from commodore.core.inventory.lint.linter import Linter

LIST: Final = Rule(
    "filters-not-a-list", "error", "`commodore.postprocess.filters` is not a list, or a parent is not a map."
)
DEFINITION: Final = Rule("filter-definition", "error", "The definition of a filter is invalid.")
UNKNOWN: Final = Rule("filter-key", "warning", "The definition of a filter has an unknown key.")

_PATH: Final = ("commodore", "postprocess", "filters")


class Filters(Linter):
    """Checks each definition like the engine; references `${...}` are assumed to be valid values."""

    name = "filters"
    summary = "Definitions of postprocessing filters."
    rules = (LIST, DEFINITION, UNKNOWN)

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        node = file.section("parameters") if file.is_class else None
        path = "parameters"
        for key in _PATH:
            values = (
                [value for name, value in entries(node) if key_text(name).lstrip("=~") == key] if is_map(node) else []
            )
            if not values:
                return
            node, path = values[-1], f"{path}.{key}"
            if is_null(node) or is_reference(node):
                return
            if key != _PATH[-1] and not is_map(node):
                message = f"{path} must be a map, it is {kind_of(node)}"
                yield file.finding(self.name, LIST, node, message, parameter=path)
                return
        if node is not None and not is_list(node):
            message = f"{path} must be a list, it is {kind_of(node)}"
            yield file.finding(self.name, LIST, node, message, parameter=path)
        for index, definition in enumerate(node.value if is_list(node) else ()):
            if not is_reference(definition):
                yield from self._definition(file, definition, f"{path}[{index}]", index)

    def _definition(self, file: ClassFile, node: Node, path: str, index: int) -> Iterator[Diagnostic]:
        problem = check_filter(_filled(node))
        if problem is not None:
            message = f"filter {index}: {problem.reason}"
            yield file.finding(self.name, DEFINITION, node, message, parameter=path, hint=problem.hint)
        for key, _ in entries(node) if is_map(node) else ():
            name = key_text(key).lstrip("=~")
            if name not in FILTER_KEYS:
                message = f"filter {index} has the unknown key {name!r}"
                hint = did_you_mean(name, FILTER_KEYS) or f"the known keys are {', '.join(FILTER_KEYS)}"
                yield file.finding(self.name, UNKNOWN, key, message, parameter=f"{path}.{name}", hint=hint)


def _filled(node: Node) -> Any:
    """Return a definition as data, with valid values in place of references."""
    if not is_map(node):
        return _plain(node)
    members = {key_text(key).lstrip("=~"): value for key, value in entries(node)}
    builtin = is_text(members.get("type")) and members["type"].value == "builtin"
    stand_ins: dict[str, Any] = {
        "type": "jsonnet",
        "path": "path",
        "filter": BUILTINS[0],
        "filterargs": {"namespace": "name"},
        "enabled": True,
    }
    filled = {key: stand_ins[key] if _unknown(key, value) else _plain(value) for key, value in members.items()}
    arguments = filled.get("filterargs")
    if builtin and isinstance(arguments, dict) and _is_any_reference(arguments.get("exclude_objects")):
        arguments["exclude_objects"] = []
    return filled


def _unknown(key: str, value: Node) -> bool:
    return key in FILTER_KEYS and is_reference(value)


def _is_any_reference(value: Any) -> bool:
    return isinstance(value, str) and "${" in value


def _plain(node: Node) -> Any:
    return plain_data(node, lambda key: key_text(key).lstrip("=~"))
