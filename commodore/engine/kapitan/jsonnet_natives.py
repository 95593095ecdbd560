"""What Jsonnet files read while Kapitan compiles them: imports, native functions, the inventory. Runs in workers only.

Imports are searched as Kapitan does; files are read once and YAML quickly; all that is read is noted.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kapitan
from kapitan import resources

from commodore import manifests
from commodore.engine.jsonnet import go as _jsonnet
from commodore.engine.jsonnet import lazy_inventory as _lazy_inventory
from commodore.engine.kapitan.context import SearchPaths, Work, current

_PACKAGE = os.path.dirname(kapitan.__file__)
_LIBRARY = os.path.join(_PACKAGE, "lib", "kapitan.libjsonnet")

# Native functions whose result depends on their arguments alone.
_PURE = ("yaml_dump", "yaml_dump_stream", "sha256_string", "gzip_b64")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def _read_first(search: SearchPaths, name: str) -> tuple[str, bytes] | None:
    """The first file of a name in the search paths, read once: the bytes that are noted are those that are used."""
    reads = current().reads
    for folder in search.for_name(name):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            content = Path(path).read_bytes()
            reads.file(path, content)
            return path, content
        reads.absent(path)
    return None


def _read_yaml(search: SearchPaths, name: str) -> tuple[str, bytes]:
    if not name.endswith((".yml", ".yaml")):
        raise FileNotFoundError(f"{name!r} does not end in .yml or .yaml")
    found = _read_first(search, name)
    if found is None:
        raise FileNotFoundError(f"there is no file {name!r} in the search paths")
    return found


def _yaml_load(search: SearchPaths, name: str) -> str:
    path, content = _read_yaml(search, name)
    return json.dumps(manifests.load(content, place=path))


def _yaml_load_stream(search: SearchPaths, name: str) -> str:
    path, content = _read_yaml(search, name)
    return json.dumps(manifests.load_all(content, place=path))


def _read_file(search: SearchPaths, name: str) -> str:
    """Kapitan's `read_file`: the text with its own line ends."""
    found = _read_first(search, name)
    if found is None:
        raise OSError(f"Could not find file {name}")
    return io.TextIOWrapper(io.BytesIO(found[1]), newline="").read()


def evaluate(path: str, *, import_callback: Any, native_callbacks: Any, ext_vars: Any) -> str:
    work = current()
    text = _jsonnet.read_source(Path(path), work.reads.jsonnet)
    return work.evaluator.evaluate(path, text, importer=import_callback, natives=native_callbacks, ext_vars=ext_vars)


def native_functions(search: SearchPaths) -> dict[str, Any]:
    """Kapitan's native functions, of which some read faster or find `compiled/` where this run has put it. All that
    read note what they read.
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
    """A function of which it is not known what it reads."""
    reads = current().reads

    def call(*arguments: Any) -> Any:
        reads.refuse(f"the function {name} of Kapitan")
        return function[1](*arguments)

    return function[0], call


class _Natives:
    """Those native functions that are ours."""

    def __init__(self, search: SearchPaths, work: Work) -> None:
        self._search = search
        self._inventory = work.inventory
        self._reads = work.reads
        self._lazy = _lazy_inventory.LazyInventory(work.inventory, work.instance, work.reads)

    def table(self) -> dict[str, Native]:
        """The functions by name."""
        search, reads, on_paths = self._search, self._reads, self._on_search_paths
        return {
            **self._lazy.natives(),
            "inventory": (("target", "inv_path"), self._read_inventory),
            "yaml_load": (("name",), lambda name: _yaml_load(search, name)),
            "yaml_load_stream": (("name",), lambda name: _yaml_load_stream(search, name)),
            "file_read": (("name",), lambda name: _read_file(search, name)),
            "file_exists": (("name",), on_paths(self._file_exists, reads.kind)),
            "dir_files_list": (("name",), on_paths(_sorted_list, reads.tree)),
            "dir_files_read": (("name",), on_paths(resources.dir_files_read, reads.tree)),
            "jsonschema_validate": (("obj", "schema_obj"), self._validate),
            "jinja2_render_file": (("name", "ctx"), on_paths(self._render_template, reads.file)),
        }

    def _on_search_paths(self, function: Callable[..., Any], note: Callable[[str], object]) -> Callable[..., Any]:
        def call(name: str, *arguments: Any) -> Any:
            folders = self._search.for_name(name)
            for folder in folders:
                note(os.path.join(folder, name))
            found = function(folders, name, *arguments)
            for folder in folders:  # once more: it may have changed meanwhile
                note(os.path.join(folder, name))
            return found

        return call

    def _file_exists(self, folders: list[str], name: str) -> Any:
        self._reads.location()  # as it tells the path, too
        return resources.file_exists(folders, name)

    def _render_template(self, folders: list[str], name: str, context: str) -> Any:
        self._reads.refuse(f"the Jinja2 template {name}")
        return resources.jinja2_render_file(folders, name, context)

    def _validate(self, value: str, schema: str) -> Any:
        if _leads_elsewhere(json.loads(schema)):
            self._reads.refuse("a schema that refers to another file")
        return resources.jsonschema_validate(value, schema)

    def _read_inventory(self, target: str | None, _path: str | None) -> Any:
        if target:
            self._reads.value(target, self._inventory.node(target))
            self._reads.settings(target)
            return self._inventory.view(target)
        self._reads.everything({name: self._inventory.node(name) for name in self._inventory.names()})
        return self._inventory.inventory


def _sorted_list(folders: list[str], name: str) -> list[str]:
    return sorted(resources.dir_files_list(folders, name))


def _leads_elsewhere(schema: Any) -> bool:
    """Whether a JSON schema refers to anything but itself."""
    if isinstance(schema, dict):
        names = [schema[key] for key in _REFERENCES if key in schema]
        return any(not str(name).startswith("#") for name in names) or any(map(_leads_elsewhere, schema.values()))
    return isinstance(schema, list) and any(map(_leads_elsewhere, schema))


def search_import(folder: str, wanted: str, search: SearchPaths) -> tuple[str, bytes]:
    """The file of an import: beside the importing file, in Kapitan's package, in the search paths."""
    imported, reads = current().imported, current().reads
    for candidate_folder in (folder, _PACKAGE, *search.for_name(wanted)):
        path = os.path.normpath(os.path.join(candidate_folder, wanted))
        if path in imported:
            return path, imported[path]
        if os.path.exists(path):
            content = _jsonnet.read_text(Path(path), reads.jsonnet)
            if path == _LIBRARY:
                content = _lazy_inventory.override(content)
            if not path.startswith(search.workplace):  # what this run renders may still change
                imported[path] = content
            return path, content
        reads.absent(path)
    raise _jsonnet.JsonnetError(f"cannot find the import {wanted!r}")
