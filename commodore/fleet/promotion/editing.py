"""Change values in YAML files and keep comments, quotes and the order of keys."""

from __future__ import annotations

import contextlib
import copy
import difflib
import io
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from commodore.base.errors import CommodoreError, InputError
from commodore.base.names import requirement
from commodore.base.yaml import compose, load
from commodore.fleet.merging import Path_, same
from commodore.fleet.repository.files import positions_of
from commodore.fleet.values_text import as_yaml, is_read_otherwise

# Columns of keys, of list items, and of their dashes.
_FORMS = ((2, 2, 0), (2, 4, 2), (2, 2, 2), (4, 2, 0), (4, 4, 2), (4, 6, 4))


def set_values(text: bytes, changes: Mapping[Path_, Any], expected: Any, place: str) -> bytes:
    """Change values of a YAML file.

    Args:
        changes: the new value by path; lists and scalars, or whole maps where the file had no map.
        expected: the content of the file after the change.
        place: the file's name in errors.

    Returns:
        The file; without its comments if they cannot be kept.

    Raises:
        InputError: CMD-FLT-025, ruamel.yaml is not installed.
    """
    original = text.decode("utf-8-sig", "replace")
    lines = original.replace("\r\n", "\n")
    for written in (*_edited(lines, changes), as_yaml(expected)):
        if _reads_as(written, expected, place):
            break
    if "\r\n" in original:
        written = written.replace("\n", "\r\n")
    return text[: len(text) - len(text.removeprefix(BOM_UTF8))] + written.encode()


def _reads_as(text: str, expected: Any, place: str) -> bool:
    with contextlib.suppress(CommodoreError):
        for node in compose(text, place=place):
            positions_of(node, place)  # no key twice
        return same(load(text, place=place), expected)
    return False


def _edited(text: str, changes: Mapping[Path_, Any]) -> Iterator[str]:
    """Yield the changed file in its own form, then in the form in which ruamel.yaml writes it."""
    try:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import YAMLError
        from ruamel.yaml.resolver import VersionedResolver
    except ImportError as error:
        raise InputError(
            "CMD-FLT-025",
            "comments in YAML files are kept by ruamel.yaml, which is not installed",
            hint=f"install it: pip install '{requirement('fleet')}'",
        ) from error

    class Resolver(VersionedResolver):
        versioned_resolver = _resolvers()  # the same types as PyYAML, which reads the file later

    def reader(form: tuple[int, int, int]) -> YAML:
        yaml = YAML()
        yaml.preserve_quotes = True
        yaml.width = 4096
        yaml.indent(*form)
        yaml.representer.add_representer(type(None), _write_null)
        yaml.version = (1, 1)
        yaml.Resolver = Resolver
        return yaml

    def written(form: tuple[int, int, int], data: Any) -> str:
        stream = io.StringIO()
        reader(form).dump(data, stream)
        return stream.getvalue().removeprefix("" if text.startswith("%") else "%YAML 1.1\n---\n")

    def unchanged(form: tuple[int, int, int]) -> str:
        return written(form, reader(form).load(text))

    try:
        form = max(_FORMS, key=lambda candidate: _likeness(text, unchanged(candidate)))
        data = reader(form).load(text)
        for path, value in changes.items():
            _put(data, path, value)
        done, before = written(form, data), unchanged(form)
    except (YAMLError, KeyError, TypeError, ValueError, AttributeError):
        return
    whole = text.endswith("\n")
    yield _apply_differences(text if whole else f"{text}\n", before, done).removesuffix("" if whole else "\n")
    yield done if whole else done.rstrip("\n")


def _likeness(text: str, other: str) -> float:
    return difflib.SequenceMatcher(None, text.splitlines(), other.splitlines(), autojunk=False).ratio()


def _apply_differences(text: str, before: str, after: str) -> str:
    """Apply the differences between two texts to a third: its own lines stay where those two are equal."""
    lines, old, new = (version.splitlines(keepends=True) for version in (text, before, after))
    ours, theirs = _matches(old, lines), _matches(old, new)
    merged: list[str] = []
    start = (0, 0, 0)
    for here in (*(at for at in range(len(old)) if at in ours and at in theirs), len(old)):
        end = (here, ours.get(here, len(lines)), theirs.get(here, len(new)))
        same_there = old[start[0] : end[0]] == new[start[2] : end[2]]
        merged += lines[start[1] : end[1]] if same_there else new[start[2] : end[2]]
        merged += lines[end[1] : end[1] + 1]
        start = (end[0] + 1, end[1] + 1, end[2] + 1)
    return "".join(merged)


def _matches(first: Sequence[str], second: Sequence[str]) -> dict[int, int]:
    """Map the numbers of lines to those of the same lines in another text."""
    blocks = difflib.SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    return {block.a + offset: block.b + offset for block in blocks for offset in range(block.size)}


