"""The inputs of an instance, from its record: parameters with their current values, files, sources, programs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from commodore.base.context import Context
from commodore.base.files.workspace import Workspace
from commodore.catalog.stages.explaining.model import (
    CompileEntry,
    FilterUse,
    ParameterCandidate,
    ReadFile,
    ReadParameter,
)
from commodore.core.engine import InstanceRecord, changed_reads, read_place
from commodore.core.inventory import ParameterPath, compiled_targets, render_node
from commodore.core.inventory.explain import path_text, target_of

Node = Mapping[str, Any]
Key = tuple[str, ...]
_OWN = (("multiline_string_style",), ("commodore", "postprocess"), ("commodore", "jsonnet"))
"""Parameters that are read for every instance; shown only if they are set."""
_ENTRY_KEYS = ("input_type", "input_paths", "output_path")
_SHORTEST = 4  # minimum characters of a text to search in others
_REFERENCE = re.compile(r"(\?\{[^{}]+):[0-9a-f]{8}\}")
"""A secret reference as it is rendered: Kapitan adds a digest."""


@dataclass(frozen=True, slots=True)
class Readings:
    """A record as parameters, files, sources and tools."""

    parameters: tuple[ReadParameter, ...] = ()
    names: tuple[ReadParameter, ...] = ()
    files: tuple[ReadFile, ...] = ()
    sources: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    all_targets: bool = False


class Reader:
    """Reads a record.

    Args:
        directory: the instance's component directory.
        node: the instance's rendered target; others are rendered on first access.
    """

    def __init__(self, workspace: Workspace, record: InstanceRecord, directory: Path, node: Node) -> None:
        self._workspace = workspace
        self._record = record
        self._directory = directory
        self._targets = compiled_targets(workspace)
        self._nodes: dict[str, Node] = {record.instance: node}

    def read(self, context: Context) -> Readings:
        """Return the content of the record."""
        record = self._record
        for target in sorted({key[1] for _, key in record.about("value", "names")}):
            if target not in self._nodes and target in self._targets:
                self._nodes[target] = render_node(self._workspace.inventory, target, context).raw
        changed = changed_reads(self._record, self._workspace.root, self._directory, self._nodes)
        return Readings(
            tuple(self._parameters("value", changed)),
            tuple(self._parameters("names", changed)),
            tuple(self._files(changed)),
            record.words("source"),
            record.words("program"),
            any(record.about("targets")),
        )

    def _parameters(
        self, topic: Literal["value", "names"], changed: frozenset[tuple[str, ...]]
    ) -> Iterator[ReadParameter]:
        keys = [key for _, key in self._record.about(topic) if len(key) == 2 or key[2] == "parameters"]
        for key in sorted(keys, key=lambda key: (key[1] != self._record.instance, key)):
            path = key[3:]
            value, is_set = _at(self._nodes.get(key[1], {}), ("parameters", *path))
            if is_set or path not in _OWN:
                command = explain_command(key[1], path, self._targets)
                yield ReadParameter(key[1], path, value, is_set, key in changed, command)

    def _files(self, changed: frozenset[Key]) -> Iterator[ReadFile]:
        """Yield each file once, also if it was read in several ways or through links; existing files first."""
        read_files: dict[tuple[str, str], ReadFile] = {}
        for topic, key in self._record.about("file", "existence", "tree", "pattern"):
            place = os.path.normpath(read_place(self._workspace.root, self._directory, key[1]))
            real = place if topic == "pattern" else os.path.realpath(place)
            if topic == "existence" and os.path.isdir(real):  # only its existence was checked
                continue
            exists = topic == "pattern" or os.path.exists(real)
            kind = "file" if topic == "existence" or (topic == "tree" and os.path.isfile(real)) else topic
            read_file = ReadFile(self._shown(real if exists else place), kind, exists, key in changed)
            known = read_files.setdefault((read_file.path, kind), read_file)
            if read_file.changed and not known.changed:
                read_files[read_file.path, kind] = read_file
        yield from sorted(
            read_files.values(), key=lambda read_file: (not read_file.exists, read_file.path, read_file.kind)
        )

    def _shown(self, path: str) -> str:
        root = str(self._workspace.root)
        return os.path.relpath(path, root) if path.startswith(root + os.sep) else path


def explain_command(target: str, path: ParameterPath, targets: Sequence[str]) -> tuple[str, ...]:
    """Return the arguments of `commodore` that explain a parameter; empty for all parameters at once."""
    if not path:
        return ()
    chosen = () if target_of(path, targets) == target else ("--instance", target)
    return ("inventory", "explain", path_text(path), *chosen)


def candidates(
    value: Any,
    parameters: Sequence[ReadParameter],
    made_by: tuple[str, Node, Sequence[CompileEntry], Sequence[FilterUse]],
    targets: Sequence[str],
    context: Context,
) -> tuple[tuple[ParameterCandidate, ...], int]:
    """Return the read parameters with a field's value; without any, the ones whose text occurs in it. And the number of
    further ones.

    Args:
        value: the field's value.
        parameters: the parameters that templates have read.
        made_by: the instance with its node, and the compile entries and filters that wrote the manifest.
    """
    if value is None or value in ("", {}, []):
        return (), 0
    expected = _REFERENCE.sub(r"\1}", value) if isinstance(value, str) else value
    matches: dict[tuple[str, ParameterPath], ParameterCandidate] = {}
    for target, path, held in _held(parameters, made_by):
        for place, inner in _walk(path, held):
            whole = type(inner) is type(expected) and inner == expected
            if whole or _occurs(inner, expected):
                candidate = ParameterCandidate(target, place, inner, whole, explain_command(target, place, targets))
                matches.setdefault((target, place), candidate)
    instance = made_by[0]
    if any(candidate.whole for candidate in matches.values()):
        matches = {key: candidate for key, candidate in matches.items() if candidate.whole}
    # Of two texts that occur in a field, the longer one is more likely its source.
    ordered = sorted(
        matches.values(),
        key=lambda candidate: (
            not candidate.whole,
            candidate.target != instance,
            0 if candidate.whole else -len(candidate.value),
            str(candidate.path),
        ),
    )
    return tuple(ordered[: context.limits.explain_candidates]), max(0, len(ordered) - context.limits.explain_candidates)


def _held(
    parameters: Sequence[ReadParameter], made_by: tuple[str, Node, Sequence[CompileEntry], Sequence[FilterUse]]
) -> Iterator[tuple[str, ParameterPath, Any]]:
    """Yield target, path and value of each parameter that may be a source of the manifest."""
    instance, _, entries, filters = made_by
    for parameter in parameters:
        if parameter.is_set and parameter.path not in _OWN:
            yield parameter.target, parameter.path, parameter.value
    for entry in entries:
        for key, value in entry.settings.items():
            if key not in _ENTRY_KEYS:
                yield instance, ("kapitan", "compile", entry.index, key), value
    for use in filters:
        path = ("commodore", "postprocess", "filters", use.index, "filterargs")
        yield instance, path, use.settings.get("filterargs")


def _walk(path: ParameterPath, value: Any) -> Iterator[tuple[ParameterPath, Any]]:
    if path:
        yield path, value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(key, str):
                yield from _walk((*path, key), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk((*path, index), inner)


def _occurs(inner: Any, value: Any) -> bool:
    return isinstance(inner, str) and isinstance(value, str) and len(inner) >= _SHORTEST and inner in value


def _at(node: Node, path: Sequence[str]) -> tuple[Any, bool]:
    value: Any = node
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return None, False
        value = value[key]
    return value, True
