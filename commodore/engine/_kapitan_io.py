"""What Kapitan's inputs read and write goes through here. Runs in workers only.

Replaced, by setting names in Kapitan's modules once per worker: the writing of files (fast emitter, confined to the
instance's folder), the reading of YAML (libyaml), Jsonnet's native functions and imports (order, causes of errors), the
rendering of charts (Kapitan changes its own defaults and the caller's parameters), and the running of commands (their
error output becomes the message).
"""

from __future__ import annotations

import builtins
import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kapitan
import yaml
from kapitan import resources
from kapitan.inputs import base, cuelang, external, helm, jinja2, jsonnet, kustomize
from kapitan.inputs.base import CompiledFile, CompilingFile
from kapitan.utils import PrettyDumper

from commodore import manifests
from commodore.engine import _jsonnet, _lazy_inventory
from commodore.engine._confine import Confinement
from commodore.engine._kapitan_inventory import RenderedInventory
from commodore.errors import InputError, PolicyError
from commodore.limits import Limits

_STYLES: dict[str, manifests.MultilineStyle] = {
    "literal": "literal",
    "folded": "folded",
    "double-quotes": "double-quotes",
}


_PACKAGE = os.path.dirname(kapitan.__file__)
_LIBRARY = os.path.join(_PACKAGE, "lib", "kapitan.libjsonnet")


class CommandError(Exception):
    """A command that Kapitan ran has failed.

    Args:
        status: its exit code, negative for a signal.
        stderr: what it said.
    """

    def __init__(self, status: int, stderr: str) -> None:
        super().__init__(stderr)
        self.status = status
        self.stderr = stderr


class SearchPaths(list[str]):
    """Kapitan's list of search paths, ending with the folder that holds this run's `compiled`.

    Names below `compiled/` are looked up in that folder alone: `compiled` of an earlier run may lie in a search path.
    """

    def __init__(self, folders: Iterable[str], workplace: str) -> None:
        super().__init__([*folders, workplace])
        self.workplace = workplace

    def for_name(self, name: str) -> list[str]:
        """The folders in which `name` is looked up."""
        if not os.path.isabs(name) and os.path.normpath(name).split(os.sep)[0] == "compiled":
            return [self.workplace]
        return list(self)


@dataclass(frozen=True, slots=True)
class _Work:
    """What the worker works on."""

    inventory: RenderedInventory
    confinement: Confinement
    instance: str
    imported: dict[str, bytes]
    limits: Limits


_current: list[_Work] = []


@contextlib.contextmanager
def working(inventory: RenderedInventory, confinement: Confinement, instance: str, limits: Limits) -> Iterator[None]:
    """While this lasts, Kapitan's inputs read and write for this instance."""
    _current.append(_Work(inventory, confinement, instance, {}, limits))
    try:
        yield
    finally:
        _current.pop()


def install() -> None:
    """Put the replacements into Kapitan's modules. Doing it twice changes nothing."""
    base.CompiledFile = jinja2.CompiledFile = _ConfinedFile
    base.CompilingFile = _Writer
    jsonnet.resource_callbacks = _native_functions
    jsonnet.search_imports = _search_import
    jsonnet.select_jsonnet_runtime = lambda _use_go: SimpleNamespace(evaluate_file=_evaluate_jsonnet)
    helm.yaml = SimpleNamespace(safe_load_all=_load_all)
    helm.render_chart = _render_chart
    helm.write_helm_values_file = _write_helm_values
    kustomize.yaml = SimpleNamespace(safe_load_all=_load_all, safe_load=_load, dump=yaml.dump)
    for module in (kustomize, cuelang):
        module.open = _open_confined
    external.subprocess = SimpleNamespace(run=_run_external, PIPE=subprocess.PIPE)


# Writing


class _ConfinedFile(CompiledFile):  # type: ignore[misc]
    """A file that an input writes; refused if it lies outside of the instance's folder."""

    def __enter__(self) -> Any:
        _current[-1].confinement.check(self.name)
        return super().__enter__()


