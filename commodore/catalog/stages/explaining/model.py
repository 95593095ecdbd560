"""What an explanation of a manifest tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.core.inventory import ParameterPath
from commodore.core.inventory.explain import path_text


@dataclass(frozen=True, slots=True)
class ComponentCheckout:
    """What is checked out of a component.

    Args:
        url: its remote, without credentials; empty if there is none.
        version: the version that the hierarchy asks for; empty if it does not say.
        commit: what is checked out; empty outside of git.
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
    """A chart: what its own file says, and where it was fetched from (empty for one of the component's own)."""

    name: str
    version: str
    path: str
    source: str


@dataclass(frozen=True, slots=True)
class CompileEntry:
    """An entry of `parameters.kapitan.compile` that can have written the manifest.

    Args:
        index: its place in the list.
        input_paths: relative to the working directory if they lie there.
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
    """A filter of the instance whose path covers the manifest; `index` is its place in the list."""

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
        target: the target that it is a parameter of; mostly the instance's own.
        path: where it is; empty for all parameters.
        value: what it is today; None if it is not set.
        changed: whether that is something else than what was read.
        command: the words after `commodore` that explain it.
    """

    target: str
    path: ParameterPath = field(metadata={"json": path_text})
    value: Any
    is_set: bool
    changed: bool
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file, folder or pattern that was looked at.

    Args:
        path: relative to the working directory if it lies there.
        kind: `file`, `tree` (a folder with all that is in it) or `pattern`.
        exists: whether something is there; templates also look for files that may be missing.
        changed: whether something else is there than was then.
    """

    path: str
    kind: str
    exists: bool
    changed: bool


@dataclass(frozen=True, slots=True)
class ParameterCandidate:
    """A parameter that the instance has read and that has the value of a field, or a text that occurs in it.

    This does not prove that the field was made from it: a template may have the same value of its own.

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
    """An object in the manifest, and the line at which it begins."""

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
    """Why a rendered manifest is as it is.

    Args:
        path: of the manifest in the catalog: `manifests/...`.
        file: where it lies.
        edited: whether it differs from what was rendered, or is no longer in the catalog.
        reused: whether the last run has taken it from the cache; None if that was not recorded.
        refusal: why the result cannot be kept; empty if it can, or if that is unknown.
        repository: None if the component is not there any longer.
        names: parameters of which it was read which keys there are.
        sources: what dependencies were fetched from.
        tools: programs that were run.
        all_targets: whether it was read which instances there are.
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
