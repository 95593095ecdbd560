"""Helm sources: the command that Argo CD runs, with the same arguments."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from commodore.argocd.configuration import read_file
from commodore.argocd.model.sources import HelmOptions, HelmParameter
from commodore.argocd.rendering.chart_dependencies import with_dependencies
from commodore.argocd.rendering.commands import helm_commands
from commodore.argocd.rendering.ignored import chart_files, report_read
from commodore.argocd.rendering.model import Rendered, Unit
from commodore.argocd.rendering.programs import run_for
from commodore.argocd.rendering.streams import objects_of_stream
from commodore.argocd.rendering.value_files import named_file, ref_folders, value_files
from commodore.argocd.rendering.value_layers import value_layers
from commodore.base.errors import InputError, PolicyError
from commodore.base.limits import Limits
from commodore.base.printable import printable
from commodore.base.yaml.kube_yaml import read_documents
from commodore.core.confinement.chart_schemas import refers_elsewhere
from commodore.core.confinement.helm_options import list_item, reads_environment
from commodore.core.render.output_cache import files_below
from commodore.core.render.programs import Program, write_file
from commodore.core.render.random_templates import any_random

_APIS = b"APIVersions"
_LOOKUP = re.compile(rb"""\{\{[^}]*\blookup\s+["'`$.(]""")
_INLINE = "inline-values.yaml"
_COMMA = re.compile(r"(?<!\\),")
_VERSION = re.compile(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:[-+.].*)?")


def render_helm(unit: Unit) -> Iterator[Rendered]:
    """Render a chart, and yield its objects.

    Raises:
        InputError: CMD-ARGO-405, helm fails; CMD-ARGO-406, a dependency of the chart is missing; CMD-ARGO-407, a value
            file is missing; CMD-ARGO-417, a document of its output is not an object.
        EnvironmentFault: CMD-ARGO-413, helm is missing; CMD-ARGO-418, it takes too long.
        PolicyError: see `value_files`.
    """
    helm = unit.source.helm or HelmOptions()
    _check_version(unit, helm)
    home = unit.scratch / "home"
    home.mkdir()
    chart = _chart(unit)
    _report_templates(unit, chart)
    helm = _without_foreign_schemas(unit, helm, chart)
    arguments = ["template", ".", *_arguments(unit, _with_apis(unit, helm, chart))]
    if unit.trace is not None:
        values = _inline_values(helm)
        inline = None if values is None else (_INLINE, values)
        unit.trace.commands.extend(helm_commands(unit, chart, arguments, inline))
        if unit.trace.layers is not None:
            short = {f"{unit.scratch}/": "", f"{unit.root}/": ""}
            unit.trace.layers.extend(value_layers(chart, arguments, _INLINE, short))
    program = Program(
        "helm",
        [list_item(word) if before == "--values" else word for before, word in pairwise(["", *arguments])],
        chart,
        home,
        profile=unit.settings.profile.name,
    )
    plain, files = _by_content(unit, arguments)
    report_read(unit, [*chart_files(unit), *(str(path) for _, path in files)])
    output = unit.output(
        "helm",
        plain,
        lambda: [*files_below(chart, "chart"), *files],
        lambda: _run(program, unit, [path for name, path in files if "=" not in name]),
    )
    text = output.decode("utf-8", "replace")
    yield from objects_of_stream(text, "the output of helm")


def _run(program: Program, unit: Unit, values: list[Path]) -> bytes:
    """Run helm and return its output. If it fails because of a value file, the error is about the file.

    Raises:
        InputError: CMD-ARGO-409, a value file is not a mapping; else as `run_for`.
        PolicyError: CMD-ARGO-403, a value file is too large.
    """
    limits = unit.context.limits
    for path in values:
        if path.stat().st_size > limits.argocd_file_bytes:
            raise PolicyError(
                "CMD-ARGO-403",
                f"the value file {path.name} is larger than {limits.argocd_file_bytes} bytes",
                hint="split it",
            )
    try:
        rename = {f"{unit.root}/": "", str(unit.root): ".", f"{unit.scratch}/": "", **ref_folders(unit)}
        return run_for(
            program,
            "CMD-ARGO-405",
            rename,
            unit.context,
            lambda said: unit.note("CMD-ARGO-405", f"helm says: {said}", "info", "", (unit.source.place,)),
        )
    except InputError:
        for path in values:
            _check_values(path, os.path.relpath(path, unit.folder), limits)
        raise


def _check_values(path: Path, place: str, limits: Limits) -> None:
    try:
        documents = list(read_documents(read_file(path, limits).decode(), place=place))
    except UnicodeDecodeError:
        why = "is not UTF-8"
    except InputError:
        return  # helm's own error has the place
    else:
        if all(isinstance(document, Mapping) for document in documents):
            return
        why = "must be a mapping"
    raise InputError(
        "CMD-ARGO-409", f"the value file {path.name} {why}", hint="values are a YAML mapping", locations=[place]
    )


def _without_foreign_schemas(unit: Unit, helm: HelmOptions, chart: Path) -> HelmOptions:
    """Return options that stop helm from reading a values schema from servers or other files."""
    if helm.skip_schema_validation or not refers_elsewhere(chart):
        return helm
    unit.note(
        "CMD-ARGO-427",
        "the schema of the chart's values has external references, so the values are not checked",
        "info",
        "a self-contained schema is checked",
        (unit.source.place,),
    )
    return replace(helm, skip_schema_validation=True)


def _report_templates(unit: Unit, chart: Path) -> None:
    """Report templates that query the cluster, and templates with random values. Packed charts are not read."""
    templates = list(_templates(chart))
    if name := next((name for name, text in templates if _LOOKUP.search(text)), ""):
        unit.note(
            "CMD-ARGO-414",
            f"the template {printable(name)} queries the cluster with lookup, and gets an empty result",
            "info",
            "so it does in Argo CD, which renders with `helm template`",
            (unit.source.place,),
        )
    if name := next((name for name, text in templates if any_random([text])), ""):
        unit.note(
            "CMD-ARGO-429",
            f"the template {printable(name)} has random values: they differ in each rendering",
            "boundary",
            "set them in the values, or exclude the field from comparisons by ignoreDifferences",
            (unit.source.place,),
        )


def _with_apis(unit: Unit, helm: HelmOptions, chart: Path) -> HelmOptions:
    """Add the APIs of the tree to the options if the chart checks for APIs and no other source names them."""
    capabilities = unit.capabilities
    if helm.api_versions or capabilities.served is None or not _asks_for_apis(chart):
        return helm
    seen = capabilities.in_tree
    if not capabilities.api_versions:
        unit.note(
            "CMD-ARGO-416",
            "the chart checks the APIs of its cluster: it gets those of helm"
            f"{f', and {len(seen)} of CustomResourceDefinitions in the tree' if seen else ''}",
            "info",
            "name the cluster's APIs by --api-version, or by apiVersions of a cluster in --facts",
            (unit.source.place,),
        )
    return replace(helm, api_versions=tuple(sorted((*capabilities.api_versions, *seen))))


def _asks_for_apis(chart: Path) -> bool:
    """Check if templates of a chart or its dependencies may check for APIs."""
    if any(name.endswith(".tgz") for name, _ in files_below(chart, ".")):
        return True
    return any(_APIS in text for _, text in _templates(chart))


def _templates(chart: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the templates of a chart and of its unpacked dependencies, with their paths in the chart."""
    for name, path in files_below(chart, "."):
        if "/templates/" in name:
            yield name[2:], path.read_bytes()


def _check_version(unit: Unit, helm: HelmOptions) -> None:
    if helm.version == "v4" and not unit.settings.profile.has_helm_4:
        raise InputError(
            "CMD-ARGO-103",
            f"Argo CD {unit.settings.profile.name} has no helm v4",
            hint="remove helm.version, or choose another version of Argo CD by --argocd-version",
            locations=[unit.source.place],
        )


def _by_content(unit: Unit, arguments: list[str]) -> tuple[list[str], list[tuple[str, Path]]]:
    """Return the arguments with file names that do not depend on their folders, and the files."""
    plain: list[str] = []
    files: list[tuple[str, Path]] = []
    for option, word in zip(["", *arguments], arguments, strict=False):
        if option == "--values":
            name = f"file {len(files)}"
            files.append((name, Path(word)))
            plain.append(name)
        elif option == "--set-file":
            key, _, _ = word.partition("=")
            name = f"{key}=file {len(files)}"
            files.append((name, named_file(unit, dict((unit.source.helm or HelmOptions()).file_parameters)[key])))
            plain.append(name)
        else:
            plain.append(word)
    return plain, files


def _chart(unit: Unit) -> Path:
    if not (unit.folder / "Chart.yaml").is_file():
        marker = "the block helm of the source" if unit.source.helm else "a file whose name ends in Chart.yaml"
        raise InputError(
            "CMD-ARGO-405",
            f"{unit.source.path or '.'} has no Chart.yaml, so it is not a chart",
            hint=f"{marker} marks it as a chart",
            locations=[unit.source.place],
        )
    return with_dependencies(unit)


def _arguments(unit: Unit, helm: HelmOptions) -> Iterator[str]:
    name = helm.release_name or unit.application.name
    if reads_environment(name):
        raise InputError(
            "CMD-ARGO-405",
            f"the release name {printable(name)!r} reads variables of the environment",
            hint="write the name itself",
            locations=[unit.source.place],
        )
    yield from ("--name-template", name)
    namespace = helm.namespace or unit.application.destination.namespace
    if namespace:
        yield from ("--namespace", namespace)
    if version := helm.kube_version or unit.capabilities.kube_version:
        yield from ("--kube-version", version_for_tools(version, unit))
    yield from _parameters(unit, helm)
    if unit.source.helm is not None:
        for file in value_files(unit):
            yield from ("--values", str(file))
    if (inline := _inline_values(helm)) is not None:
        file = unit.scratch / _INLINE
        write_file(file, inline)
        yield from ("--values", str(file))
    for api_version in helm.api_versions or unit.capabilities.api_versions:
        yield from ("--api-versions", api_version)
    if not helm.skip_crds:
        yield "--include-crds"
    if helm.skip_schema_validation:
        yield "--skip-schema-validation"
    if helm.skip_tests:
        yield "--skip-tests"


def _parameters(unit: Unit, helm: HelmOptions) -> Iterator[str]:
    """Yield the options for parameters: plain ones, then texts, then files, each sorted by name."""

    def texts(parameters: list[HelmParameter], option: str) -> Iterator[str]:
        _report_overlaps(unit, {parameter.name for parameter in parameters})
        for parameter in sorted(parameters, key=lambda parameter: parameter.name):
            yield from (option, f"{parameter.name}={_escaped(unit.environment.substitute(parameter.value))}")

    yield from texts([parameter for parameter in helm.parameters if not parameter.force_string], "--set")
    yield from texts([parameter for parameter in helm.parameters if parameter.force_string], "--set-string")
    for name, path in sorted(dict(helm.file_parameters).items()):
        if "=" in name:  # helm would parse the rest as another file
            raise InputError(
                "CMD-ARGO-405",
                f"invalid parameter name {printable(name[:80])!r}",
                hint="a name must not contain '='",
                locations=[unit.source.place],
            )
        yield from ("--set-file", f"{name}={_escaped(str(named_file(unit, path)))}")


def _report_overlaps(unit: Unit, names: set[str]) -> None:
    """Report parameters that set a part of what another one sets, as Argo CD passes them in any order."""
    for name in sorted(names):
        if whole := next((prefix for prefix in sorted(names) if name.startswith((f"{prefix}.", f"{prefix}["))), None):
            what = f"the parameter {printable(name)} sets a part of what {printable(whole)} sets"
            unit.note(
                "CMD-ARGO-426",
                f"{what}, and Argo CD may pass them in either order",
                "warning",
                "set both in values or valuesObject",
                (unit.source.place,),
            )


def _escaped(value: str) -> str:
    """Escape commas, except in lists in braces."""
    return value if value.startswith("{") and value.endswith("}") else _COMMA.sub(r"\\,", value)


def _inline_values(helm: HelmOptions) -> str | None:
    if helm.values_object is not None:
        return json.dumps(helm.values_object)
    return helm.values or None


def version_for_tools(version: str, unit: Unit) -> str:
    """Return a version of Kubernetes as it is passed to tools.

    Raises:
        InputError: CMD-ARGO-103, it is invalid.
    """
    return plain_version(version) if unit.settings.profile.plain_kube_version else version


def plain_version(version: str) -> str:
    """Return a version of Kubernetes as three numbers, as helm expects it.

    Raises:
        InputError: CMD-ARGO-103, it is invalid.
    """
    match = _VERSION.fullmatch(version.strip())
    if match is None:
        raise InputError(
            "CMD-ARGO-103", f"invalid version of Kubernetes {version[:80]!r}", hint="write it as 1.33 or v1.33.2"
        )
    return ".".join(part or "0" for part in match.groups())