def _open_confined(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
    """`open` for the inputs that write without Kapitan's writer: objects' names become file names there."""
    if mode != "r":
        _current[-1].confinement.check(path)
    return builtins.open(path, mode, *args, **kwargs)


class _Writer(CompilingFile):  # type: ignore[misc]
    """Kapitan's writer with a fast path for YAML (spec c 8.6)."""

    def write_yaml(self, obj: Any) -> None:
        work = _current[-1]
        name = work.confinement.describe(self.fp.name)
        style = work.inventory.node(work.instance)["parameters"].get("multiline_string_style") or "literal"
        if mentions_reference(obj):
            if self.kwargs.get("reveal"):
                obj = self.revealer.reveal_obj(obj)
            else:
                obj = self.revealer.compile_obj(obj, target_name=work.instance)
        if not obj:
            return
        if isinstance(obj, tuple):
            obj = list(obj)
        if not isinstance(obj, Mapping | list):
            raise InputError(
                "CMD-ENG-012",
                f"the output {name!r} is a {_kind(obj)}; expected an object or an array of objects",
                hint="use output_type: plain for text",
            )
        text = _as_yaml(obj, style)
        if len(text) > work.limits.output_file_bytes:
            raise PolicyError(
                "CMD-ENG-013",
                f"the output {name!r} is larger than {work.limits.output_file_bytes} bytes",
                hint="split it into several files",
            )
        self.fp.write(text)


def mentions_reference(obj: Any) -> bool:
    """Whether any string in a value may hold a reference; most outputs hold none."""
    if isinstance(obj, str):
        return "?{" in obj
    if isinstance(obj, dict):
        return any(mentions_reference(value) for value in obj.values())
    return isinstance(obj, list) and any(mentions_reference(value) for value in obj)


def _as_yaml(obj: Mapping[str, Any] | list[Any], style: str) -> str:
    try:
        if style in _STYLES:
            known = _STYLES[style]
            return manifests.dump_stream(obj, known) if isinstance(obj, list) else manifests.dump(obj, known)
    except InputError as error:
        if error.code != "CMD-YAML-002":
            raise
        # A type that only Kapitan's own dumper knows, from a kadet module.
    dump = yaml.dump_all if isinstance(obj, list) else yaml.dump
    try:
        return str(dump(obj, Dumper=PrettyDumper.get_dumper_for_style(style), indent=2, default_flow_style=False))
    except yaml.representer.RepresenterError as error:
        raise InputError(
            "CMD-ENG-012", f"the output holds a {_kind(error.args[-1])}, which YAML has no form for"
        ) from error


def _kind(value: Any) -> str:
    names: dict[type, str] = {str: "string", bool: "boolean", int: "number", float: "number"}
    return names.get(type(value), type(value).__name__)


# Reading


def _place(stream: Any) -> str:
    """What errors call a stream: a file of a rendered chart without the temporary folder it lies in."""
    name = getattr(stream, "name", "the command's output")
    with contextlib.suppress(ValueError):
        return str(Path(*Path(name).relative_to(tempfile.gettempdir()).parts[1:]))
    return str(name)


def _load_all(stream: Any) -> list[Any]:
    text = stream if isinstance(stream, str) else stream.read()
    return manifests.load_all(text, place=_place(stream))


def _load(stream: Any) -> Any:
    return manifests.load(stream.read(), place=_place(stream))


def _find_yaml(search: SearchPaths, name: str) -> str:
    if not name.endswith((".yml", ".yaml")):
        raise FileNotFoundError(f"{name!r} does not end in .yml or .yaml")
    for folder in search.for_name(name):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"there is no file {name!r} in the search paths")


def _yaml_load(search: SearchPaths, name: str) -> str:
    path = _find_yaml(search, name)
    return json.dumps(manifests.load(Path(path).read_bytes(), place=path))


def _yaml_load_stream(search: SearchPaths, name: str) -> str:
    path = _find_yaml(search, name)
    return json.dumps(manifests.load_all(Path(path).read_bytes(), place=path))


# Jsonnet


