"""Replacements of Kapitan's functions that read and write files. Runs in workers only.

Replaced, by setting names in Kapitan's modules once per worker: the writing of files (fast emitter, confined to the
instance's folder), the reading of YAML (libyaml), Jsonnet's native functions and imports (order, causes of errors), the
rendering of charts (Kapitan changes its own defaults and the caller's parameters), and the running of commands (their
error output becomes the message).
"""

from __future__ import annotations

import builtins
import contextlib
import os
import shlex
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import yaml
from kapitan import cached, helm_cli, utils
from kapitan.inputs import base, cuelang, external, helm, jinja2, jsonnet, kustomize
from kapitan.inputs.base import CompiledFile, CompilingFile
from kapitan.refs.base import PlainRefBackend, RefController
from kapitan.utils import PrettyDumper

from commodore.base import yaml as manifests
from commodore.base.errors import InputError, PolicyError
from commodore.base.events import Warned
from commodore.base.programs.child_processes import Child, child_environment
from commodore.core.confinement import start
from commodore.core.confinement.chart_schemas import copy_without_schemas, refers_elsewhere
from commodore.core.confinement.helm_options import list_item
from commodore.core.engine.cache.helm_key import rendering_key
from commodore.core.engine.kapitan import jsonnet_natives, templates
from commodore.core.engine.kapitan.commands import HELM_PARAMETERS, check_helm, starts_programs
from commodore.core.engine.kapitan.context import current
from commodore.core.engine.kapitan.shell import quote_paths
from commodore.core.render.random_templates import is_random
from commodore.core.render.tool_identity import defaults_digest, tool_digest
from commodore.core.results.result_store import read_folder, write_folder
from commodore.core.sources.git import redact

_STYLES: dict[str, manifests.MultilineStyle] = {
    "literal": "literal",
    "folded": "folded",
    "double-quotes": "double-quotes",
}

_COMPLETING = {"dependency_update": "is_updated", "dependency_build": "is_built"}


class CommandError(Exception):
    """A command that Kapitan ran has failed.

    Args:
        status: its exit code, negative for a signal.
        stderr: its error output.
        kustomization: folder or URL of the kustomization to build; empty for another command.
    """

    def __init__(self, status: int, stderr: str, kustomization: str = "") -> None:
        super().__init__(stderr)
        self.kustomization = kustomization
        self.status = status
        self.stderr = stderr


def install() -> None:
    """Set the replacements in Kapitan's modules. Calling it again changes nothing."""
    base.CompiledFile = jinja2.CompiledFile = _ConfinedFile
    base.CompilingFile = _Writer
    jsonnet.resource_callbacks = jsonnet_natives.native_functions
    jsonnet.search_imports = jsonnet_natives.search_import
    jsonnet.select_jsonnet_runtime = lambda _use_go: SimpleNamespace(evaluate_file=jsonnet_natives.evaluate)
    helm.yaml = SimpleNamespace(safe_load_all=_load_all)
    helm.render_chart = _render_chart
    helm.write_helm_values_file = _write_helm_values
    kustomize.yaml = SimpleNamespace(safe_load_all=_load_all, safe_load=_load, dump=yaml.dump)
    for module in (kustomize, cuelang):
        module.open = _open_confined
    for module in (kustomize, cuelang, helm_cli):
        module.subprocess = SimpleNamespace(
            run=_run_tool, PIPE=subprocess.PIPE, TimeoutExpired=subprocess.TimeoutExpired
        )
    PlainRefBackend.__getitem__ = _read_reference
    RefController.ref_from_embedded = _read_embedded
    utils.render_jinja2_file = templates.render_file
    external.subprocess = SimpleNamespace(run=_run_external, PIPE=subprocess.PIPE)
    external.re = SimpleNamespace(compile=lambda _pattern: SimpleNamespace(sub=fill_in))


# Writing


