"""Human-readable output of `catalog explain`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from commodore.base.printable import counted, printable
from commodore.cli.shell.parameters import as_yaml

if TYPE_CHECKING:
    from commodore.catalog import (
        CompileEntry,
        ComponentCheckout,
        FieldPlace,
        FilterUse,
        ManifestExplanation,
        ParameterCandidate,
        ReadParameter,
    )

_PARAMETERS = 40  # that are listed
_FILES = 25
_WIDTH = 60  # of a value that is shown in a line
_COMMIT = 10  # characters of a commit's id
_LABEL = 12  # width of the column before the facts


def manifest_lines(explanation: ManifestExplanation, before: tuple[str, ...]) -> Iterator[str]:
    """The lines of an explanation; click drops the colours without a terminal.

    Args:
        before: words of the command line that commands to try need too.
    """
    here = Path(os.path.realpath(os.curdir))
    file = explanation.file.relative_to(here) if explanation.file.is_relative_to(here) else explanation.file
    yield click.style(printable(explanation.path), bold=True) + (
        " (differs from what was rendered)" if explanation.edited else ""
    )
    yield from _fact("file", [str(file)])
    yield from _object(explanation, str(file))
    same = explanation.instance == explanation.component
    yield from _fact(
        "instance", [explanation.instance if same else f"{explanation.instance}, of component {explanation.component}"]
    )
    yield from _fact("component", _repository(explanation.repository))
    yield from _fact("result", [_result(explanation)])
    label = "made by" if len(explanation.entries) < 2 else "one of"
    yield from _fact(label, [line for entry in explanation.entries for line in _entry(entry)])
    yield from _fact("filters", [_filter(item) for item in explanation.filters])
    yield from _fact("sources", explanation.sources)
    yield from _fact("programs", [", ".join(explanation.tools)] if explanation.tools else [])
    if explanation.field is not None:
        yield ""
        yield from _field(explanation.field, before)
        return
    yield from _read(explanation)
    command = _worth_asking(explanation)
    if command:
        yield ""
        yield f"Where one of them comes from: {_command(command, before)}"


def _worth_asking(explanation: ManifestExplanation) -> tuple[str, ...]:
    """The command that explains a parameter that people ask for: the component's own, or the values of its chart."""
    asked = [
        parameter
        for parameter in explanation.parameters
        if parameter.command and not str(parameter.path[0]).startswith("_")
    ]
    own = next((item for item in asked if item.path[0] == explanation.component.replace("-", "_")), None)
    if own is not None:
        return own.command
    for entry in explanation.entries:
        if entry.settings.get("helm_values"):
            path = f"kapitan.compile[{entry.index}].helm_values"
            return ("inventory", "explain", path, "--instance", explanation.instance)
    return asked[0].command if asked else ()


