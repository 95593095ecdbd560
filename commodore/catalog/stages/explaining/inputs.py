"""What an instance has read, from its record: parameters with their values of today, files, sources, programs."""

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
"""What is read for every instance; worth telling only where it says something."""
_ENTRY_KEYS = ("input_type", "input_paths", "output_path")
_SHORTEST = 4  # characters of a text that are looked for in others
_REFERENCE = re.compile(r"(\?\{[^{}]+):[0-9a-f]{8}\}")
"""A secret reference as it is rendered: Kapitan adds a digest."""


@dataclass(frozen=True, slots=True)
class Readings:
    """A record in the words of the hierarchy."""

    parameters: tuple[ReadParameter, ...] = ()
    names: tuple[ReadParameter, ...] = ()
    files: tuple[ReadFile, ...] = ()
    sources: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    all_targets: bool = False


class Reader:
    """Reads one record.

    Args:
        directory: the instance's component directory.
        node: the instance's rendered target; others are rendered when they are needed.
    """

    def __init__(self, workspace: Workspace, record: InstanceRecord, directory: Path, node: Node) -> None:
        self._workspace = workspace
        self._record = record
        self._directory = directory
        self._targets = compiled_targets(workspace)
        self._nodes: dict[str, Node] = {record.instance: node}

    def read(self, context: Context) -> Readings:
        """All that the record tells."""
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
        found = [key for _, key in self._record.about(topic) if len(key) == 2 or key[2] == "parameters"]
        for key in sorted(found, key=lambda key: (key[1] != self._record.instance, key)):
            path = key[3:]
            value, is_set = _at(self._nodes.get(key[1], {}), ("parameters", *path))
            if is_set or path not in _OWN:
                command = explain_command(key[1], path, self._targets)
                yield ReadParameter(key[1], path, value, is_set, key in changed, command)

    def _files(self, changed: frozenset[Key]) -> Iterator[ReadFile]:
        """Each place once, however it was looked at and by whatever links it was reached; those that exist first."""
        found: dict[tuple[str, str], ReadFile] = {}
        for topic, key in self._record.about("file", "existence", "tree", "pattern"):
            place = os.path.normpath(read_place(self._workspace.root, self._directory, key[1]))
            real = place if topic == "pattern" else os.path.realpath(place)
            if topic == "existence" and os.path.isdir(real):  # only whether it is there was asked
                continue
            exists = topic == "pattern" or os.path.exists(real)
            kind = "file" if topic == "existence" or (topic == "tree" and os.path.isfile(real)) else topic
            one = ReadFile(self._shown(real if exists else place), kind, exists, key in changed)
            known = found.setdefault((one.path, kind), one)
            if one.changed and not known.changed:
                found[one.path, kind] = one
        yield from sorted(found.values(), key=lambda one: (not one.exists, one.path, one.kind))

    def _shown(self, path: str) -> str:
        root = str(self._workspace.root)
        return os.path.relpath(path, root) if path.startswith(root + os.sep) else path


def explain_command(target: str, path: ParameterPath, targets: Sequence[str]) -> tuple[str, ...]:
    """The words after `commodore` that explain a parameter; none for all parameters at once."""
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
    """The parameters that were read and have a field's value; if there are none, those that are a text in it. And how
    many more there are.

    Args:
        value: the field's.
        parameters: what templates have read.
        made_by: the instance with its node, and what is set for the inputs and filters that the manifest is from.
    """
    if value is None or value in ("", {}, []):
        return (), 0
    wanted = _REFERENCE.sub(r"\1}", value) if isinstance(value, str) else value
    found: dict[tuple[str, ParameterPath], ParameterCandidate] = {}
    for target, path, held in _held(parameters, made_by):
        for place, inner in _walk(path, held):
            whole = type(inner) is type(wanted) and inner == wanted
            if whole or _occurs(inner, wanted):
                one = ParameterCandidate(target, place, inner, whole, explain_command(target, place, targets))
                found.setdefault((target, place), one)
    instance = made_by[0]
    if any(one.whole for one in found.values()):
        found = {key: one for key, one in found.items() if one.whole}
    # Longer texts tell more: of two that occur in a field, the longer one is the likelier.
    ordered = sorted(
        found.values(),
        key=lambda one: (not one.whole, one.target != instance, 0 if one.whole else -len(one.value), str(one.path)),
    )
    return tuple(ordered[: context.limits.explain_candidates]), max(0, len(ordered) - context.limits.explain_candidates)


def _held(
    parameters: Sequence[ReadParameter], made_by: tuple[str, Node, Sequence[CompileEntry], Sequence[FilterUse]]
) -> Iterator[tuple[str, ParameterPath, Any]]:
    """Each parameter that can have gone into the manifest: where it is, and what it is."""
    instance, _, entries, filters = made_by
    for one in parameters:
        if one.is_set and one.path not in _OWN:
            yield one.target, one.path, one.value
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
