"""Filters of type `jsonnet`: a file of the component, evaluated over the instance's rendered files."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.base import yaml as manifests
from commodore.base.context import Context
from commodore.base.errors import InputError
from commodore.core.confinement import Confinement
from commodore.core.engine.cache.partial_results import PartialResult, Parts
from commodore.core.engine.cache.trace import TraceRecorder
from commodore.core.engine.jsonnet.evaluator import Evaluator
from commodore.core.engine.jsonnet.go import Importer, JsonnetError, Natives, find_text, read_source
from commodore.core.engine.jsonnet.lazy_inventory import LazyInventory, NodeView
from commodore.core.engine.model import InstanceJob
from commodore.core.engine.tasks import BatchRun
from commodore.core.results.result_store import Result

_PACKAGE = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class FilterWork:
    """The environment of an instance's filters.

    Attributes:
        run: the run of the instance.
        node: its rendered node.
        reads: records the inputs that the filters read.
        evaluator: evaluates Jsonnet filters.
        parts: cached results of such filters.
        confinement: the files that filters may read and write.
        context: takes problems that may be allowed.
    """

    run: BatchRun
    node: Mapping[str, Any]
    reads: TraceRecorder
    evaluator: Evaluator
    parts: Parts
    confinement: Confinement
    context: Context

    @property
    def job(self) -> InstanceJob:
        return self.run.jobs[self.reads.instance]


def run_jsonnet_filter(
    file: Path, folder: Path, arguments: Mapping[str, Any], part: PartialResult, work: FilterWork
) -> None:
    """Evaluate `file` and write `<folder>/<key>.yaml` for each field of its result.

    External variables: the definition's arguments, then `target` and `component` (both the component's name) and
    `output_path` (the folder, absolute), which take precedence over arguments of these names.

    Args:
        part: the filter's own record; with a cached result, nothing is evaluated.

    Raises:
        InputError: the file does not evaluate, or its result is not an object.
        PolicyError: a field's name leads out of the instance's output folder.
    """
    job, evaluator, confinement = work.job, work.evaluator, work.confinement
    cached = part.take()
    if cached is not None:
        evaluator.traces += cached.traces
        _write(cached, folder, confinement)
        return
    reads = part.reads
    names = {"target": job.component, "component": job.component, "output_path": str(folder)}
    importer = _importer(work.run, job, reads, confinement)
    inventory = LazyInventory(NodeView(job.name, work.node), job.name, reads)
    functions = {**natives(work.node, reads, confinement), **inventory.natives()}
    variables = {**arguments, **names}
    first_trace = len(evaluator.traces)
    try:
        source = read_source(str(file), confinement, reads.jsonnet)
        text = evaluator.evaluate(str(file), source, importer=importer, natives=functions, ext_vars=variables)
    except JsonnetError as error:
        hint = "correct the filter's Jsonnet at the places named"
        raise InputError("CMD-ENG-047", error.message, hint=hint, locations=error.locations or (str(file),)) from error
    result = json.loads(text)
    if not isinstance(result, dict):
        raise InputError(
            "CMD-ENG-048",
            f"the result of {file.name} is not an object",
            hint="its fields name the files to write: { 'a': {...}, 'b': [...] }",
            locations=[str(file)],
        )
    files = tuple((f"{key}.yaml", 0, _as_yaml(value)) for key, value in result.items())
    made = Result(files, tuple(evaluator.traces[first_trace:]))
    _write(made, folder, confinement)
    part.conclude(made)


def _as_yaml(value: Any) -> bytes:
    return (manifests.dump_stream(value) if isinstance(value, list) else manifests.dump(value)).encode()


def _write(made: Result, folder: Path, confinement: Confinement) -> None:
    for name, _, content in made.files:
        place = folder / name
        confinement.check(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        assert isinstance(content, bytes)
        confinement.write(place, content)


def search_paths(run: BatchRun) -> tuple[Path, ...]:
    """Return the folders where imports are searched after the importing file's folder."""
    root = run.request.root
    return run.request.filter_search_paths or (root, _PACKAGE, root / "vendor")


def _importer(run: BatchRun, job: InstanceJob, reads: TraceRecorder, confinement: Confinement) -> Importer:
    """Return the importer of filters. A folder with the name of an import is an error, an empty file is skipped."""
    rendered = run.workplace(job.name)

    def find(folder: str, name: str) -> tuple[str, bytes]:
        below_compiled = os.path.normpath(name).split(os.sep)[0] == "compiled"
        folders = [Path(folder), *((rendered,) if below_compiled else search_paths(run))]
        paths = [os.path.normpath(candidate / name) for candidate in folders]
        for path in filter(confinement.is_open, paths):
            content = find_text(path, confinement, reads.jsonnet)
            if content:
                return path, content
            if content is None:
                reads.absent(path)
        confinement.explain_missing(paths, "import")
        raise JsonnetError(f"cannot find the import {name!r} in {', '.join(map(str, folders))}")

    return find


def natives(node: Mapping[str, Any], reads: TraceRecorder, confinement: Confinement) -> Natives:
    """Return the native functions of filters. Relative paths are relative to the current folder of the run."""

    def load(file: str) -> Any:
        return _plain(manifests.load(_read(file, reads, confinement), place=file), file)

    def load_all(file: str) -> Any:
        return _plain(manifests.load_all(_read(file, reads, confinement), place=file), file)

    def list_dir(folder: str, basename: bool = True) -> list[str]:
        confinement.check_tree(folder)
        reads.tree(os.path.join(os.getcwd(), folder))
        names = sorted(name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name)))
        reads.tree(os.path.join(os.getcwd(), folder))  # recorded again: a change in between shows as two digests
        return names if basename else [os.path.join(folder, name) for name in names]

    def inventory() -> dict[str, Any]:
        reads.value(reads.instance, node)
        return dict(node)

    return {
        "yaml_load": (("file",), load),
        "yaml_load_all": (("file",), load_all),
        "list_dir": (("dir", "basename"), list_dir),
        "commodore_inventory": ((), inventory),
    }


def _read(file: str, reads: TraceRecorder, confinement: Confinement) -> bytes:
    try:
        content = confinement.read(file)
        reads.file(os.path.join(os.getcwd(), file), content)
        return content
    except OSError as error:
        raise JsonnetError(f"cannot read {file}: {error.strerror}") from error


def _plain(value: Any, file: str) -> Any:
    """Convert a loaded value for Jsonnet: dates become text, map keys must be strings."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise JsonnetError(f"{file} has the map key {key!r}, which is not a string")
        return {key: _plain(item, file) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, file) for item in value]
    if isinstance(value, datetime.date):  # also a datetime
        return value.isoformat()
    if isinstance(value, bytes | set):
        raise JsonnetError(f"{file} holds a value of type {type(value).__name__}, which Jsonnet has no form for")
    return value