def _fact(label: str, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"  {'' if number else label:<{_LABEL}}{printable(line)}"


def _object(explanation: ManifestExplanation, file: str) -> Iterator[str]:
    if explanation.object is not None:
        item = explanation.object
        name = f"{item.namespace}/{item.name}" if item.namespace else item.name
        yield from _fact("object", [f"{item.kind} {name}, {file}:{item.line}"])


def _repository(checkout: ComponentCheckout | None) -> list[str]:
    if checkout is None:
        return ["its folder is not there any longer"]
    told = [checkout.url or "a repository without a remote" if checkout.commit else "a folder outside of git"]
    told += [f"version {checkout.version}"] if checkout.version else []
    told += [f"commit {checkout.commit[:_COMMIT]}"] if checkout.commit else []
    told += [f"folder {checkout.path}"] if checkout.path else []
    return [", ".join(told) + (" (changed since)" if checkout.changed else "")]


def _result(explanation: ManifestExplanation) -> str:
    if explanation.reused is None:
        return "there is no record of the inputs; compile again to create it"
    text = "taken from the cache by the last run" if explanation.reused else "rendered by the last run"
    return text + (f"; not kept in the cache: {explanation.refusal}" if explanation.refusal else "")


def _entry(entry: CompileEntry) -> Iterator[str]:
    inputs = " ".join(entry.input_paths) or "no input"
    output = "" if entry.output_path == "." else f", into {entry.output_path}"
    yield f"{entry.input_type} {inputs}{output} (kapitan.compile[{entry.index}])"
    for chart in entry.charts:
        source = f", from {chart.source}" if chart.source else ""
        yield f"  chart {chart.name or '?'} {chart.version or '?'}{source}"
    variables = entry.settings.get("env_vars")
    if isinstance(variables, Mapping) and variables:
        yield f"  with {' '.join(f'{name}={value}' for name, value in variables.items())}"
    values = entry.settings.get("helm_values")
    if isinstance(values, Mapping) and values:
        yield f"  values: {_short(values)}"
    files = entry.settings.get("helm_values_files")
    if isinstance(files, list) and files:
        yield f"  values files: {', '.join(map(str, files))}"


def _filter(use: FilterUse) -> str:
    off = "" if use.enabled else ", not enabled"
    return f"{use.type} {use.filter} on {use.path}{off} (commodore.postprocess.filters[{use.index}])"


def _read(explanation: ManifestExplanation) -> Iterator[str]:
    if explanation.parameters or explanation.names:
        yield ""
        yield f"Parameters that the instance {printable(explanation.instance)} has read:"
        rows = [(_name(parameter, explanation.instance), _value(parameter)) for parameter in explanation.parameters]
        rows += [(_name(name, explanation.instance), "which keys there are") for name in explanation.names]
        yield from _table(rows, _PARAMETERS)
    if explanation.all_targets:
        yield "  … and which instances there are"
    files = [file for file in explanation.files if file.exists]
    if files:
        yield ""
        yield "Files that it has read:"
        folder = {"tree": " (and all below it)", "pattern": " (which files there are)"}
        rows = [(file.path + folder.get(file.kind, ""), "changed since" if file.changed else "") for file in files]
        yield from _table(rows, _FILES)
    missing = [file for file in explanation.files if not file.exists]
    if missing:
        count = counted(len(missing), "place")
        yield f"  {count} where nothing was found; -o json has all"


def _table(rows: list[tuple[str, str]], most: int) -> Iterator[str]:
    shown = [(printable(name), printable(text)) for name, text in rows[:most]]
    width = max((len(name) for name, text in shown if text), default=0)
    for name, text in shown:
        yield f"  {click.style(f'{name:<{width}}', fg='cyan')}  {text}".rstrip()
    if len(rows) > most:
        yield f"  … and {len(rows) - most} more; -o json has all"


def _name(parameter: ReadParameter, instance: str) -> str:
    from commodore.core.inventory.explain import path_text

    name = path_text(parameter.path) if parameter.path else "all parameters"
    return name if parameter.target == instance else f"{name} of {parameter.target}"


def _value(parameter: ReadParameter) -> str:
    text = _short(parameter.value) if parameter.is_set else "is not set"
    return text + (" (changed since)" if parameter.changed else "")


def _short(value: Any) -> str:
    """A value in one line."""
    if isinstance(value, Mapping) and value:
        keys = ", ".join(str(key) for key in value)
        text = f"a map with {keys}"
    elif isinstance(value, list) and value:
        text = f"a list of {counted(len(value), 'item')}"
    elif isinstance(value, str) and "\n" in value:
        text = f"a text of {counted(len(value.splitlines()), 'line')}"
    else:
        text = as_yaml(value).strip().removesuffix("...").strip()
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _field(field: FieldPlace, before: tuple[str, ...]) -> Iterator[str]:
    from commodore.core.inventory.explain import path_text

    name = click.style(printable(path_text(field.path)), bold=True)
    yield f"{name} is {printable(_short(field.value))} (line {field.line})"
    equal = [candidate for candidate in field.candidates if candidate.whole]
    inner = [candidate for candidate in field.candidates if not candidate.whole]
    if not field.candidates:
        yield "  No parameter that was read has this value: the template, the chart or a filter has made it."
        return
    if equal:
        yield "  These parameters that it has read have this value, which may be by chance:"
        yield from _candidates(equal, before)
    if inner:
        yield "  Texts in it that parameters which it has read have too:"
        yield from _candidates(inner, before)
    if field.omitted:
        yield f"  … and {field.omitted} more"


def _candidates(candidates: Iterable[ParameterCandidate], before: tuple[str, ...]) -> Iterator[str]:
    for item in candidates:
        held = "" if item.whole else f"  # {printable(_short(item.value))}"
        yield f"    {click.style(printable(_command(item.command, before)), fg='cyan')}{held}"


def _command(words: tuple[str, ...], before: tuple[str, ...]) -> str:
    return shlex.join(["commodore", *before, *words])