def _write_null(representer: Any, _: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


def _put(data: Any, path: Path_, value: Any) -> None:
    from ruamel.yaml.comments import CommentedMap

    following = None
    for step in path[:-1]:
        if not isinstance(data.get(step), dict):
            following = following or _take_following_comment(data, step)
            data[_plain(step)] = CommentedMap()
        data = _unshared(data, step)
    last = _plain(path[-1])
    old = data.get(last)
    if isinstance(value, list) and isinstance(old, list):
        _fill(_unshared(data, last), value)
    elif isinstance(value, str) and isinstance(old, str) and type(old) is not str:
        data[last] = type(old)(value)  # keeps the kind of quotes
    else:
        following = following or _take_following_comment(data, last)
        data[last] = _plain(value)
    if following:
        holder, key, slot = _last_line(data)
        holder.ca.items[key] = [following if number == slot else None for number in range(4)]


def _take_following_comment(data: Any, key: object) -> Any:
    """Remove and return the comment lines after a map that gets a new key: they describe what follows the map."""
    if key in data or not data or data.merge or data.fa.flow_style():
        return None
    holder, last, slot = _last_line(data)
    tokens = holder.ca.items.get(last)
    token = tokens[slot] if tokens else None
    line, _, following = token.value.partition("\n") if token else ("", "", "")
    if not following:
        return None
    tokens[slot] = _comment(f"{line}\n", token) if line else None
    return _comment(f"\n{following}", token)


def _last_line(data: Any) -> tuple[Any, object, int]:
    """Return the block-style map or list with the last line of a map, its last key or index, and its comment slot."""
    while True:
        is_list = isinstance(data, list)
        key = len(data) - 1 if is_list else list(data)[-1]
        if not (hasattr(data[key], "fa") and data[key]) or data[key].fa.flow_style():
            return data, key, 0 if is_list else 2
        data = data[key]


def _unshared(data: Any, step: object) -> Any:
    """Return the map or list at a key, copied first if an alias or a merge key shares it, so that the others stay."""
    value = data[step]
    anchored = hasattr(value, "yaml_set_anchor") and value.anchor.value
    merged = hasattr(data, "non_merged_items") and step not in dict(data.non_merged_items())
    if anchored or merged:
        value = data[step] = copy.deepcopy(value)
        value.yaml_set_anchor(None)
    return value


def _fill(old: Any, new: list[Any]) -> None:
    """Replace the items of a list; comments after its last item stay after the new last one."""
    last = len(old) - 1
    tail = old.ca.items.pop(last, None)
    for number, value in enumerate(new):
        if number >= len(old):
            old.append(_plain(value))
        elif not same(_as_python(old[number]), value):
            _replace(old, number, value)
    del old[len(new) :]
    if tail and tail[0] and len(old) > last + 1:
        line, _, following = tail[0].value.partition("\n")
        if line:  # a comment on the line of the former last item
            old.ca.items[last] = [_comment(f"{line}\n", tail[0]), *tail[1:]]
            tail = [_comment(f"\n{following}", tail[0]), *tail[1:]] if following else None
    if tail and old:
        old.ca.items[len(old) - 1] = tail


def _comment(text: str, like: Any) -> Any:
    return type(like)(text, like.start_mark, None)


def _replace(data: Any, key: Any, value: Any) -> None:
    """Replace the value of a key or an item; in maps only the differing keys."""
    old = data[key]
    if isinstance(old, dict) and isinstance(value, dict):
        for name in [name for name in old if name not in value]:
            del old[name]
        for name, inner in value.items():
            if name not in old or not same(_as_python(old[name]), inner):
                _put(old, (name,), inner)
    else:
        data[key] = _plain(value)


def _as_python(value: Any) -> Any:
    """Convert a value of ruamel.yaml to plain Python types."""
    if isinstance(value, dict):
        return {_as_python(key): _as_python(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_python(inner) for inner in value]
    for kind in (str, bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    return value


def _plain(value: Any) -> Any:
    """Convert a value for writing; text is quoted if YAML parsers would read it as another type."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq
    from ruamel.yaml.scalarstring import SingleQuotedScalarString

    if isinstance(value, dict):
        return CommentedMap((_plain(key), _plain(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return CommentedSeq(_plain(inner) for inner in value)
    if isinstance(value, str) and (is_read_otherwise(value) or _resolves(value)):
        return SingleQuotedScalarString(value)
    return value


def _resolves(text: str) -> bool:
    """Return True if YAML 1.1 reads the text without quotes as another type."""
    return any(pattern.match(text) for _, pattern in _resolvers().get(text[:1], ()))


def _resolvers() -> dict[str, list[tuple[str, Any]]]:
    from yaml import SafeLoader

    return {first: list(resolvers) for first, resolvers in SafeLoader.yaml_implicit_resolvers.items()}
