"""Layers of a chart's values: its own files, value files, the source's values, parameters."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from commodore.base.errors import InputError, did_you_mean
from commodore.base.yaml.kube_yaml import read_documents

Steps = tuple[str | int, ...]
_STEP = re.compile(r"\[(\d+)\]|\.?((?:\\.|[^.\[\\])+)")
_NUMBER = re.compile(r"0|-?[1-9]\d*")
_LARGEST = 4 << 20
_MOST_ITEMS = 65_536  # of a list that a parameter creates; helm has the same limit
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Layer:
    """Values that override those of the layers before.

    Attributes:
        place: their file or parameter.
        values: mappings and lists; for a list that a parameter changes, a mapping by index.
        of_chart: whether they are the chart's own values.
        source: number of the Application's source, from 1.
    """

    place: str
    values: Any
    of_chart: bool = False
    source: int = 0


@dataclass(frozen=True, slots=True)
class SourceValue:
    """A value in the charts of a source. Sources are counted from 1."""

    source: int
    value: Any


@dataclass(frozen=True, slots=True)
class LayerValue(SourceValue):
    """A value that a layer sets.

    Attributes:
        place: the file or parameter.
    """

    place: str


@dataclass(frozen=True, slots=True)
class ExplainedValue:
    """The layers that set a value, in ascending precedence, and the resulting values."""

    path: str
    layers: Sequence[LayerValue]
    values: Sequence[SourceValue]


def value_layers(chart: Path, arguments: Sequence[str], inline: str, shown: Mapping[str, str]) -> Iterator[Layer]:
    """Yield the layers of helm's values, in ascending precedence.

    Args:
        chart: the folder of the chart.
        inline: the name of the file with the source's own values.
        shown: replacements for prefixes of paths.
    """
    for name, folder in _charts_in(chart):
        yield Layer(
            f"charts/{folder}/values.yaml", {name: _content(chart / "charts" / folder / "values.yaml")}, of_chart=True
        )
    yield Layer("values.yaml of the chart", _content(chart / "values.yaml"), of_chart=True)
    pairs = list(pairwise(arguments))
    for option, word in pairs:
        if option == "--values":
            place = "values of the source" if os.path.basename(word) == inline else _short(word, shown)
            yield Layer(place, _content(Path(word)))
    for parameter_option in ("--set", "--set-string", "--set-file"):
        for option, word in pairs:
            if option == parameter_option:
                name, _, text = word.partition("=")
                yield Layer(f"parameter {name}", _nested(steps_of(name), _given(option, text, shown)))


def _charts_in(chart: Path) -> Iterator[tuple[str, str]]:
    """Yield the unpacked dependencies of a chart: the key of their values, and their folder."""
    listed = _content(chart / "Chart.yaml")
    entries = listed.get("dependencies") if isinstance(listed, Mapping) else None
    aliases = {
        str(entry.get("name")): str(entry["alias"])
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, Mapping) and entry.get("alias")
    }
    folder = chart / "charts"
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
        content = _content(folder / name / "Chart.yaml")
        if isinstance(content, Mapping) and isinstance(content.get("name"), str):
            yield aliases.get(content["name"], str(content["name"])), name


def _content(file: Path) -> Any:
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            return {}
        return next(read_documents(file.read_bytes(), place=file.name), {})
    except (OSError, InputError):
        return {}  # helm reports the error


def _short(path: str, shown: Mapping[str, str]) -> str:
    for beginning, short in shown.items():
        path = path.replace(beginning, short)
    return path


def _given(option: str, text: str, shown: Mapping[str, str]) -> Any:
    if option == "--set-file":
        return f"(the content of {_short(text, shown)})"
    if option == "--set-string":
        return text.replace("\\,", ",")
    if text.startswith("{") and text.endswith("}"):
        return [_typed(part) for part in text[1:-1].split(",") if part]
    return _typed(text.replace("\\,", ","))


def _typed(text: str) -> Any:
    """Parse a value as `--set` does."""
    known = {"true": True, "false": False, "null": None}
    if text in known:
        return known[text]
    return int(text) if _NUMBER.fullmatch(text) else text


def steps_of(path: str) -> Steps:
    """Return the keys and indexes of a path of `--set`: `a.b[0]`, with `\\.` for a dot in a key."""
    steps: list[str | int] = []
    for number, key in _STEP.findall(path):
        steps.append(int(number) if number else re.sub(r"\\(.)", r"\1", key))
    return tuple(steps)


def _nested(steps: Steps, value: Any) -> Any:
    for step in reversed(steps):
        value = {step: value}
    return value


def explain_value(layers: Iterable[Layer], path: str) -> ExplainedValue:
    """Return the layers that set a value, and the resulting values.

    Raises:
        InputError: CMD-ARGO-036, no layer has it.
    """
    known = list(layers)
    steps = steps_of(path)
    matches = [(layer, value) for layer in known if (value := _at(layer.values, steps)) is not _ABSENT]
    if not matches:
        names = sorted({str(key) for layer in known if isinstance(layer.values, Mapping) for key in layer.values})
        raise InputError(
            "CMD-ARGO-036",
            f"no layer of values has {path!r}" if known else "the Application has no chart, so it has no values",
            hint=did_you_mean(path.partition(".")[0], names) or "write it as helm's --set does, such as image.tag",
        )
    sources = dict.fromkeys(layer.source for layer, _ in matches)
    values = {source: _at(_joined([layer for layer in known if layer.source == source]), steps) for source in sources}
    return ExplainedValue(
        path,
        [LayerValue(layer.source, value, layer.place) for layer, value in matches],
        [SourceValue(source, value) for source, value in values.items() if value is not _ABSENT],
    )


def _at(value: Any, steps: Steps) -> Any:
    for step in steps:
        if isinstance(value, Mapping):
            value = value.get(step, _ABSENT)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return _ABSENT
    return value


def _joined(layers: Iterable[Layer]) -> Any:
    """Merge the values of a source: first its own, and then these over those of its charts."""
    own: Any = {}
    given: Any = {}
    for layer in layers:
        if layer.of_chart:
            own = _merged(own, layer.values)
        else:
            given = _merged(given, layer.values)
    return _without_nulls(_merged(own, given))


def _merged(old: Any, new: Any) -> Any:
    """Merge values: mappings are merged, all else is replaced; a mapping by index changes the items of a list."""
    if not isinstance(new, Mapping):
        return new
    if new and all(isinstance(key, int) for key in new):
        items = [*old] if isinstance(old, list) else []
        for key, value in new.items():
            items += [None] * (min(key, _MOST_ITEMS) + 1 - len(items))
            if key < len(items):
                items[key] = _merged(items[key], value)
        return items
    known = old if isinstance(old, Mapping) else {}
    return {**known, **{key: _merged(known.get(key), value) for key, value in new.items()}}


def _without_nulls(value: Any) -> Any:
    """Remove keys with null values."""
    if not isinstance(value, Mapping):
        return value
    return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
