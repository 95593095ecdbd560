"""Inputs of Jsonnet files that Kapitan compiles: imports, native functions, the inventory. Runs in workers only.

Imports are searched as Kapitan does; files are read once, YAML with a fast parser; all inputs are recorded.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from typing import Any

import jinja2
import jsonschema
import kapitan
import referencing
from jsonschema_specifications import REGISTRY as SPECIFICATIONS
from kapitan import resources
from kapitan.errors import CompileError

from commodore.base import yaml as manifests
from commodore.base.errors import PolicyError
from commodore.core.confinement import is_absent
from commodore.core.engine.jsonnet import go as _jsonnet
from commodore.core.engine.jsonnet import lazy_inventory as _lazy_inventory
from commodore.core.engine.kapitan import templates
from commodore.core.engine.kapitan.context import CurrentWork, SearchPaths, current

_PACKAGE = os.path.dirname(kapitan.__file__)
_LIBRARY = os.path.join(_PACKAGE, "lib", "kapitan.libjsonnet")

# Native functions whose result depends on their arguments only.
_PURE = ("yaml_dump", "yaml_dump_stream", "sha256_string", "gzip_b64")


def _read_first(search: SearchPaths, name: str) -> tuple[str, bytes] | None:
    """Read the first file of a name in the search paths, once: the recorded bytes are the used ones."""
    reads, confinement = current().reads, current().confinement
    paths = [os.path.join(folder, name) for folder in search.for_name(name)]
    for path in filter(confinement.is_open, paths):
        try:
            content = confinement.read(path)
        except OSError as error:
            if not is_absent(error):
                raise
            reads.absent(path)
        else:
            reads.file(path, content)
            return path, content
    confinement.explain_missing(paths)
    return None


def _read_yaml(search: SearchPaths, name: str) -> tuple[str, bytes]:
    if not name.endswith((".yml", ".yaml")):
        raise FileNotFoundError(f"{name!r} does not end in .yml or .yaml")
    file = _read_first(search, name)
    if file is None:
        raise FileNotFoundError(f"there is no file {name!r} in the search paths")
    return file


def _yaml_load(search: SearchPaths, name: str) -> str:
    path, content = _read_yaml(search, name)
    return json.dumps(manifests.load(content, place=path))


def _yaml_load_stream(search: SearchPaths, name: str) -> str:
    path, content = _read_yaml(search, name)
    return json.dumps(manifests.load_all(content, place=path))


def _read_file(search: SearchPaths, name: str) -> str:
    """Replace Kapitan's `read_file`: return the text with its own line ends."""
    file = _read_first(search, name)
    if file is None:
        raise OSError(f"Could not find file {name}")
    return _text(file[1])


def evaluate(path: str, *, import_callback: Any, native_callbacks: Any, ext_vars: Any) -> str:
    work = current()
    text = _jsonnet.read_source(path, work.confinement, work.reads.jsonnet)
    return work.evaluator.evaluate(path, text, importer=import_callback, natives=native_callbacks, ext_vars=ext_vars)


def native_functions(search: SearchPaths) -> dict[str, Any]:
    """Return Kapitan's native functions. Some are replaced by faster ones, or ones that use this run's `compiled/`. All
    functions record the files they read.
    """
    known = resources.resource_callbacks(search)
    ours = _Natives(search, current()).table()
    others = {
        name: function if name in _PURE else _refused(name, function)
        for name, function in known.items()
        if name not in ours
    }
    return {**others, **ours}


Native = tuple[Any, Callable[..., Any]]
"""The names of a native function's parameters, and the function."""


def _refused(name: str, function: Native) -> Native:
    """Wrap a function with unknown inputs, so that the result is not stored."""
    reads = current().reads

    def call(*arguments: Any) -> Any:
        reads.refuse(f"the function {name} of Kapitan")
        return function[1](*arguments)

    return function[0], call


