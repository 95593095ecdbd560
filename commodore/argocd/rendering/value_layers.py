"""Which layer sets a value of a chart: its own files, value files, the source's values, parameters."""

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
_MOST_ITEMS = 65_536  # of a list that a parameter makes; helm has the same bound
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Layer:
    """Values that are laid over those of the layers before.

    Attributes:
        place: the file or parameter that they are from.
        values: maps and lists; of a list that a parameter changes, a map by number.
        of_chart: whether the chart itself has them.
        source: of the Application, from 1.
    """

    place: str
    values: Any
    of_chart: bool = False
    source: int = 0


@dataclass(frozen=True, slots=True)
class SourceValue:
    """A value that charts of a source have. Sources are counted from 1."""

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
    """The layers that set a value, those first that count least, and what it is in the end."""

    path: str
    layers: Sequence[LayerValue]
    values: Sequence[SourceValue]


def value_layers(chart: Path, arguments: Sequence[str], inline: str, shown: Mapping[str, str]) -> Iterator[Layer]:
    """The layers of the values that helm is called with, those first that count least.

    Args:
        chart: the folder of the chart.
        inline: the file that holds the values of the source itself.
        shown: what the beginnings of paths are replaced by.
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
    for wanted in ("--set", "--set-string", "--set-file"):
        for option, word in pairs:
            if option == wanted:
                name, _, text = word.partition("=")
                yield Layer(f"parameter {name}", _nested(steps_of(name), _given(option, text, shown)))


def _charts_in(chart: Path) -> Iterator[tuple[str, str]]:
    """The charts that lie in folders of a chart: the key of their values, and their folder."""
    listed = _content(chart / "Chart.yaml")
    entries = listed.get("dependencies") if isinstance(listed, Mapping) else None
    aliases = {
        str(one.get("name")): str(one["alias"])
        for one in (entries if isinstance(entries, list) else ())
        if isinstance(one, Mapping) and one.get("alias")
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
        return {}  # helm says what is wrong with it


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
    """A value as `--set` takes it."""
    known = {"true": True, "false": False, "null": None}
    if text in known:
        return known[text]
    return int(text) if _NUMBER.fullmatch(text) else text


def steps_of(path: str) -> Steps:
    """The keys and numbers of a path as `--set` has it: `a.b[0]`, with `\\.` for a dot in a key."""
    found: list[str | int] = []
    for number, key in _STEP.findall(path):
        found.append(int(number) if number else re.sub(r"\\(.)", r"\1", key))
    return tuple(found)


def _nested(steps: Steps, value: Any) -> Any:
    for step in reversed(steps):
        value = {step: value}
    return value


def explain_value(layers: Iterable[Layer], path: str) -> ExplainedValue:
    """The layers that set a value, and what it is in the end.

    Raises:
        InputError: CMD-ARGO-036, no layer has it.
    """
    known = list(layers)
    steps = steps_of(path)
    found = [(one, value) for one in known if (value := _at(one.values, steps)) is not _ABSENT]
    if not found:
        names = sorted({str(key) for one in known if isinstance(one.values, Mapping) for key in one.values})
        raise InputError(
            "CMD-ARGO-036",
            f"no layer of values has {path!r}" if known else "the Application has no chart, so it has no values",
            hint=did_you_mean(path.partition(".")[0], names) or "write it as helm's --set does, such as image.tag",
        )
    sources = dict.fromkeys(one.source for one, _ in found)
    values = {source: _at(_joined([one for one in known if one.source == source]), steps) for source in sources}
    return ExplainedValue(
        path,
        [LayerValue(one.source, value, one.place) for one, value in found],
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
    """All values of a source: what it gives is joined first, and then laid over what its charts have."""
    own: Any = {}
    given: Any = {}
    for one in layers:
        if one.of_chart:
            own = _laid_over(own, one.values)
        else:
            given = _laid_over(given, one.values)
    return _without_nulls(_laid_over(own, given))


def _laid_over(old: Any, new: Any) -> Any:
    """Maps are joined, all else is replaced; a map by numbers changes the items of a list."""
    if not isinstance(new, Mapping):
        return new
    if new and all(isinstance(key, int) for key in new):
        items = [*old] if isinstance(old, list) else []
        for key, value in new.items():
            items += [None] * (min(key, _MOST_ITEMS) + 1 - len(items))
            if key < len(items):
                items[key] = _laid_over(items[key], value)
        return items
    known = old if isinstance(old, Mapping) else {}
    return {**known, **{key: _laid_over(known.get(key), value) for key, value in new.items()}}


def _without_nulls(value: Any) -> Any:
    """Null takes a key away."""
    if not isinstance(value, Mapping):
        return value
    return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
