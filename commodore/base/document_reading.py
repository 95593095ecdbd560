"""Read the program's own JSON documents back into dataclasses."""

from __future__ import annotations

import functools
import json
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

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
    hint: Any = kind
    record: T = _reader(hint)(data)
    return record


@functools.cache
def _reader(of: Any) -> Callable[[Any], Any]:
    """Return the function that reads data of a type. It compares types itself before it calls another, for speed."""
    kind: Any = get_origin(of) or of
    arguments = get_args(of)
    if kind in (Union, types.UnionType):
        [inner] = [_reader(argument) for argument in arguments if argument is not types.NoneType]
        return lambda data: None if data is None else inner(data)
    if kind is Literal:
        return lambda data: arguments[arguments.index(data)]
    if is_dataclass(kind) and isinstance(kind, type):
        return _fields_reader(kind)
    if issubclass(kind, Mapping):
        hint, read = arguments[1], _reader(arguments[1])
        return lambda data: {
            name: inner if type(inner) is hint else read(inner) for name, inner in _checked(dict, data).items()
        }
    if kind is tuple and arguments[-1] is not ...:
        each = [_reader(argument) for argument in arguments]
        return lambda data: tuple([read(item) for read, item in zip(each, _checked(list, data), strict=True)])
    if kind in (tuple, list, set):
        hint, read = arguments[0], _reader(arguments[0])
        return lambda data: kind([inner if type(inner) is hint else read(inner) for inner in _checked(list, data)])
    if kind is float:  # other programs write 1.0 as 1
        return lambda data: float(data) if type(data) is int else _checked(float, data)
    return functools.partial(_checked, kind)


def _fields_reader(kind: type) -> Callable[[Any], Any]:
    hints = get_type_hints(kind)
    readers = {
        column.name: (hints[column.name], _reader(hints[column.name]))
        for column in fields(kind)
        if column.metadata.get("json", True)
    }

    def read(data: Any) -> Any:
        values = {}
        for name, inner in _checked(dict, data).items():
            if name in readers:
                hint, reader = readers[name]
                values[name] = inner if type(inner) is hint else reader(inner)
        return kind(**values)

    return read


def _checked(kind: type[T], data: Any) -> T:
    if type(data) is not kind:
        raise ValueError(f"{kind.__name__} expected")
    return data
