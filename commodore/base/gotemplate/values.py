"""Go's values, and their representation in Python.

======================================  ==========================================
Go                                      Python
======================================  ==========================================
no value at all (a missing key)         `NO_VALUE`
nil                                     None
bool, string, float64                   bool, str, float
int                                     int
int64, uint64, uint8                    `Int64`, `Uint64`, `Uint8`
[]interface {}, map[string]interface {} list, dict
[]string, []int, [][]interface {}       `Strings`, `Ints`, `Lists`
map[string]string                       `StringMap`
anything with methods                   `Object`
======================================  ==========================================

A Go text is a sequence of bytes: bytes that are not UTF-8 are surrogates in a Python text ("surrogateescape").
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

Value = Any  # one of the above


class NoValue:
    """The result of a missing key. It prints as ``<no value>`` and counts as false."""

    def __repr__(self) -> str:
        return "NO_VALUE"


NO_VALUE: Final = NoValue()


class Int64(int):
    """An int64."""


class Uint64(int):
    """A uint64."""


class Uint8(int):
    """A byte of a text."""


class Strings(list[str]):
    """A []string."""


class NilList(list[Value]):
    """A nil []interface {}: empty, but null in JSON."""


class NilStrings(Strings):
    """A nil []string."""


class Ints(list[int]):
    """A []int."""


class Lists(list[list[Value]]):
    """A [][]interface {}."""


class StringMap(dict[str, str]):
    """A map[string]string."""


class Object(ABC):
    """A Go value of a named type: it has methods, and prints as text.

    Methods are listed in `METHODS`: their name, the Go types of their arguments, and the function.
    """

    TYPE: str = ""
    KIND: str = "ptr"
    METHODS: dict[str, tuple[tuple[str, ...], Callable[..., Value]]] = {}  # noqa: RUF012 - a table, as of every kind of object

    @abstractmethod
    def go_string(self) -> str:
        """Return the result of its method String."""

    def fields(self) -> dict[str, Value]:
        """Return the fields of its struct by name, for printf and deepEqual."""
        return {}


_TYPES: Final[dict[type, tuple[str, str]]] = {
    bool: ("bool", "bool"),
    int: ("int", "int"),
    Int64: ("int64", "int64"),
    Uint64: ("uint64", "uint64"),
    Uint8: ("uint8", "uint8"),
    float: ("float64", "float64"),
    str: ("string", "string"),
    list: ("[]interface {}", "slice"),
    Strings: ("[]string", "slice"),
    NilList: ("[]interface {}", "slice"),
    NilStrings: ("[]string", "slice"),
    Ints: ("[]int", "slice"),
    Lists: ("[][]interface {}", "slice"),
    dict: ("map[string]interface {}", "map"),
    StringMap: ("map[string]string", "map"),
}


def type_name(value: Value) -> str:
    """Return the name of its Go type, as printed by ``%T``."""
    names = _TYPES.get(type(value))
    if names is not None:
        return names[0]
    if isinstance(value, Object):
        return value.TYPE
    return _TYPES[dict][0] if isinstance(value, dict) else "<nil>"


def kind_name(value: Value) -> str:
    """Return Go's kind of a value: "slice", "map", "ptr", "float64" and so on; "invalid" for nil."""
    names = _TYPES.get(type(value))
    if names is not None:
        return names[1]
    if isinstance(value, Object):
        return value.KIND
    return "map" if isinstance(value, dict) else "invalid"


def is_integer(value: Value) -> bool:
    """Return True for an integer of any Go type."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_nil_list(value: Value) -> bool:
    """Return True for a nil list, which is null in JSON."""
    return isinstance(value, NilList | NilStrings)


def truth(value: Value) -> bool:
    """Return Go's truth value: false, 0, nil, and empty texts, lists and maps are false."""
    if value is None or value is NO_VALUE:
        return False
    return True if isinstance(value, Object) else bool(value)


def same_list(like: Sequence[Value], items: Iterable[Value]) -> list[Value]:
    """Return a list of the same Go type as another one."""
    return type(like)(items) if isinstance(like, list) else list(items)


def encoded(text: str) -> bytes:
    """Return the bytes of a text."""
    return text.encode("utf-8", "surrogateescape")


def decoded(data: bytes) -> str:
    """Return the text of bytes."""
    return data.decode("utf-8", "surrogateescape")


def wrapped64(number: int) -> int:
    """Wrap a number to 64 bits with sign, as Go's arithmetic does."""
    return number if -(1 << 63) <= number < 1 << 63 else (number + (1 << 63)) % (1 << 64) - (1 << 63)


def to_floats(value: Value) -> Value:
    """Return a JSON value with all numbers as floats, as in Go's decoding into any type."""
    if isinstance(value, dict):
        return {key: to_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [to_floats(item) for item in value]
    return float(value) if is_integer(value) else value
