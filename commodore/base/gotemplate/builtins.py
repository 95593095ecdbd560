"""The functions of the template language itself."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from commodore.base.gotemplate import compare
from commodore.base.gotemplate.printing import plain, sprint, sprintf, sprintln
from commodore.base.gotemplate.problems import CallProblem
from commodore.base.gotemplate.signatures import Table, function
from commodore.base.gotemplate.values import (
    NO_VALUE,
    StringMap,
    Uint8,
    Value,
    encoded,
    is_integer,
    truth,
    type_name,
)

TABLE: Final[Table] = {}
_HTML: Final = str.maketrans({'"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;", "\0": "\ufffd"})
_JS: Final = {"\\": "\\\\", "'": "\\'", '"': '\\"', "<": "\\u003C", ">": "\\u003E", "&": "\\u0026", "=": "\\u003D"}

function(TABLE, "eq", "value ...value")(compare.equal)
function(TABLE, "ne", "value value")(compare.unequal)
function(TABLE, "lt", "value value")(compare.less)
function(TABLE, "le", "value value")(compare.less_or_equal)
function(TABLE, "gt", "value value")(compare.greater)
function(TABLE, "ge", "value value")(compare.greater_or_equal)


@function(TABLE, "and or", "value ...value")
def _logic(*_values: Value) -> Value:
    raise AssertionError("evaluated by the interpreter, argument by argument")


@function(TABLE, "not", "value")
def _not(value: Value) -> bool:
    return not truth(value)


@function(TABLE, "len", "value")
def _len(value: Value) -> int:
    if value is NO_VALUE:
        raise CallProblem("reflect: call of reflect.Value.Type on zero Value")
    if value is None:
        raise CallProblem("len of nil pointer")
    if isinstance(value, str):
        return len(encoded(value))
    if isinstance(value, list | dict):
        return len(value)
    raise CallProblem(f"len of type {type_name(value).removeprefix('*')}")


@function(TABLE, "index", "value ...value")
def _index(value: Value, *indexes: Value) -> Value:
    if value is None or value is NO_VALUE:
        raise CallProblem("index of untyped nil")
    for index in indexes:
        if value is None:
            raise CallProblem("index of nil pointer")
        if isinstance(value, dict):
            value = value.get(_key(index), "" if isinstance(value, StringMap) else None)
        elif isinstance(value, str):
            data = encoded(value)
            value = Uint8(data[_place(index, len(data), "string")])
        elif isinstance(value, list):
            value = value[_place(index, len(value), "slice")]
        else:
            raise CallProblem(f"can't index item of type {type_name(value)}")
    return value


def _key(index: Value) -> str:
    if index is None or index is NO_VALUE:
        raise CallProblem("value is nil; should be of type string")
    if not isinstance(index, str):
        raise CallProblem(f"value has type {type_name(index)}; should be string")
    return index


def _place(index: Value, length: int, what: str) -> int:
    if index is None or index is NO_VALUE:
        raise CallProblem("cannot index slice/array with nil")
    if not is_integer(index):
        raise CallProblem(f"cannot index slice/array with type {type_name(index)}")
    if index == length:
        raise CallProblem(f"reflect: {what} index out of range")
    if not 0 <= index < length:
        raise CallProblem(f"index out of range: {int(index)}")
    return int(index)


@function(TABLE, "call", "value ...value")
def _call(value: Value, *_args: Value) -> Value:
    if value is None or value is NO_VALUE:
        raise CallProblem("call of nil")
    raise CallProblem(f"non-function {plain(value)} of type {type_name(value)}")


@function(TABLE, "print", "...any")
def _print(*values: Value) -> str:
    return sprint(values)


@function(TABLE, "println", "...any")
def _println(*values: Value) -> str:
    return sprintln(values)


@function(TABLE, "printf", "string ...any")
def _printf(form: str, *values: Value) -> str:
    return sprintf(form, values)


def _joined(values: tuple[Value, ...]) -> str:
    return sprint(["<no value>" if value is None else value for value in values])


@function(TABLE, "html", "...any")
def _html(*values: Value) -> str:
    return _joined(values).translate(_HTML)


@function(TABLE, "js", "...any")
def _js(*values: Value) -> str:
    return "".join(map(_js_character, _joined(values)))


def _js_character(char: str) -> str:
    if char in _JS:
        return _JS[char]
    if char < " " or (char > "~" and not char.isprintable()):
        return f"\\u{ord(char):04X}"
    return char


@function(TABLE, "urlquery", "...any")
def _urlquery(*values: Value) -> str:
    return quote(encoded(_joined(values)), safe="-_.~ ").replace(" ", "+")
