"""Linter `schema`: violations of the published JSON Schemas, which editors use."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from yaml import Node

from commodore.base.diagnostics import Diagnostic, Rule
from commodore.base.errors import did_you_mean
from commodore.base.yaml.json_schemas import alternative_types, meant_errors, published_schema, types_in_words
from commodore.core.inventory.lint.class_file import (
    CLASS_SUFFIXES,
    NO_CLASS_KEYS,
    ClassFile,
    entries,
    is_list,
    is_map,
    is_text,
    is_text_for_reclass,
    key_text,
    kind_of,
    plain_data,
)
from commodore.core.inventory.lint.linter import Linter

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

CLASS: Final = Rule("class-file-schema", "warning", "A class violates its published JSON Schema.")
CLUSTER: Final = Rule("cluster-file-schema", "warning", "A cluster file violates its published JSON Schema.")

_CLUSTERS: Final = frozenset({"cluster", "clusters"})
_TENANTS: Final = frozenset({"tenant", "tenants"})


class Schema(Linter):
    """Validates classes and cluster files by their schemas. `without_repeated` drops findings of other linters."""

    name = "schema"
    summary = "Violations of the published JSON Schemas of class files and cluster files."
    rules = (CLASS, CLUSTER)

    def read(self, file: ClassFile) -> Iterator[Diagnostic]:
        if file.is_class:
            rule, validator = CLASS, self._classes
        elif _is_cluster_file(file):
            rule, validator = CLUSTER, self._clusters
        else:
            return
        for error in validator.iter_errors(plain_data(file.root)):
            for cause in meant_errors(error):
                yield from self._explain(file, rule, cause)

    @cached_property
    def _classes(self) -> Draft202012Validator:
        return _validator("class-file")

    @cached_property
    def _clusters(self) -> Draft202012Validator:
        return _validator("cluster-file")

    def _explain(self, file: ClassFile, rule: Rule, error: ValidationError) -> Iterator[Diagnostic]:
        path = tuple(error.absolute_path)
        place, node = _find(file.root, path)
        parameter = _dotted(path)
        shown = parameter or "the file"
        rule_value: Any = error.validator_value
        match error.validator:
            case "type":
                message, hint = (
                    f"{shown} must be {types_in_words(rule_value)}, it is {_kind_of(node)}",
                    _switch(rule_value, node),
                )
            case "required":
                missing = ", ".join(repr(key) for key in rule_value if key not in error.instance)
                message, hint = f"{shown} has no {missing}", f"add {missing}"
            case "enum":
                message = f"{shown} must be one of {', '.join(rule_value)}"
                hint = did_you_mean(error.instance, rule_value) if is_text(node) else ""
            case "additionalProperties":
                for key in _unknown_keys(error):
                    at, _ = _find(file.root, (*path, key))
                    hint = did_you_mean(key, error.schema["properties"])
                    said = f"unknown key {_dotted((*path, key))}"
                    yield file.finding(self.name, rule, at, said, parameter=_dotted((*path, key)), hint=hint)
                return
            case "anyOf":
                types = alternative_types(error)
                message, hint = f"{shown} must be {types_in_words(types)}, it is {_kind_of(node)}", _switch(types, node)
            case "minLength":
                message, hint = f"{shown} is empty", ""
            case "pattern":
                # editors show `patternErrorMessage`, too
                message = f"{shown} must be {error.schema.get('patternErrorMessage', 'of another form')}"
                hint = f"the pattern is {rule_value}"
            case _:
                message, hint = f"{shown} does not match {error.validator!r} of the schema", ""
        yield file.finding(self.name, rule, place, message, parameter=parameter, hint=hint)


def _kind_of(node: Node) -> str:
    return f"the text {node.value!r}" if is_text_for_reclass(node) else kind_of(node)


def _switch(types: str | Sequence[str], node: Node) -> str:
    is_switch = "boolean" in types and is_text_for_reclass(node)
    return "reclass reads yes, no, on and off as strings; write true or false" if is_switch else ""


def without_repeated(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the findings without schema findings that repeat another linter's, of the same field or a parent."""
    findings = list(findings)
    same: dict[str, set[str]] = defaultdict(set)
    around: dict[str, set[str]] = defaultdict(set)
    for finding in findings:
        parameter, file = str(finding.subject.object), finding.locations[0].place
        if parameter and not _is_own(finding):
            same[file].add(parameter)
            if finding.severity == "error":
                around[file].add(parameter)
    return [finding for finding in findings if not (_is_own(finding) and _is_repeated(finding, same, around))]


def _is_own(finding: Diagnostic) -> bool:
    return finding.code.startswith(f"{Schema.name}/")


def _is_repeated(finding: Diagnostic, same: Mapping[str, set[str]], around: Mapping[str, set[str]]) -> bool:
    parameter, file = str(finding.subject.object), finding.locations[0].place
    return parameter in same.get(file, ()) or not _parents(parameter).isdisjoint(around.get(file, ()))


def _parents(parameter: str) -> set[str]:
    """Return the parents of a field: of `a.b[0]`, `a` and `a.b`."""
    return {parameter[: match.start()] for match in re.finditer(r"[.\[]", parameter)}


def _validator(name: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(published_schema(name))


def _is_cluster_file(file: ClassFile) -> bool:
    keys = {key.value for key, _ in file.root.value if is_text(key)}
    known = bool(keys & _CLUSTERS and keys & _TENANTS)
    return known and file.path.suffix in CLASS_SUFFIXES and not keys & NO_CLASS_KEYS


def _find(root: Node, path: Iterable[str | int]) -> tuple[Node, Node]:
    """Return the node to report for a field, its key or the entry of its list, and its value."""
    place, node = root, root
    for part in path:
        if is_map(node):
            place, node = next(pair for pair in reversed(entries(node)) if key_text(pair[0]) == part)
        elif is_list(node):
            place = node = node.value[int(part)]
    return place, node


def _dotted(path: Iterable[str | int]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _unknown_keys(error: ValidationError) -> list[str]:
    known, patterns = error.schema.get("properties", {}), error.schema.get("patternProperties", {})
    return [
        key for key in error.instance if key not in known and not any(re.search(pattern, key) for pattern in patterns)
    ]
