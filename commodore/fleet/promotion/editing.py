"""Changing values in YAML files so that comments, quotes and the order of keys survive."""

from __future__ import annotations

import difflib
import io
from collections.abc import Mapping
from typing import Any

from commodore.errors import InputError
from commodore.fleet.merging import Path_, same
from commodore.fleet.values_text import as_yaml, is_read_otherwise
from commodore.manifests import load
from commodore.names import requirement

_FORMS = ((2, 0), (4, 2), (2, 2))  # columns of list items, and of their dashes


def set_values(text: bytes, changes: Mapping[Path_, Any], wanted: Any, place: str) -> bytes:
    """A YAML file with other values at some paths.

    Args:
        changes: the new value by path; lists and scalars, or whole maps where there was none.
        wanted: what the file must say afterwards.
        place: what errors call it.

    Returns:
        The file; without its comments if they cannot be kept.

    Raises:
        InputError: CMD-FLT-025, what keeps comments is not installed.
    """
    original = text.decode("utf-8", "replace")
    written = _edited(original, changes)
    if written is None or not same(load(written, place=place), wanted):
        written = as_yaml(wanted)
    return written.encode()


def _edited(text: str, changes: Mapping[Path_, Any]) -> str | None:
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError
    except ImportError as error:
        raise InputError(
            "CMD-FLT-025",
            "comments in YAML files are kept by ruamel.yaml, which is not installed",
            hint=f"install it: pip install '{requirement('fleet')}'",
        ) from error

    def reader(columns: int, dash: int) -> YAML:
        yaml = YAML()
        yaml.preserve_quotes = True
        yaml.width = 4096
        yaml.indent(mapping=2, sequence=columns, offset=dash)
        yaml.representer.add_representer(type(None), _write_null)
        yaml.explicit_start = text.startswith("---")
        return yaml

    def written(columns: int, dash: int, data: Any) -> str:
        stream = io.StringIO()
        reader(columns, dash).dump(data, stream)
        return stream.getvalue()

    def likeness(form: tuple[int, int]) -> float:
        ours = written(*form, reader(*form).load(text)).splitlines()
        return difflib.SequenceMatcher(None, text.splitlines(), ours, autojunk=False).ratio()

    try:
        form = max(_FORMS, key=likeness)
        data = reader(*form).load(text)
        for path, value in changes.items():
            _put(data, path, value)
        done = written(*form, data)
        return done if text.endswith("\n") else done.rstrip("\n")
    except (YAMLError, KeyError, TypeError, ValueError, AttributeError):
        return None


def _write_null(representer: Any, _: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


def _put(data: Any, path: Path_, value: Any) -> None:
    for step in path[:-1]:
        if not isinstance(data.get(step), dict):
            data[step] = {}
        data = data[step]
    last = path[-1]
    old = data.get(last)
    if isinstance(value, list) and isinstance(old, list):
        _fill(old, value)
    elif isinstance(value, str) and isinstance(old, str) and type(old) is not str:
        data[last] = type(old)(value)  # the quotes that were there
    else:
        data[last] = _plain(value)


def _fill(old: Any, new: list[Any]) -> None:
    """Give a list other items; what stands behind its last item stays there."""
    tail = old.ca.items.pop(len(old) - 1, None) if old else None
    for number, value in enumerate(new):
        if number >= len(old):
            old.append(_plain(value))
        elif not same(_bare(old[number]), value):
            old[number] = _plain(value)
    del old[len(new) :]
    if tail is not None and old:
        old.ca.items[len(old) - 1] = tail


def _bare(value: Any) -> Any:
    """A value without what the reader knows of its form."""
    if isinstance(value, dict):
        return {_bare(key): _bare(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_bare(inner) for inner in value]
    for kind in (str, bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    return value


def _plain(value: Any) -> Any:
    """A value to be written; in quotes if others would read its text as something else."""
    from ruamel.yaml.scalarstring import SingleQuotedScalarString

    if isinstance(value, dict):
        return {_plain(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, str) and (is_read_otherwise(value) or _resolves(value)):
        return SingleQuotedScalarString(value)
    return value


def _resolves(text: str) -> bool:
    """Whether YAML 1.1 takes a text without quotes for something else."""
    from yaml import SafeLoader

    resolvers = SafeLoader.yaml_implicit_resolvers
    found = (*resolvers.get(text[:1], ()), *resolvers.get(None, ()))
    return any(pattern.match(text) for _, pattern in found)
