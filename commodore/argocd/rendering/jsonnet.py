"""Jsonnet files of directory sources, evaluated in a process of their own that is ended when it takes too long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from commodore.argocd.model.sources import DirectoryOptions, JsonnetVariable
from commodore.argocd.rendering.ignored import report_read
from commodore.argocd.rendering.model import Unit
from commodore.argocd.rendering.programs import takes_too_long
from commodore.argocd.trees.paths import is_within
from commodore.base.errors import InputError, PolicyError
from commodore.base.printable import printable_lines
from commodore.base.programs.child_processes import Child, child_environment
from commodore.base.yaml.kube_yaml import read_json

_WORKER = "commodore.argocd.rendering.jsonnet_worker"


def evaluate_files(unit: Unit, options: DirectoryOptions, files: list[Path]) -> dict[Path, list[Any]]:
    """The objects of Jsonnet files, by file.

    Raises:
        InputError: CMD-ARGO-404, one does not evaluate, or to no object.
        EnvironmentFault: CMD-ARGO-418, they take too long.
        PolicyError: CMD-ARGO-408, a library or an import is outside of the repository.
    """
    if not files:
        return {}
    libraries = [_library(unit, path) for path in options.libraries]
    request = {
        "root": str(unit.root),
        "size": unit.context.limits.input_file_bytes,
        "memory": unit.context.limits.rendering_bytes,
        "files": list(map(str, files)),
        # Later libraries win; the folder of the source is asked last.
        "search": [*reversed(libraries), str(unit.folder)],
        "ext_vars": _variables(unit, options.variables, code=False),
        "ext_codes": _variables(unit, options.variables, code=True),
        "tla_vars": _variables(unit, options.arguments, code=False),
        "tla_codes": _variables(unit, options.arguments, code=True),
    }
    answers = _asked(unit, request)
    found = {}
    for path, answer in zip(files, answers, strict=True):
        name = os.path.relpath(path, unit.folder)
        found[path] = _objects(answer, name, unit)
        report_read(unit, answer["imports"])
    return found


def _variables(unit: Unit, given: tuple[JsonnetVariable, ...], *, code: bool) -> dict[str, str]:
    return {one.name: unit.environment.substitute(one.value) for one in given if one.code == code}


def _library(unit: Unit, path: str) -> str:
    folder = Path(os.path.normpath(unit.root / path.lstrip("/")))
    if not folder.is_relative_to(unit.root) or not is_within(folder, unit.root):
        raise PolicyError(
            "CMD-ARGO-408", f"the Jsonnet library {path!r} leads out of its repository", hint="name a folder within it"
        )
    return str(folder)


def _asked(unit: Unit, request: dict[str, Any]) -> list[dict[str, Any]]:
    seconds = unit.context.limits.argocd_source_seconds
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", _WORKER],
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=seconds,
            check=False,
            cwd=unit.scratch,
            env=child_environment(Child.PYTHON),
        )
    except subprocess.TimeoutExpired:
        raise takes_too_long("Jsonnet", seconds) from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError(
            "CMD-ARGO-404",
            f"Jsonnet fails: {printable_lines(said[-1]) if said else f'exit code {done.returncode}'}",
            hint="it may have used up stack or memory; look for endless recursion, or raise "
            "rendering_bytes with COMMODORE_LIMITS",
        )
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def _objects(answer: dict[str, Any], name: str, unit: Unit) -> list[Any]:
    if "outside" in answer:
        raise PolicyError(
            "CMD-ARGO-408",
            f"{name} imports {answer['outside']!r}, which is outside of the repository",
            hint="import files of the repository",
        )
    if "error" in answer:
        said = answer["error"].replace(f"{unit.root}/", "")
        raise InputError("CMD-ARGO-404", f"{name} does not evaluate: {printable_lines(said)}", hint="see what it says")
    value = read_json(answer["value"], place=name)
    found = value if isinstance(value, list) else [value]
    if not all(isinstance(one, dict) for one in found):
        raise InputError(
            "CMD-ARGO-404", f"{name} is neither an object nor a list of objects", hint="give manifests, as objects"
        )
    return found
