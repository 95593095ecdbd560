"""Why a manifest is as it is, for people."""

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
_LABEL = 12  # width of what stands before the facts


def manifest_lines(found: ManifestExplanation, before: tuple[str, ...]) -> Iterator[str]:
    """The lines of an explanation; click drops the colours where there is no terminal.

    Args:
        before: words of the command line that commands to try need too.
    """
    here = Path(os.path.realpath(os.curdir))
    file = found.file.relative_to(here) if found.file.is_relative_to(here) else found.file
    yield click.style(printable(found.path), bold=True) + (" (differs from what was rendered)" if found.edited else "")
    yield from _fact("file", [str(file)])
    yield from _object(found, str(file))
    same = found.instance == found.component
    yield from _fact("instance", [found.instance if same else f"{found.instance}, of component {found.component}"])
    yield from _fact("component", _repository(found.repository))
    yield from _fact("result", [_result(found)])
    label = "made by" if len(found.entries) < 2 else "one of"
    yield from _fact(label, [line for entry in found.entries for line in _entry(entry)])
    yield from _fact("filters", [_filter(one) for one in found.filters])
    yield from _fact("sources", found.sources)
    yield from _fact("programs", [", ".join(found.tools)] if found.tools else [])
    if found.field is not None:
        yield ""
        yield from _field(found.field, before)
        return
    yield from _read(found)
    command = _worth_asking(found)
    if command:
        yield ""
        yield f"Where one of them comes from: {_command(command, before)}"


def _worth_asking(found: ManifestExplanation) -> tuple[str, ...]:
    """The command that explains a parameter that people ask for: the component's own, or the values of its chart."""
    asked = [one for one in found.parameters if one.command and not str(one.path[0]).startswith("_")]
    own = next((one for one in asked if one.path[0] == found.component.replace("-", "_")), None)
    if own is not None:
        return own.command
    for entry in found.entries:
        if entry.settings.get("helm_values"):
            path = f"kapitan.compile[{entry.index}].helm_values"
            return ("inventory", "explain", path, "--instance", found.instance)
    return asked[0].command if asked else ()


def _fact(label: str, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"  {'' if number else label:<{_LABEL}}{printable(line)}"


def _object(found: ManifestExplanation, file: str) -> Iterator[str]:
    if found.object is not None:
        one = found.object
        name = f"{one.namespace}/{one.name}" if one.namespace else one.name
        yield from _fact("object", [f"{one.kind} {name}, {file}:{one.line}"])


def _repository(one: ComponentCheckout | None) -> list[str]:
    if one is None:
        return ["its folder is not there any longer"]
    told = [one.url or "a repository without a remote" if one.commit else "a folder outside of git"]
    told += [f"version {one.version}"] if one.version else []
    told += [f"commit {one.commit[:_COMMIT]}"] if one.commit else []
    told += [f"folder {one.path}"] if one.path else []
    return [", ".join(told) + (" (changed since)" if one.changed else "")]


def _result(found: ManifestExplanation) -> str:
    if found.reused is None:
        return "there is no record of what was read; compile once more to get one"
    text = "taken from the cache by the last run" if found.reused else "rendered by the last run"
    return text + (f"; not kept in the cache: {found.refusal}" if found.refusal else "")


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


def _filter(one: FilterUse) -> str:
    off = "" if one.enabled else ", not enabled"
    return f"{one.type} {one.filter} on {one.path}{off} (commodore.postprocess.filters[{one.index}])"


def _read(found: ManifestExplanation) -> Iterator[str]:
    if found.parameters or found.names:
        yield ""
        yield f"Parameters that the instance {printable(found.instance)} has read:"
        rows = [(_name(one, found.instance), _value(one)) for one in found.parameters]
        rows += [(_name(one, found.instance), "which keys there are") for one in found.names]
        yield from _table(rows, _PARAMETERS)
    if found.all_targets:
        yield "  … and which instances there are"
    files = [one for one in found.files if one.exists]
    if files:
        yield ""
        yield "Files that it has read:"
        folder = {"tree": " (and all below it)", "pattern": " (which files there are)"}
        rows = [(one.path + folder.get(one.kind, ""), "changed since" if one.changed else "") for one in files]
        yield from _table(rows, _FILES)
    missing = [one for one in found.files if not one.exists]
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


def _name(one: ReadParameter, instance: str) -> str:
    from commodore.core.inventory.explain import path_text

    name = path_text(one.path) if one.path else "all parameters"
    return name if one.target == instance else f"{name} of {one.target}"


def _value(one: ReadParameter) -> str:
    text = _short(one.value) if one.is_set else "is not set"
    return text + (" (changed since)" if one.changed else "")


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
    equal = [one for one in field.candidates if one.whole]
    inner = [one for one in field.candidates if not one.whole]
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


def _candidates(found: Iterable[ParameterCandidate], before: tuple[str, ...]) -> Iterator[str]:
    for one in found:
        held = "" if one.whole else f"  # {printable(_short(one.value))}"
        yield f"    {click.style(printable(_command(one.command, before)), fg='cyan')}{held}"


def _command(words: tuple[str, ...], before: tuple[str, ...]) -> str:
    return shlex.join(["commodore", *before, *words])
