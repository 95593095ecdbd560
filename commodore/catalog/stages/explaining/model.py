"""The explanation of a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.core.inventory import ParameterPath
from commodore.core.inventory.explain import path_text


@dataclass(frozen=True, slots=True)
class ComponentCheckout:
    """The checkout of a component.

    Args:
        url: its remote, without credentials; empty without a remote.
        version: the version in the hierarchy; empty if it is not set.
        commit: the checked out commit; empty outside of git.
        path: the component's folder in it; empty for its root.
        changed: whether files differ from that commit.
    """

    url: str
    version: str
    commit: str
    path: str
    changed: bool


@dataclass(frozen=True, slots=True)
class ExplainedChart:
    """A chart: the name and version of its own file, its path, and its source (empty for the
    component's own charts).
    """

    name: str
    version: str
    path: str
    source: str


@dataclass(frozen=True, slots=True)
class CompileEntry:
    """An entry of `parameters.kapitan.compile` that may have written the manifest.

    Args:
        index: its position in the list.
        input_paths: relative to the working directory if they are in it.
        settings: the whole entry; the values of a chart are in `helm_values`.
    """

    index: int
    input_type: str
    input_paths: tuple[str, ...]
    output_path: str
    settings: Mapping[str, Any]
    charts: tuple[ExplainedChart, ...] = ()


@dataclass(frozen=True, slots=True)
class FilterUse:
    """A filter of the instance whose path covers the manifest; `index` is its position in the list."""

    index: int
    type: str
    filter: str
    path: str
    enabled: bool
    settings: Mapping[str, Any] = field(metadata={"json": False})


@dataclass(frozen=True, slots=True)
class ReadParameter:
    """A parameter that the instance has read.

    Args:
        target: the target of the parameter; mostly the instance's own.
        path: its path; empty for all parameters.
        value: its current value; None if it is not set.
        changed: whether the value has changed since it was read.
        command: the arguments of `commodore` that explain it.
    """

    target: str
    path: ParameterPath = field(metadata={"json": path_text})
    value: Any
    is_set: bool
    changed: bool
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file, folder or pattern that was read.

    Args:
        path: relative to the working directory if it is in it.
        kind: `file`, `tree` (a folder with all its files) or `pattern`.
        exists: whether it exists; templates also look for files that may be missing.
        changed: whether it has changed since it was read.
    """

    path: str
    kind: str
    exists: bool
    changed: bool


@dataclass(frozen=True, slots=True)
class ParameterCandidate:
    """A parameter that the instance has read and that has the value of a field, or a text that occurs in it.

    It need not be the field's source: a template may contain the same value.

    Args:
        whole: whether the values are equal; else the field's text contains the parameter's.
    """

    target: str
    path: ParameterPath = field(metadata={"json": path_text})
    value: Any
    whole: bool
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """An object in the manifest, and its first line."""

    kind: str
    namespace: str
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """A field of an object. `omitted` counts the candidates beyond the limit."""

    path: ParameterPath = field(metadata={"json": path_text})
    value: Any
    line: int
    candidates: tuple[ParameterCandidate, ...]
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class ManifestExplanation:
    """The explanation of a rendered manifest.

    Args:
        path: its path in the catalog: `manifests/...`.
        file: its file.
        edited: whether it differs from the rendered file, or is no longer in the catalog.
        reused: whether the last run has taken it from the cache; None if that was not recorded.
        refusal: the reason why the result cannot be stored; empty if it can, or if that is unknown.
        repository: the component's checkout; None if it was removed.
        names: parameters whose keys were listed.
        sources: the sources of fetched dependencies.
        tools: programs that were run.
        all_targets: whether the names of all instances were read.
    """

    path: str
    file: Path
    edited: bool
    instance: str
    component: str
    repository: ComponentCheckout | None
    reused: bool | None
    refusal: str
    entries: tuple[CompileEntry, ...]
    filters: tuple[FilterUse, ...]
    parameters: tuple[ReadParameter, ...]
    names: tuple[ReadParameter, ...]
    files: tuple[ReadFile, ...]
    sources: tuple[str, ...]
    tools: tuple[str, ...]
    all_targets: bool
    object: ObjectPlace | None = None
    field: FieldPlace | None = None
