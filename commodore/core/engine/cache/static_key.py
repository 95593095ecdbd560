"""Inputs that are fixed before an instance is rendered: the program, the instance's name, its
settings, search paths.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import sys
import zlib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from commodore.base.files.tree import files
from commodore.core.engine.cache.portable_paths import PortablePaths, value_digest
from commodore.core.engine.tasks import BatchRun
from commodore.version import __version__

_PACKAGE = Path(__file__).resolve().parents[3]
_ROOMS = (
    *("core/engine", "core/render", "core/sources/fetching"),
    *("base/programs/workers", "base/yaml", "base/kubernetes", "lib", "scripts"),
)
_LIBRARIES = (
    "kapitan",
    "gojsonnet",
    "PyYAML",
    "Jinja2",
    "GitPython",
    "reclass-rs",
    "pydantic",
    "jsonschema",
)
_FORMAT = 2
_VARIABLES = ("HELM_", "KAPITAN_", "KUSTOMIZE_", "XDG_CONFIG_HOME")
WRAPPER = _PACKAGE / "scripts" / "run-kustomize"
OBSERVED_INPUTS = ("jsonnet", "helm", "copy", "remove", "external")
"""Input types whose file accesses are all recorded; of `external`, only if the command is the wrapper."""


@functools.cache
def installed() -> tuple[Path, ...]:
    """Return the folders of this program and of Kapitan, whose files are part of `program_digest`."""
    kapitan = importlib.util.find_spec("kapitan")
    return (_PACKAGE, *(Path(place) for place in (kapitan and kapitan.submodule_search_locations) or ()))


@functools.cache
def program_digest() -> str:
    """Return the identity of this program: its version, the files that affect rendering, and the metadata of libraries,
    which contains their versions and is not parsed.
    """
    hasher = hashlib.sha256(__version__.encode() + (_PACKAGE / "base" / "files" / "tree.py").read_bytes())
    for room in _ROOMS:
        for name, path in files(_PACKAGE / room, skip=lambda entry: entry.name == "__pycache__", links=True):
            hasher.update(f"{room}/{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    for library in _LIBRARIES:
        try:
            described = metadata.distribution(library).read_text("METADATA") or metadata.version(library)
        except metadata.PackageNotFoundError:  # uncovered: not every library has a wheel for every machine
            described = "none"
        hasher.update(f"{library} {described}\0".encode())
    hasher.update(f"{sys.version} {zlib.ZLIB_RUNTIME_VERSION}".encode())
    return hasher.hexdigest()


def subject_of(run: BatchRun, instance: str, places: PortablePaths, *, fetched: bool) -> str:
    """Return the subject of an instance's results. It contains neither parameters nor working directories: clusters
    with the same instance share the subject, and results if their inputs are the same.

    Args:
        fetched: whether the run fetches dependencies for the instance; if not, their files are inputs.
    """
    request, job = run.request, run.jobs[instance]
    fixed = {
        "format": _FORMAT,
        "program": program_digest(),
        "instance": instance,
        "component": job.component,
        "reveal": request.reveal_fake,
        "near hosts": request.near_hosts,
        "policy": request.policy.rights(job.component) if request.policy is not None else None,
        "allowed": sorted(request.allowed),
        "fetched": fetched,
        "layout": places.layout,
        "search": [places.portable(str(folder)) for folder in request.search_paths],
        "filters": [places.portable(str(folder)) for folder in request.filter_search_paths],
        "environment": sorted(
            (k, _below_home(places.portable(v), run)) for k, v in run.environment.items() if _counts(k)
        ),
    }
    return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()


def _counts(variable: str) -> bool:
    """Check if the tools of an instance read a variable."""
    return variable.startswith(_VARIABLES)


def _below_home(value: str, run: BatchRun) -> str:
    """Replace the home folder in a path: it differs between machines, and no tool writes it to its output."""
    home = os.path.normpath(run.environment.get("HOME") or os.sep)
    return f"~{value[len(home) :]}" if home != os.sep and value.startswith(home + os.sep) else value


def settings_digest(node: Mapping[str, Any], places: PortablePaths) -> str:
    """Return the digest of an instance's settings (`parameters.kapitan`), with portable paths.

    Only paths of inputs and outputs are converted: a template may write other ones to its output.
    """
    settings = node["parameters"].get("kapitan")
    if not isinstance(settings, dict):
        return value_digest(settings)
    changed = dict(settings)
    if isinstance(settings.get("compile"), list):
        changed["compile"] = [_entry(entry, places) for entry in settings["compile"]]
    if isinstance(settings.get("dependencies"), list):
        changed["dependencies"] = [_portable(entry, ("output_path",), places) for entry in settings["dependencies"]]
    return value_digest(changed)


def _entry(entry: Any, places: PortablePaths) -> Any:
    keys = ["input_paths", "output_path"]
    if isinstance(entry, dict) and entry.get("input_paths") == [str(WRAPPER)]:
        keys += ["args", "env_vars"]  # kustomize does not write paths of its inputs
    return _portable(entry, keys, places)


def _portable(entry: Any, keys: Any, places: PortablePaths) -> Any:
    if not isinstance(entry, dict):
        return entry
    return {key: _deep(value, places) if key in keys else value for key, value in entry.items()}


def _deep(value: Any, places: PortablePaths) -> Any:
    if isinstance(value, str):
        return places.portable(value)
    if isinstance(value, list):
        return [_deep(item, places) for item in value]
    if isinstance(value, dict):
        return {key: _deep(item, places) for key, item in value.items()}
    return value