def _evaluate_jsonnet(path: str, *, import_callback: Any, native_callbacks: Any, ext_vars: Any) -> str:
    return _jsonnet.evaluate_file(path, importer=import_callback, natives=native_callbacks, ext_vars=ext_vars)


def _native_functions(search: SearchPaths) -> dict[str, Any]:
    """Kapitan's native functions, of which some read faster or find `compiled/` where this run has put it."""

    def with_search(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda name, *arguments: function(search.for_name(name), name, *arguments)

    def sorted_list(folders: list[str], name: str) -> list[str]:
        return sorted(resources.dir_files_list(folders, name))

    inventory = _current[-1].inventory

    def read_inventory(target: str | None, _path: str | None) -> Any:
        return inventory.view(target) if target else inventory.inventory

    return {
        **resources.resource_callbacks(search),
        **_lazy_inventory.natives(inventory),
        "inventory": (("target", "inv_path"), read_inventory),
        "yaml_load": (("name",), lambda name: _yaml_load(search, name)),
        "yaml_load_stream": (("name",), lambda name: _yaml_load_stream(search, name)),
        "file_read": (("name",), with_search(resources.read_file)),
        "file_exists": (("name",), with_search(resources.file_exists)),
        "dir_files_list": (("name",), with_search(sorted_list)),
        "dir_files_read": (("name",), with_search(resources.dir_files_read)),
        "jinja2_render_file": (("name", "ctx"), with_search(resources.jinja2_render_file)),
    }


def _search_import(folder: str, wanted: str, search: SearchPaths) -> tuple[str, bytes]:
    """The file of an import: beside the importing file, in Kapitan's package, in the search paths (spec c 8.7)."""
    imported = _current[-1].imported
    for candidate_folder in (folder, _PACKAGE, *search.for_name(wanted)):
        path = os.path.normpath(os.path.join(candidate_folder, wanted))
        if path in imported:
            return path, imported[path]
        if os.path.exists(path):
            content = _jsonnet.read_text(Path(path))
            if path == _LIBRARY:
                content = _lazy_inventory.override(content)
            if not path.startswith(search.workplace):  # what this run renders may still change
                imported[path] = content
            return path, content
    raise _jsonnet.JsonnetError(f"cannot find the import {wanted!r}")


# Commands


_original_render_chart = helm.render_chart


def _render_chart(
    chart_dir: str,
    output_path: str,
    helm_path: str | None,
    helm_params: dict[str, Any],
    helm_values_file: str | None,
    helm_values_files: list[str] | None,
    helm_flags: dict[str, Any] | None = None,
) -> Any:
    """Kapitan's function, with copies of what it changes: its default flags and the entry's parameters."""
    name = helm_params.get("name", helm_params.get("release_name"))
    if isinstance(name, str) and name.startswith("-"):
        raise PolicyError("CMD-ENG-014", f"helm_params.name is {name!r}, which helm would read as an option")
    if "output_file" in helm_params:
        _current[-1].confinement.check(os.path.join(output_path, str(helm_params["output_file"])))
    flags = dict(helm.HELM_DEFAULT_FLAGS if helm_flags is None else helm_flags)
    return _original_render_chart(
        chart_dir, output_path, helm_path, dict(helm_params), helm_values_file, helm_values_files, flags
    )


class _HelmValuesDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Kapitan's quoting of values, without changing PyYAML's dumper for everybody else."""


_HelmValuesDumper.add_representer(str, helm._helm_str_representer)


def _write_helm_values(values: dict[str, Any]) -> str:
    handle, path = tempfile.mkstemp(".helm_values.yml", text=True)
    with os.fdopen(handle, "w") as file:
        yaml.dump(values, file, Dumper=_HelmValuesDumper)
    return path


def _run_external(command: str, **kwargs: Any) -> Any:
    """`subprocess.run` for `external`: a failure carries the error output alone, without the environment's values."""
    result = subprocess.run(command, **kwargs)
    if result.returncode != 0:
        raise CommandError(result.returncode, result.stderr)
    return result
