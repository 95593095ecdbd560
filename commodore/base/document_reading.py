"""Documents read again by the program itself: what `commodore.base.documents` has written becomes dataclasses."""

from __future__ import annotations

import functools
import json
import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from commodore.base.documents import VERSION

T = TypeVar("T")


def read_document(schema: str, kind: type[T], text: bytes) -> T:
    """The value that `document_text(schema, value)` was made of.

    Raises:
        ValueError, TypeError, RecursionError: it is another document, or of another version.
    """
    data = _checked(dict, json.loads(text))
    if (data.get("schema", schema), data.get("version")) != (schema, VERSION):  # the first reports had no schema
        raise ValueError(f"no {schema} of version {VERSION}")
    return read_record(kind, data)


def read_record(kind: type[T], data: Any) -> T:
    """The dataclass that `plain` has made this map of. Fields that are not there have their defaults; further keys, as
    those of properties, do not count.

    Raises:
        ValueError, TypeError: a field is missing, or of another type.
    """
    return cast(T, _reader(cast(Hashable, kind))(data))


@functools.cache
def _reader(hint: Hashable) -> Callable[[Any], Any]:
    """The function that reads data of a type."""
    kind: Any = get_origin(hint) or hint
    arguments = get_args(hint)
    if kind in (Union, types.UnionType):
        [inner] = [_reader(one) for one in arguments if one is not types.NoneType]
        return lambda data: None if data is None else inner(data)
    if kind is Literal:
        return lambda data: arguments[arguments.index(data)]
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        readers = {one.name: _reader(hints[one.name]) for one in fields(kind) if one.metadata.get("json", True)}
        return lambda data: kind(
            **{name: readers[name](inner) for name, inner in _checked(dict, data).items() if name in readers}
        )
    if issubclass(kind, Mapping):
        value = _reader(arguments[1])
        return lambda data: {name: value(inner) for name, inner in _checked(dict, data).items()}
    if kind is tuple and arguments[-1] is not ...:
        each = [_reader(one) for one in arguments]
        return lambda data: tuple(read(one) for read, one in zip(each, _checked(list, data), strict=True))
    if kind in (tuple, list, set):
        item = _reader(arguments[0])
        return lambda data: kind(map(item, _checked(list, data)))
    return functools.partial(_checked, kind)


def _checked(kind: type[T], data: Any) -> T:
    if type(data) is not kind:
        raise ValueError(f"{kind.__name__} expected")
    return data