class _ConfinedFile(CompiledFile):  # type: ignore[misc]
    """An output file of an input; refused if it is outside of the instance's folder."""

    def __enter__(self) -> Any:
        """Replace Kapitan's function: the confinement opens the file."""
        confinement, mode = current().confinement, self.kwargs.get("mode", "r")
        confinement.check(self.name)
        current().reads.written(self.name)
        confinement.make_folder(os.path.dirname(self.name))
        self.fp = open(self.name, mode, opener=confinement.opener)
        return base.CompilingFile(self.fp, self.ref_controller, **self.kwargs)


def _open_confined(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
    """Replace `open` for inputs that write without Kapitan's writer, as they use names of objects as file names."""
    if mode != "r":
        current().reads.written(path)
        kwargs["opener"] = current().confinement.opener
    return builtins.open(path, mode, *args, **kwargs)


class _Writer(CompilingFile):  # type: ignore[misc]
    """Kapitan's writer with a fast path for YAML."""

    def write_yaml(self, obj: Any) -> None:
        work = current()
        name = work.confinement.describe(self.fp.name)
        style = work.inventory.node(work.instance)["parameters"].get("multiline_string_style") or "literal"
        if is_changed_by_kapitan(obj, set()):
            if self.kwargs.get("reveal"):
                obj = self.revealer.reveal_obj(obj)
            else:
                obj = self.revealer.compile_obj(obj, target_name=work.instance)
        if not obj:
            return
        if isinstance(obj, tuple):
            obj = list(obj)
        if not isinstance(obj, Mapping | list):
            problem = InputError(
                "CMD-ENG-012",
                f"the output {name!r} is a {_kind(obj)}; expected an object or an array of objects",
                hint="use output_type: plain for text",
            )
            if not isinstance(obj, str):
                raise problem
            work.context.problem(problem)
            obj = list(obj)  # Kapitan writes a text as a stream of documents, like any other sequence
        text = _as_yaml(obj, style)
        if len(text) > work.limits.output_file_bytes:
            raise PolicyError(
                "CMD-ENG-013",
                f"the output {name!r} is larger than {work.limits.output_file_bytes} bytes",
                hint="split it into several files",
            )
        self.fp.write(text)


def is_changed_by_kapitan(obj: Any, lists: set[int]) -> bool:
    """Check if Kapitan's walk over a value changes it. It replaces references, and a list that occurs several times by
    copies, so the output has no anchor for it. Most values are not changed.

    Args:
        lists: the identities of the lists seen so far.
    """
    if isinstance(obj, str):
        return "?{" in obj
    if isinstance(obj, dict):
        return any(is_changed_by_kapitan(value, lists) for value in obj.values())
    if not isinstance(obj, list):
        return False
    if id(obj) in lists:
        return True
    lists.add(id(obj))
    return any(is_changed_by_kapitan(value, lists) for value in obj)


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
            "CMD-ENG-012",
            f"the output has a {_kind(error.args[-1])}, which YAML cannot represent",
            hint="turn it into maps, lists, strings, numbers, booleans or null",
        ) from error


def _kind(value: Any) -> str:
    names: dict[type, str] = {str: "string", bool: "boolean", int: "number", float: "number"}
    return names.get(type(value), type(value).__name__)


# References


_original_read_reference = PlainRefBackend.__getitem__
# Types of references whose secret is in their file, or in a variable that is part of the subject.
_REVEALED = ("plain", "base64", "env")


def _read_reference(backend: Any, path: str) -> Any:
    """Replace Kapitan's function: record the ref file."""
    reads, file = current().reads, os.path.join(os.path.abspath(backend.path), path.partition("@")[0])
    current().confinement.check_open(file, "reference")
    reads.ref_file(file)
    if cached.args.reveal and backend.type_name not in _REVEALED:
        reads.refuse(f"a secret of type {backend.type_name} is revealed")
    try:
        reference = _original_read_reference(backend, path)
    except KeyError:
        reads.refuse(f"the reference {path} has no file")
        raise
    reads.ref_file(file)  # recorded again: a change in between shows as two digests
    return reference


_original_read_embedded = RefController.ref_from_embedded


