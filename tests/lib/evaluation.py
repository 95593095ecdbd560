"""Evaluates Jsonnet against the libraries that are shipped, with natives as components and as filters have them."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import _gojsonnet
import yaml

from commodore.core.engine.cache.portable_paths import PortablePaths
from commodore.core.engine.cache.trace import TraceRecorder
from commodore.core.engine.jsonnet.lazy_inventory import LazyInventory, NodeView

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "commodore"
# What expressions can use, see prelude.libsonnet.
PRELUDE = "local prelude = import 'prelude.libsonnet';\n" + "".join(
    f"local {name} = prelude.{name};\n"
    for name in ("com", "kube", "full", "unchecked", "deployment", "workload", "cronjob", "unnamedPort")
)

Natives = dict[str, tuple[tuple[str, ...], Callable[..., Any]]]


def kapitan_folder() -> Path:
    """The folder of the Kapitan package, found without importing it."""
    spec = importlib.util.find_spec("kapitan")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0])


def compile_natives(root: Path, inventory: Mapping[str, Any]) -> Natives:
    """Those of Kapitan's natives that the libraries use, on files below `root`."""

    def find(name: str) -> Path:
        path = root / name
        if not path.exists():
            raise OSError(f"no such file: {name}")
        return path

    return {
        **lazy_natives(inventory),
        "inventory": (("target", "inv_path"), lambda _target, _path: inventory),
        "yaml_load": (("name",), lambda name: json.dumps(yaml.safe_load(find(name).read_text()))),
        "yaml_load_stream": (("name",), lambda name: json.dumps(list(yaml.safe_load_all(find(name).read_text())))),
        "dir_files_list": (("name",), lambda name: unsorted_files(find(name))),
    }


def lazy_natives(inventory: Mapping[str, Any]) -> Natives:
    """Those behind the inventory that is read field by field."""
    reads = TraceRecorder("inst", PortablePaths({}, ()), None)
    return LazyInventory(NodeView("inst", inventory), "inst", reads).natives()


def filter_natives(inventory: Mapping[str, Any]) -> Natives:
    """The natives of postprocessing filters."""
    return {
        **lazy_natives(inventory),
        "commodore_inventory": ((), lambda: inventory),
        "yaml_load": (("file",), lambda file: yaml.safe_load(Path(file).read_text())),
        "yaml_load_all": (("file",), lambda file: list(yaml.safe_load_all(Path(file).read_text()))),
        "list_dir": (("dir", "basename"), lambda folder, basename: unsorted_files(Path(folder))),
    }


def unsorted_files(folder: Path) -> list[str]:
    """The names of the files in `folder`, in an order that nobody would expect."""
    return sorted((path.name for path in folder.iterdir() if path.is_file()), reverse=True)


def importer(*folders: Path) -> Callable[[str, str], tuple[str, bytes]]:
    """An import callback: next to the importing file first, then in `folders`."""

    def find(base: str, name: str) -> tuple[str, bytes]:
        for folder in (base, *map(str, folders)):
            path = os.path.normpath(os.path.join(folder, name))
            if os.path.isfile(path):
                return path, Path(path).read_bytes()
        raise RuntimeError(f"no library {name}")

    return find


def in_compile(expression: str, root: Path | None = None, parameters: Mapping[str, Any] | None = None) -> Any:
    """The value of `expression` as a component would get it."""
    return evaluate(
        expression,
        importer(kapitan_folder(), PACKAGE, HERE),
        compile_natives(root or Path(), {"parameters": parameters or {}}),
    )


def in_filter(expression: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """The value of `expression` as a filter would get it: without Kapitan's library and natives."""
    return evaluate(expression, importer(PACKAGE, HERE), filter_natives({"parameters": parameters or {}}))


def evaluate(expression: str, find: Callable[[str, str], tuple[str, bytes]], natives: Natives) -> Any:
    text = _gojsonnet.evaluate_snippet(
        "expression",
        PRELUDE + expression,
        ext_vars={"target": "inst"},
        import_callback=find,
        native_callbacks=natives,
    )
    return json.loads(text)
