"""Jsonnet files of directory sources, evaluated in a separate process with a time limit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from commodore.argocd.model.sources import DirectoryOptions, JsonnetVariable
from commodore.argocd.rendering.ignored import report_read
from commodore.argocd.rendering.model import Unit
from commodore.argocd.rendering.programs import takes_too_long
from commodore.argocd.trees.paths import is_within
from commodore.base.errors import InputError, PolicyError
from commodore.base.printable import printable_lines
from commodore.base.programs.python_children import ChildEnded
from commodore.base.programs.running import Bounds, OutOfBounds
from commodore.base.yaml.kube_yaml import read_json
from commodore.core.render.jsonnet import JsonnetResult, JsonnetTask, evaluate_jsonnet


def evaluate_files(unit: Unit, options: DirectoryOptions, files: list[Path]) -> dict[Path, list[Any]]:
    """Evaluate Jsonnet files, and return their objects by file.

    Raises:
        InputError: CMD-ARGO-404, a file fails, or its result is not an object.
        EnvironmentFault: CMD-ARGO-418, they exceed the time limit.
        PolicyError: CMD-ARGO-408, a library or an import is outside of the repository.
    """
    if not files:
        return {}
    libraries = [_library(unit, path) for path in options.libraries]
    # Later libraries take precedence; the folder of the source is searched last.
    search = [*reversed(libraries), str(unit.folder)]
    variables = {
        "ext_vars": _variables(unit, options.variables, code=False),
        "ext_codes": _variables(unit, options.variables, code=True),
        "tla_vars": _variables(unit, options.arguments, code=False),
        "tla_codes": _variables(unit, options.arguments, code=True),
    }
    tasks = [JsonnetTask(str(path), str(unit.root), search, **variables) for path in files]
    objects = {}
    for path, evaluated in zip(files, _evaluated(unit, tasks), strict=True):
        name = os.path.relpath(path, unit.folder)
        objects[path] = _objects(evaluated, name, unit)
        report_read(unit, evaluated.imports)
    return objects


def _variables(unit: Unit, given: tuple[JsonnetVariable, ...], *, code: bool) -> dict[str, str]:
    return {variable.name: unit.environment.substitute(variable.value) for variable in given if variable.code == code}


def _library(unit: Unit, path: str) -> str:
    folder = Path(os.path.normpath(unit.root / path.lstrip("/")))
    if not folder.is_relative_to(unit.root) or not is_within(folder, unit.root):
        raise PolicyError(
            "CMD-ARGO-408", f"the Jsonnet library {path!r} leads out of its repository", hint="name a folder within it"
        )
    return str(folder)


def _evaluated(unit: Unit, files: list[JsonnetTask]) -> list[JsonnetResult]:
    limits = unit.context.limits
    bounds = Bounds(limits.argocd_source_seconds, memory=limits.rendering_bytes)
    try:
        return evaluate_jsonnet(files, limits.input_file_bytes, bounds, unit.context.cancellation)
    except OutOfBounds:
        raise takes_too_long("Jsonnet", bounds.seconds) from None
    except ChildEnded as ended:
        raise InputError(
            "CMD-ARGO-404",
            f"Jsonnet fails: {printable_lines(ended.last) or f'exit code {ended.code}'}",
            hint="it may have used up stack or memory; look for endless recursion, or raise "
            "rendering_bytes with COMMODORE_LIMITS",
        ) from None


def _objects(evaluated: JsonnetResult, name: str, unit: Unit) -> list[Any]:
    if evaluated.refused:
        raise PolicyError(
            "CMD-ARGO-408",
            f"{name} imports {evaluated.refused[0][0]!r}, which is outside of the repository",
            hint="import files of the repository",
        )
    if evaluated.value is None:
        said = evaluated.complaint.replace(f"{unit.root}/", "")
        raise InputError(
            "CMD-ARGO-404", f"{name} cannot be evaluated: {printable_lines(said)}", hint="see the message of Jsonnet"
        )
    value = read_json(evaluated.value, place=name)
    objects = value if isinstance(value, list) else [value]
    if not all(isinstance(item, dict) for item in objects):
        raise InputError(
            "CMD-ARGO-404", f"{name} is neither an object nor a list of objects", hint="return manifests, as objects"
        )
    return objects
