"""Where a parameter is: `argocd.images[0]."example.com/name"`, as people write it and as a tuple.

Keys are joined by dots; `[0]` is the first item of a list. A key that holds dots, brackets or quotes, or is empty,
stands in double quotes with the escapes of JSON, or in single quotes without any.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from commodore.base.errors import InputError, UsageError, did_you_mean
from commodore.base.fields import kind_of
from commodore.base.printable import counted

ParameterPath = tuple[str | int, ...]
"""The keys and list indexes that lead to a parameter, from the top."""

_BARE = re.compile(r"""[^.\[\]"'\s](?:[^.\[\]]*[^.\[\]\s])?""")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_LITERAL = re.compile(r"'([^']*)'")
_INDEX = re.compile(r"\[([0-9]{1,9})\]")
_RULE = 'a path is written like argocd.images[0]."a.key.with.dots"'


def parse_path(text: str) -> ParameterPath:
    """The path that a text stands for.

    Raises:
        UsageError: CMD-INV-040, the text is no path; names the place in it.
    """
    path: list[str | int] = []
    position = 0
    while True:
        key, position = _key(text, position)
        path.append(key)
        while found := _INDEX.match(text, position):
            path.append(int(found[1]))
            position = found.end()
        if position == len(text):
            return tuple(path)
        if text[position] != ".":
            raise _malformed(text, position)
        position += 1


def format_path(path: Sequence[str | int]) -> str:
    """The text of a path; `parse_path` reads it back."""
    text = ""
    for segment in path:
        if isinstance(segment, int):
            text += f"[{segment}]"
        else:
            key = segment if _BARE.fullmatch(segment) else json.dumps(segment, ensure_ascii=False)
            text += f".{key}" if text else key
    return text


def path_text(path: Sequence[Any]) -> str:
    """A path whose keys may be of any type, as people write it."""
    return format_path([key if isinstance(key, int) and not isinstance(key, bool) else key_text(key) for key in path])


def key_text(key: object) -> str:
    """How a path names a key, which in a rendered hierarchy may be a number, true, false or null."""
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)


def look_up(parameters: Mapping[Any, Any], path: Sequence[str | int]) -> Any:
    """The value of a parameter.

    Raises:
        InputError: CMD-INV-041, there is none at this path; names the first segment that leads nowhere, and what it
            may have been meant to be.
    """
    value: Any = parameters
    for depth, segment in enumerate(path):
        if isinstance(segment, int):
            if not isinstance(value, list) or segment >= len(value):
                raise _missing(value, path, depth)
            value = value[segment]
        elif isinstance(value, Mapping) and (key := _find_key(value, segment)):
            value = value[key[0]]
        else:
            raise _missing(value, path, depth)
    return value


def _key(text: str, position: int) -> tuple[str, int]:
    if found := _QUOTED.match(text, position):
        try:
            return str(json.loads(found[0])), found.end()
        except ValueError:
            raise _malformed(text, position) from None
    if found := _LITERAL.match(text, position):
        return found[1], found.end()
    if found := _BARE.match(text, position):
        return found[0], found.end()
    raise _malformed(text, position)


def _malformed(text: str, position: int) -> UsageError:
    place = f"something is wrong at {text[position:]!r}" if text[position:] else "it ends too early"
    return UsageError("CMD-INV-040", f"{text!r} is no path of a parameter: {place}", hint=_RULE)


def _find_key(value: Mapping[Any, Any], segment: str) -> tuple[object] | None:
    """The key that a segment names: the text itself, else a key of another type that is written like it."""
    if segment in value:
        return (segment,)
    return next(((key,) for key in value if not isinstance(key, str) and key_text(key) == segment), None)


def _missing(value: Any, path: Sequence[str | int], depth: int) -> InputError:
    segment = path[depth]
    owner = f"parameter {format_path(path[:depth])}" if depth else "the hierarchy"
    if isinstance(value, Mapping):
        what = f"has no item [{segment}]: it is a map" if isinstance(segment, int) else f"has no key {segment!r}"
    elif isinstance(value, list):
        count = counted(len(value), "item")
        what = f"has {count}, and no [{segment}]" if isinstance(segment, int) else f"is a list, and has no {segment!r}"
    else:
        what = f"is {kind_of(value)}, and has no {segment!r}"
    what = what.replace("has no key", "has no parameter") if not depth else what
    return InputError("CMD-INV-041", f"{owner} {what}", hint=_hint(value, path, depth))


def _hint(value: Any, path: Sequence[str | int], depth: int) -> str:
    segment = path[depth]
    if isinstance(value, list):
        return f"its items are [0] to [{len(value) - 1}]" if value else "the list is empty"
    if not isinstance(value, Mapping) or isinstance(segment, int):
        return f"look at {format_path(path[:depth])}" if depth else _RULE
    keys = [key_text(key) for key in value]
    if segment.partition(":")[0] in keys:
        return f"join keys by dots: {format_path([*path[:depth], *segment.split(':')])}"
    if similar := did_you_mean(segment, keys):
        return similar
    joined = _joined_key(keys, path, depth)
    if joined:
        return f"put a key with dots into quotes: {format_path([*path[:depth], joined])}"
    if not depth and segment == "parameters":
        return "leave out 'parameters.' at the beginning"
    return f"the keys there are {', '.join(repr(key) for key in sorted(keys))}" if 0 < len(keys) <= _LISTED else ""


_LISTED = 12  # keys that a hint lists


def _joined_key(keys: Sequence[str], path: Sequence[str | int], depth: int) -> str:
    """The key with dots that was taken for several."""
    rest = ".".join(str(segment) for segment in path[depth:])
    return max((key for key in keys if "." in key and f"{rest}.".startswith(f"{key}.")), key=len, default="")