def _read_embedded(controller: Any, type_name: str, encoded: str) -> Any:
    """Replace Kapitan's function: refuse embedded references to Vault, as a reviewer could not see
    the secret's path.
    """
    if type_name == "vaultkv":
        raise PolicyError(
            "CMD-REF-017",
            f"a reference to Vault embeds its ref file instead of naming one: ?{{{type_name}:{encoded[:20]}...",
            hint="write it as ?{vaultkv:path/key}",
        )
    return _original_read_embedded(controller, type_name, encoded)


# Commands


def _place(stream: Any) -> str:
    """Return the name of a stream for errors: a file of a rendered chart without its temporary folder."""
    name = getattr(stream, "name", "the command's output")
    with contextlib.suppress(ValueError):
        return str(Path(*Path(name).relative_to(tempfile.gettempdir()).parts[1:]))
    return str(name)


def _load_all(stream: Any) -> list[Any]:
    text = stream if isinstance(stream, str) else stream.read()
    return manifests.load_all(text, place=_place(stream))


def _load(stream: Any) -> Any:
    return manifests.load(stream.read(), place=_place(stream))


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
    """Replace Kapitan's function: check the call, use cached results, and pass copies of the values that it changes
    (its default flags and the entry's parameters).
    """
    confinement = current().confinement
    completed = {key: helm_params.get(name) is True for name, key in _COMPLETING.items()}
    helm_params = {name: given for name, given in helm_params.items() if not _is_ours(name, given)}
    check_helm(confinement, helm_path, helm_params, helm_values_files or ())
    confinement.check_tree(os.path.abspath(chart_dir), "chart")
    chart = current().charts.complete(chart_dir, helm_path, **completed)
    if "output_file" in helm_params:
        confinement.check(os.path.join(output_path, str(helm_params["output_file"])))
    reads = current().reads
    unknown = sorted(set(helm_params) - HELM_PARAMETERS)
    if unknown:
        reads.refuse(f"the helm parameter {unknown[0]}")
    for file in helm_values_files or ():
        if "://" in file or file == "-":
            reads.refuse(f"helm reads values from {redact(file)}")
    program = helm_path or os.environ.get("KAPITAN_HELM_PATH") or "helm"
    reads.program(program)
    for name in _helm_defaults(helm_params):
        reads.defaults(name)
    flags = dict(helm.HELM_DEFAULT_FLAGS if helm_flags is None else helm_flags)
    for file in helm_values_files or ():
        reads.file(os.path.join(os.getcwd(), file))
    values = [file for file in (helm_values_file, *(helm_values_files or ())) if file]
    random = any(map(is_random, chart.fetched)) or is_random(chart_dir, values)
    if random:
        _stay_in_cluster()
    key = "" if unknown or random else _chart_key(chart.path, program, helm_params, flags, values)
    part = current().parts.named(f"helm {os.path.basename(os.path.normpath(chart_dir))}", key, reads)
    known = part.take()
    if known is not None:
        os.rmdir(output_path)  # Kapitan's new, empty folder
        write_folder(known, Path(output_path))
        return "", ""
    own, others = (
        helm_values_file and _for_helm(helm_values_file),
        [_for_helm(file) for file in helm_values_files or ()],
    )
    safe, given = _without_foreign_schema(chart.path, helm_params), dict(helm_params)
    done = _original_render_chart(safe, output_path, helm_path, given, own, others, dict(flags))
    for file in helm_values_files or ():  # recorded again: a change in between shows as two digests
        reads.file(os.path.join(os.getcwd(), file))
    if key and not done[1] and key == _chart_key(chart.path, program, helm_params, flags, values):
        part.conclude(read_folder(Path(output_path)))
    return done


def _is_ours(name: str, given: Any) -> bool:
    """Check if a parameter of helm is handled before helm runs."""
    return name in _COMPLETING and isinstance(given, bool)


def _for_helm(file: str) -> str:
    """Return the path of a file with values relative to the working directory, whose path helm could take for a URL."""
    here = os.path.join(os.getcwd(), "")
    return list_item(os.path.join(".", file.removeprefix(here)) if file.startswith(here) else file)


