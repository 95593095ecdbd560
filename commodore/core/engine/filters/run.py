"""Postprocessing filters: what an instance defines, checked as a whole, then run in order.

The published tool skips a wrong definition and lets the catalog through without it; here it is an error, unless that is
allowed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, InputError, PolicyError, Setting, did_you_mean, raise_all
from commodore.core.engine.filters import helm_namespace
from commodore.core.engine.filters.jsonnet import FilterWork, run_jsonnet_filter
from commodore.core.engine.model import InstanceJob
from commodore.core.inventory import check_filter

_FILTERS = ("commodore", "postprocess", "filters")


@dataclass(frozen=True, slots=True)
class Filter:
    """One valid definition. `path` is relative to the instance's output folder, `index` its place in the list."""

    instance: str
    index: int
    type: str
    path: str
    filter: str
    arguments: Mapping[str, Any]
    enabled: bool

    def __str__(self) -> str:
        return f"instance {self.instance!r}, filter {self.index} ({self.type} {self.filter} on {self.path})"


def read_filters(node: Mapping[str, Any], job: InstanceJob, context: Context) -> tuple[Filter, ...]:
    """An instance's filters, from `parameters.commodore.postprocess.filters` of its own target.

    Args:
        node: the instance's rendered node.
        job: the instance; jsonnet filters are files of its component directory.

    Raises:
        CommodoreError: definitions are wrong; all of them are reported together.
    """
    definitions = _definitions(node, job.name)
    filters: list[Filter] = []
    errors: list[CommodoreError] = []
    for index, definition in enumerate(definitions):
        try:
            filters.append(_read(definition, index, job))
        except CommodoreError as error:
            errors += context.problems([error])
    raise_all(errors)
    return tuple(filters)


def _definitions(node: Mapping[str, Any], instance: str) -> list[Any]:
    value: Any = node["parameters"]
    path = "parameters"
    for key in _FILTERS:
        if not isinstance(value, Mapping):
            raise _invalid_shape(instance, path, "a map")
        path += f".{key}"
        value = value.get(key)
        if value in (None, {}, ""):
            return []
    if not isinstance(value, list):
        raise _invalid_shape(instance, path, "a list")
    return value


def _invalid_shape(instance: str, path: str, expected: str) -> InputError:
    return InputError(
        "CMD-ENG-040",
        f"instance {instance!r}: {path} is not {expected}",
        hint="write for example: filters: [{type: builtin, filter: helm_namespace, path: FOLDER}]",
        locations=[path],
    )


def _read(definition: Any, index: int, job: InstanceJob) -> Filter:
    path = (*_FILTERS, index)
    place = Setting(f"{job.name}: parameters.{'.'.join(_FILTERS)}[{index}]", path=path, target=job.name)

    def invalid(reason: str, hint: str = "") -> InputError:
        return InputError(
            "CMD-ENG-041", f"instance {job.name!r}, filter {index}: {reason}", hint=hint, locations=[place]
        )

    problem = check_filter(definition)
    if problem is not None and problem.refused:
        raise PolicyError("CMD-ENG-042", f"instance {job.name!r}, filter {index}: {problem.reason}", hint=problem.hint)
    if problem is not None and problem.unusable:
        raise InputError(
            "CMD-ENG-049",
            f"instance {job.name!r}, filter {index}: {problem.reason}",
            hint=problem.hint or "correct the definition",
            locations=[place],
        )
    if problem is not None:
        raise invalid(problem.reason, problem.hint)
    kind, name, path = definition["type"], definition["filter"], definition["path"]
    arguments, enabled = definition.get("filterargs", {}), definition.get("enabled", True)
    found = Filter(job.name, index, kind, path, name, dict(arguments), enabled)
    if enabled and kind == "jsonnet":
        _check_file(found, job, invalid)
    return found


def _check_file(found: Filter, job: InstanceJob, invalid: Callable[..., InputError]) -> None:
    """What only matters if the filter is going to run."""
    file = jsonnet_file(found, job)
    if not file.resolve().is_relative_to(job.directory.resolve()):
        raise PolicyError(
            "CMD-ENG-043",
            f"instance {job.name!r}, filter {found.index}: the file {found.filter!r} is outside of the component",
            hint="write it relative to the component's folder",
        )
    if not file.is_file():
        folder = file.parent
        names = [str(Path(found.filter).parent / name) for name in os.listdir(folder)] if folder.is_dir() else []
        raise invalid(
            f"the Jsonnet file {found.filter!r} does not exist in {job.directory}", did_you_mean(found.filter, names)
        )


def jsonnet_file(found: Filter, job: InstanceJob) -> Path:
    """The file of a jsonnet filter, relative to the component."""
    return job.directory / found.filter


def run_filters(filters: tuple[Filter, ...], work: FilterWork) -> list[str]:
    """Run an instance's filters one after another on what it has rendered. Returns what was skipped, as text.

    Raises:
        CommodoreError: a filter failed; later ones did not run.
    """
    notes: list[str] = []
    for found in filters:
        if not found.enabled:
            notes.append(f"{found}: skipped, it is not enabled")
            continue
        folder = work.confinement.output / found.path
        work.run.at_work(found.instance).write_text(f"filter {found.index} ({found.filter})", encoding="utf-8")
        try:
            work.confinement.check(folder, "path")
            if found.type == "builtin":
                helm_namespace.run(folder, found.arguments, work.confinement)
            else:
                fixed = [found.path, dict(found.arguments)]
                part = work.parts.begin(f"filter {found.filter}", fixed, work.reads)
                run_jsonnet_filter(jsonnet_file(found, work.job), folder, found.arguments, part, work)
        except CommodoreError as error:
            work.context.problem(error.about(str(found)))
    return notes
