"""Definitions of postprocessing filters: entries of `parameters.commodore.postprocess.filters`.

The engine checks an instance's rendered parameters, the lint checks class files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from commodore.base.errors import did_you_mean
from commodore.base.names import path_problem

BUILTINS: Final = ("helm_namespace",)
TYPES: Final = ("builtin", "jsonnet")
FILTER_KEYS: Final = ("type", "path", "filter", "filterargs", "enabled")
_REQUIRED: Final = ("type", "path", "filter")


@dataclass(frozen=True, slots=True)
class FilterProblem:
    """The problem of an invalid definition. syn-commodore skips such filters, and fails if they are `unusable`. A
    filter is `refused` for safety if it would write outside of the instance's folder.
    """

    reason: str
    hint: str = ""
    refused: bool = False
    unusable: bool = False


def check_filter(definition: Any) -> FilterProblem | None:
    """Return the first problem of a definition, without reading files. Unknown keys are ignored.

    The arguments are only checked if the filter is enabled.
    """
    if not isinstance(definition, Mapping):
        return FilterProblem("it must be a mapping with the keys 'type', 'path' and 'filter'", unusable=True)
    if (problem := _check_keys(definition)) is not None:
        return problem
    kind, name, path = definition["type"], definition["filter"], definition["path"]
    if kind not in TYPES:
        reason = f"unknown type {kind!r}; expected 'builtin' or 'jsonnet'"
        return FilterProblem(reason, did_you_mean(kind, TYPES))
    enabled = definition.get("enabled", True)
    if not isinstance(enabled, bool):
        return FilterProblem(f"'enabled' is {enabled!r}; expected true or false")
    if kind == "builtin" and name not in BUILTINS:
        hint = did_you_mean(name, BUILTINS) or f"the known filter is {BUILTINS[0]}"
        return FilterProblem(f"unknown builtin filter {name!r}", hint)
    if kind == "builtin" and "filterargs" not in definition:
        return FilterProblem("a builtin filter needs 'filterargs'")
    arguments = definition.get("filterargs", {})
    if not isinstance(arguments, Mapping):
        return FilterProblem("'filterargs' must be a mapping", unusable=True)
    for key, text in (("path", path), *((("filter", name),) if kind == "jsonnet" else ())):
        if unusable := path_problem(text):
            return FilterProblem(f"the value of {key!r} {unusable}", "write a valid path", unusable=True)
    if os.path.isabs(path) or os.path.normpath(path).split(os.sep)[0] == os.pardir:
        reason = f"the path {path!r} leaves the instance's output folder"
        return FilterProblem(reason, "write it relative to compiled/<instance>", refused=True)
    return _check_arguments(kind, arguments) if enabled else None


def _check_keys(definition: Mapping[Any, Any]) -> FilterProblem | None:
    for key in _REQUIRED:
        if key not in definition:
            spare = [str(name) for name in definition if name not in FILTER_KEYS]
            near = did_you_mean(key, spare).removeprefix("did you mean ").removesuffix("?")
            return FilterProblem(f"the key {key!r} is missing", f"should {near} be {key!r}?" if near else "")
        if not isinstance(definition[key], str):
            return FilterProblem(f"the value of {key!r} is not a string")
    return None


def _check_arguments(kind: str, arguments: Mapping[Any, Any]) -> FilterProblem | None:
    if kind == "builtin":
        problem = _check_helm_namespace(arguments)
        return FilterProblem(problem, unusable=True) if problem else None
    for key, value in arguments.items():
        if "\0" in str(key):
            problem = f"the filter argument {key!r} has a NUL character in its name"
            return FilterProblem(problem, "leave it out", unusable=True)
        if not isinstance(value, str):
            return FilterProblem(
                f"the filter argument {key!r} is not a string", "quote numbers and booleans", unusable=True
            )
    return None


def _check_helm_namespace(arguments: Mapping[Any, Any]) -> str:
    """Return the problem of the builtin filter's arguments, or an empty string. Unknown arguments are ignored."""
    namespace = arguments.get("namespace")
    if not isinstance(namespace, str):
        return "the filter argument 'namespace' is missing or is not a string"
    if not isinstance(arguments.get("create_namespace", "false"), bool | str):
        return "the filter argument 'create_namespace' is neither a boolean nor a string"
    excluded = arguments.get("exclude_objects", [])
    if not isinstance(excluded, list) or not all(isinstance(entry, Mapping) and "kind" in entry for entry in excluded):
        return "the filter argument 'exclude_objects' is not a list of mappings with the keys 'kind' and 'name'"
    return ""