def _without_foreign_schema(chart: str, parameters: Mapping[str, Any]) -> str:
    """Return the chart, or a copy without schemas that refer to servers or other files."""
    work, name = current(), os.path.basename(os.path.normpath(chart))
    if parameters.get("skip_schema_validation") is True or not refers_elsewhere(Path(chart)):
        return chart
    if work.confinement.policy.allows("helm_options", work.confinement.component):
        return chart
    message = f"the values of the chart {name} are not validated, as their schema refers to a file or URL outside of it"
    work.context.announce(Warned("CMD-CONF-014", message))
    copy = Path(tempfile.mkdtemp()) / name
    try:
        copy_without_schemas(Path(chart), copy)
    except (OSError, tarfile.TarError, EOFError) as error:
        raise InputError(
            "CMD-ENG-018",
            f"the chart {name} cannot be read: {error}",
            hint="a packed chart below `charts` may be damaged",
            locations=[chart],
        ) from error
    return str(copy)


def _helm_defaults(parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the inputs that helm reads from its environment; the namespace only if the parameters have none."""
    return ("zone",) if "namespace" in parameters else ("zone", "helm")


def _chart_key(chart: str, program: str, parameters: dict[str, Any], flags: dict[str, Any], values: list[str]) -> str:
    """Return the cache key of a rendered chart; empty if it must not be stored."""
    work = current()
    programs = work.reads.programs
    if not work.parts.are_kept or programs is None or programs.has_changed(program):
        return ""
    defaults = [defaults_digest(name, os.environ) for name in _helm_defaults(parameters)]
    return rendering_key(chart, parameters, flags, values, " ".join((tool_digest(program, programs), *defaults)))


def _stay_in_cluster() -> None:
    """Do not share the instance's result with other clusters and machines, as it may contain random secrets."""
    work = current()
    work.reads.stay()
    node = work.inventory.node(work.instance)
    for key in ("name", "tenant"):
        work.reads.value(work.instance, node, "parameters", "cluster", key)


class _HelmValuesDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Dumper with Kapitan's quoting of values, instead of changing PyYAML's own dumper."""


_HelmValuesDumper.add_representer(str, helm._helm_str_representer)


def _write_helm_values(values: dict[str, Any]) -> str:
    handle, path = tempfile.mkstemp(".helm_values.yml", text=True)
    with os.fdopen(handle, "w") as file:
        yaml.dump(values, file, Dumper=_HelmValuesDumper)
    return path


def fill_in(folder: str, text: str) -> str:
    """Replace `${compiled_target_dir}` in a text of an entry. Kapitan uses a regular expression, in which a backslash
    in the path is special.
    """
    return text.replace("${compiled_target_dir}", folder)


def _run_tool(*command: Any, args: Any = None, **options: Any) -> Any:
    """Replace `subprocess.run` for helm, kustomize and cue, which are the user's. helm fetches, too, outside of
    renderings.

    With an option that starts another program they are isolated like programs of a component.
    """
    words = command[0] if command else args
    if words[1:2] == ["pull"]:
        options = {"env": child_environment(Child.FETCHING_TOOL), **options}
    if starts_programs(words):
        return current().confinement.run(words, is_ours=False, **options)
    return start(words, **options)


def _run_external(command: str, **kwargs: Any) -> Any:
    """Replace `subprocess.run` for `external`: an error has the error output only, without the environment's values.

    Kapitan joins words, some of which contain paths, to a command. Paths of the run are quoted for the shell, as a
    working directory may have any name.
    """
    command = quote_paths(command, current().known_paths)
    watch = current().watches[-1] if current().watches else None
    if watch is not None and watch.is_taken:
        return subprocess.CompletedProcess(command, 0, "", "")
    if watch is not None:
        kwargs["env"] = watch.environment(kwargs["env"])
    words = ["/bin/sh", "-c", command]
    is_ours = watch is not None and not starts_programs(shlex.split(command))
    result = current().confinement.run(words, is_ours=is_ours, **{**kwargs, "shell": False})
    if result.returncode != 0:
        if watch is None:
            raise CommandError(result.returncode, result.stderr)
        raise CommandError(result.returncode, watch.words(result.stderr), watch.source)
    return result