class _Natives:
    """The native functions that replace Kapitan's."""

    def __init__(self, search: SearchPaths, work: CurrentWork) -> None:
        self._search = search
        self._inventory = work.inventory
        self._reads = work.reads
        self._confinement = work.confinement
        self._lazy = _lazy_inventory.LazyInventory(work.inventory, work.instance, work.reads)

    def table(self) -> dict[str, Native]:
        """Return the functions by name."""
        search, reads, on_paths = self._search, self._reads, self._on_search_paths
        return {
            **self._lazy.natives(),
            "inventory": (("target", "inv_path"), self._read_inventory),
            "yaml_load": (("name",), lambda name: _yaml_load(search, name)),
            "yaml_load_stream": (("name",), lambda name: _yaml_load_stream(search, name)),
            "file_read": (("name",), lambda name: _read_file(search, name)),
            "file_exists": (("name",), on_paths(self._file_exists, reads.kind)),
            "dir_files_list": (("name",), on_paths(_list_files, reads.tree)),
            "dir_files_read": (("name",), on_paths(self._read_files, reads.tree)),
            "jsonschema_validate": (("obj", "schema_obj"), _validate),
            "jinja2_render_file": (("name", "ctx"), on_paths(self._render_template, reads.file)),
        }

    def _on_search_paths(self, function: Callable[..., Any], note: Callable[[str], object]) -> Callable[..., Any]:
        def call(name: str, *arguments: Any) -> Any:
            paths = [os.path.join(folder, name) for folder in self._search.for_name(name)]
            within = [path for path in paths if self._confinement.is_open(path)]
            match = next(filter(self._confinement.exists, within), None)
            if match is None:
                self._confinement.explain_missing(paths)
            elif os.path.isdir(match):
                self._confinement.check_tree(match)
            for path in within:
                note(path)
            result = function(name, match, *arguments)
            for path in within:  # recorded again: a change in between shows as two digests
                note(path)
            return result

        return call

    def _file_exists(self, _name: str, path: str | None) -> Any:
        self._reads.location()  # as the result has the path
        return {"exists": path is not None, "path": path or ""}

    def _read_files(self, _name: str, path: str | None) -> dict[str, str] | None:
        """Replace Kapitan's `dir_files_read`: null without the folder."""
        if path is None:
            return None
        return {name: _text(self._confinement.read(os.path.join(path, name))) for name in _files(path)}

    def _render_template(self, name: str, path: str | None, context: str) -> str:
        self._reads.refuse(f"the Jinja2 template {name}")
        if path is None:
            raise FileNotFoundError(f"there is no template {name!r} in the search paths")
        try:
            return templates.render_file(path, json.loads(context), search_paths=self._search)
        except jinja2.TemplateError as error:
            raise CompileError(f"Jsonnet jinja2 failed to render {path}: {error}") from error

    def _read_inventory(self, target: str | None, _path: str | None) -> Any:
        if target:
            self._reads.value(target, self._inventory.node(target))
            self._reads.settings(target)
            return self._inventory.view(target)
        self._reads.everything({name: self._inventory.node(name) for name in self._inventory.names()})
        return self._inventory.inventory


def _validate(value: str, schema: str) -> dict[str, Any]:
    """Replace Kapitan's `jsonschema_validate`. A schema may refer to itself and to the published meta-schemas only."""
    references: list[str] = []

    def refuse(uri: str) -> referencing.Resource[Any]:
        references.append(uri)
        raise LookupError(uri)

    known = SPECIFICATIONS.combine(referencing.Registry(retrieve=refuse))  # type: ignore[call-arg]
    instance, described = json.loads(value), json.loads(schema)
    try:
        jsonschema.validate(instance, described, format_checker=jsonschema.FormatChecker(), registry=known)
    except jsonschema.ValidationError as error:
        return {"valid": False, "reason": str(error)}
    except Exception as error:
        if not references:
            raise
        raise PolicyError(
            "CMD-CONF-005",
            f"a JSON schema refers to {references[0]}, and nothing is fetched while rendering",
            hint="put the referenced schema into this one, under $defs",
        ) from error
    return {"valid": True, "reason": ""}


def _list_files(name: str, path: str | None) -> list[str]:
    if path is None:
        raise OSError(f"Could not find folder {name}")
    return sorted(_files(path))


def _files(folder: str) -> list[str]:
    """Return the names of the files in a folder, in the folder's own order."""
    return [name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name))]


def _text(content: bytes) -> str:
    """Decode a file's text with its own line ends."""
    return io.TextIOWrapper(io.BytesIO(content), newline="").read()


def search_import(folder: str, name: str, search: SearchPaths) -> tuple[str, bytes]:
    """Find the file of an import: in the importing file's folder, in Kapitan's package, in the search paths."""
    imported, reads, confinement = current().imported, current().reads, current().confinement
    folders = (folder, _PACKAGE, *search.for_name(name))
    paths = [os.path.normpath(os.path.join(candidate, name)) for candidate in folders]
    for path in paths:
        if path in imported:
            return path, imported[path]
        if not confinement.is_open(path):
            continue
        content = _jsonnet.find_text(path, confinement, reads.jsonnet)
        if content is not None:
            if path == _LIBRARY:
                content = _lazy_inventory.override(content)
            if not path.startswith(search.workplace):  # files rendered by this run may still change
                imported[path] = content
            return path, content
        reads.absent(path)
    confinement.explain_missing(paths, "import")
    raise _jsonnet.JsonnetError(f"cannot find the import {name!r}")
