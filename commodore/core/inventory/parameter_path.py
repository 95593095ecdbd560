"""Paths of parameters, as text (`argocd.images[0]."example.com/name"`) and as tuples.

Keys are joined by dots; `[0]` is the first item of a list. A key with dots, brackets or quotes, or an empty key, is
written in double quotes with the escapes of JSON, or in single quotes without escapes.
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
"""The keys and list indexes of a parameter, from the top."""

_BARE = re.compile(r"""[^.\[\]"'\s](?:[^.\[\]]*[^.\[\]\s])?""")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_LITERAL = re.compile(r"'([^']*)'")
_INDEX = re.compile(r"\[([0-9]{1,9})\]")
_RULE = 'a path is written like argocd.images[0]."a.key.with.dots"'


def parse_path(text: str) -> ParameterPath:
    """Parse a path.

    Raises:
        UsageError: CMD-INV-040, the text is not a valid path; the message has the position.
    """
    path: list[str | int] = []
    position = 0
    while True:
        key, position = _key(text, position)
        path.append(key)
        while match := _INDEX.match(text, position):
            path.append(int(match[1]))
            position = match.end()
        if position == len(text):
            return tuple(path)
        if text[position] != ".":
            raise _malformed(text, position)
        position += 1


def format_path(path: Sequence[str | int]) -> str:
    """Return the text of a path, which `parse_path` reads."""
    text = ""
    for segment in path:
        if isinstance(segment, int):
            text += f"[{segment}]"
        else:
            key = segment if _BARE.fullmatch(segment) else json.dumps(segment, ensure_ascii=False)
            text += f".{key}" if text else key
    return text


def path_text(path: Sequence[Any]) -> str:
    """Return the text of a path with keys of any type."""
    return format_path([key if isinstance(key, int) and not isinstance(key, bool) else key_text(key) for key in path])


def key_text(key: object) -> str:
    """Return the text of a key, which in a rendered hierarchy may be a number, true, false or null."""
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)


def look_up(parameters: Mapping[Any, Any], path: Sequence[str | int]) -> Any:
    """Return the value of a parameter.

    Raises:
        InputError: CMD-INV-041, it does not exist; the message names the first missing segment, with suggestions.
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
    if match := _QUOTED.match(text, position):
        try:
            return str(json.loads(match[0])), match.end()
        except ValueError:
            raise _malformed(text, position) from None
    if match := _LITERAL.match(text, position):
        return match[1], match.end()
    if match := _BARE.match(text, position):
        return match[0], match.end()
    raise _malformed(text, position)


def _malformed(text: str, position: int) -> UsageError:
    place = f"syntax error at {text[position:]!r}" if text[position:] else "it ends too early"
    return UsageError("CMD-INV-040", f"{text!r} is not a valid path of a parameter: {place}", hint=_RULE)


def _find_key(value: Mapping[Any, Any], segment: str) -> tuple[object] | None:
    """Return the key of a segment: the text itself, else a key of another type with this text."""
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
        return f"check {format_path(path[:depth])}" if depth else _RULE
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
    """Return the key with dots that was split into several segments."""
    rest = ".".join(str(segment) for segment in path[depth:])
    return max((key for key in keys if "." in key and f"{rest}.".startswith(f"{key}.")), key=len, default="")
