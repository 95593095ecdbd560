"""Postprocessing filters of an instance: all definitions are checked, then the filters run in order.

The published tool skips an invalid definition and publishes the catalog without it; here it is an error, unless that is
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
    """A valid definition. `path` is relative to the instance's output folder, `index` its position in the list."""

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
    """Read an instance's filters from `parameters.commodore.postprocess.filters` of its own target.

    Args:
        node: the instance's rendered node.
        job: the instance; jsonnet filters are files of its component directory.

    Raises:
        CommodoreError: definitions are invalid; all of them are reported together.
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
    result = Filter(job.name, index, kind, path, name, dict(arguments), enabled)
    if enabled and kind == "jsonnet":
        _check_file(result, job, invalid)
    return result


def _check_file(step: Filter, job: InstanceJob, invalid: Callable[..., InputError]) -> None:
    """Check the file of an enabled Jsonnet filter."""
    file = jsonnet_file(step, job)
    if not file.resolve().is_relative_to(job.directory.resolve()):
        raise PolicyError(
            "CMD-ENG-043",
            f"instance {job.name!r}, filter {step.index}: the file {step.filter!r} is outside of the component",
            hint="write it relative to the component's folder",
        )
    if not file.is_file():
        folder = file.parent
        names = [str(Path(step.filter).parent / name) for name in os.listdir(folder)] if folder.is_dir() else []
        raise invalid(
            f"the Jsonnet file {step.filter!r} does not exist in {job.directory}", did_you_mean(step.filter, names)
        )


def jsonnet_file(step: Filter, job: InstanceJob) -> Path:
    """Return the path of a jsonnet filter's file, which is given relative to the component."""
    return job.directory / step.filter


def run_filters(filters: tuple[Filter, ...], work: FilterWork) -> list[str]:
    """Run an instance's filters one after another on its rendered files. Returns notes about skipped filters.

    Raises:
        CommodoreError: a filter failed; later ones did not run.
    """
    notes: list[str] = []
    for step in filters:
        if not step.enabled:
            notes.append(f"{step}: skipped, it is not enabled")
            continue
        folder = work.confinement.output / step.path
        work.run.step_file(step.instance).write_text(f"filter {step.index} ({step.filter})", encoding="utf-8")
        try:
            work.confinement.check(folder, "path")
            if step.type == "builtin":
                helm_namespace.run(folder, step.arguments, work.confinement)
            else:
                fixed = [step.path, dict(step.arguments)]
                part = work.parts.begin(f"filter {step.filter}", fixed, work.reads)
                run_jsonnet_filter(jsonnet_file(step, work.job), folder, step.arguments, part, work)
        except CommodoreError as error:
            work.context.problem(error.about(str(step)))
    return notes
