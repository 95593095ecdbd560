"""Read the program's own JSON documents back into dataclasses."""

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
    """Return the value that `document_text(schema, value)` was written from.

    Raises:
        ValueError, TypeError, RecursionError: it is another document, or has another version.
    """
    data = _checked(dict, json.loads(text))
    # reports of the first version have no schema
    if (data.get("schema", schema), data.get("version")) != (schema, VERSION):
        raise ValueError(f"no {schema} of version {VERSION}")
    return read_record(kind, data)


def read_record(kind: type[T], data: Any) -> T:
    """Return the dataclass that `plain` converted to this map. Missing fields get their defaults; further keys, such as
    of properties, are ignored.

    Raises:
        ValueError, TypeError: a field is missing, or of another type.
    """
    return cast(T, _reader(cast(Hashable, kind))(data))


@functools.cache
def _reader(hint: Hashable) -> Callable[[Any], Any]:
    """Return the function that reads data of a type."""
    kind: Any = get_origin(hint) or hint
    arguments = get_args(hint)
    if kind in (Union, types.UnionType):
        [inner] = [_reader(argument) for argument in arguments if argument is not types.NoneType]
        return lambda data: None if data is None else inner(data)
    if kind is Literal:
        return lambda data: arguments[arguments.index(data)]
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        readers = {
            column.name: _reader(hints[column.name]) for column in fields(kind) if column.metadata.get("json", True)
        }
        return lambda data: kind(
            **{name: readers[name](inner) for name, inner in _checked(dict, data).items() if name in readers}
        )
    if issubclass(kind, Mapping):
        value = _reader(arguments[1])
        return lambda data: {name: value(inner) for name, inner in _checked(dict, data).items()}
    if kind is tuple and arguments[-1] is not ...:
        each = [_reader(argument) for argument in arguments]
        return lambda data: tuple(read(item) for read, item in zip(each, _checked(list, data), strict=True))
    if kind in (tuple, list, set):
        item = _reader(arguments[0])
        return lambda data: kind(map(item, _checked(list, data)))
    return functools.partial(_checked, kind)


def _checked(kind: type[T], data: Any) -> T:
    if type(data) is not kind:
        raise ValueError(f"{kind.__name__} expected")
    return data
