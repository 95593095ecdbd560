"""Sprig's functions for lists, maps, types and defaults."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Final

from commodore.base.gotemplate.functions.numbers import to_int
from commodore.base.gotemplate.functions.text import strval
from commodore.base.gotemplate.problems import CallProblem
from commodore.base.gotemplate.signatures import NilMap, Table, function
from commodore.base.gotemplate.values import (
    Lists,
    NilList,
    Object,
    Strings,
    Value,
    kind_name,
    same_list,
    truth,
    type_name,
)

TABLE: Final[Table] = {}
_NIL: Final = "runtime error: invalid memory address or nil pointer dereference"


def _items(value: Value, words: str) -> list[Value]:
    """Return the items of a list; `words` is the error for other kinds."""
    if value is None:
        raise CallProblem(_NIL)
    if not isinstance(value, list):
        raise CallProblem(words.format(kind_name(value)))
    return value


@function(TABLE, "list tuple", "...any")
def _list(*values: Value) -> list[Value]:
    return list(values)


@function(TABLE, "dict", "...any")
def _dict(*values: Value) -> dict[str, Value]:
    pairs = (*values, "") if len(values) % 2 else values
    return {strval(pairs[at]): pairs[at + 1] for at in range(0, len(pairs), 2)}


@function(TABLE, "get", "map string")
def _get(value: dict[str, Value], key: str) -> Value:
    return value.get(key, "")


@function(TABLE, "set", "map string any", changes=True)
def _set(value: dict[str, Value], key: str, item: Value) -> Value:
    if isinstance(value, NilMap):
        raise CallProblem("assignment to entry in nil map")
    value[key] = item
    return value


@function(TABLE, "unset", "map string", changes=True)
def _unset(value: dict[str, Value], key: str) -> Value:
    value.pop(key, None)
    return value


@function(TABLE, "hasKey", "map string")
def _has_key(value: dict[str, Value], key: str) -> bool:
    return key in value


@function(TABLE, "pluck", "string ...map")
def _pluck(key: str, *maps: dict[str, Value]) -> list[Value]:
    return [value[key] for value in maps if key in value]


@function(TABLE, "keys", "...map")
def _keys(*maps: dict[str, Value]) -> Strings:
    return Strings(key for value in maps for key in sorted(value))


@function(TABLE, "values", "map")
def _values(value: dict[str, Value]) -> list[Value]:
    return [value[key] for key in sorted(value)]


@function(TABLE, "pick", "map ...string")
def _pick(value: dict[str, Value], *keys: str) -> dict[str, Value]:
    return {key: value[key] for key in keys if key in value}


@function(TABLE, "omit", "map ...string")
def _omit(value: dict[str, Value], *keys: str) -> dict[str, Value]:
    return {key: item for key, item in value.items() if key not in keys}


@function(TABLE, "merge mustMerge", "map ...map", changes=True)
def _merge(target: dict[str, Value], *sources: dict[str, Value]) -> Value:
    target = {} if isinstance(target, NilMap) else target
    for source in sources:
        _joined(target, source, over=False)
    return target


@function(TABLE, "mergeOverwrite mustMergeOverwrite", "map ...map", changes=True)
def _merge_overwrite(target: dict[str, Value], *sources: dict[str, Value]) -> Value:
    target = {} if isinstance(target, NilMap) else target
    for source in sources:
        _joined(target, source, over=True)
    return target


def _joined(target: dict[str, Value], source: dict[str, Value], *, over: bool) -> None:
    for key, new in source.items():
        old = target.get(key)
        if type(old) is dict and type(new) is dict and (over or old):
            _joined(old, new, over=over)
        elif over or (new is not None and not truth(old)):
            target[key] = new


@function(TABLE, "append push mustAppend mustPush", "any any")
def _append(value: Value, item: Value) -> list[Value]:
    return [*_items(value, "Cannot push on type {}"), item]


@function(TABLE, "prepend mustPrepend", "any any")
def _prepend(value: Value, item: Value) -> list[Value]:
    return [item, *_items(value, "Cannot prepend on type {}")]


@function(TABLE, "first mustFirst", "any")
def _first(value: Value) -> Value:
    return next(iter(_items(value, "Cannot find first on type {}")), None)


@function(TABLE, "last mustLast", "any")
def _last(value: Value) -> Value:
    return next(reversed(_items(value, "Cannot find last on type {}")), None)


@function(TABLE, "rest mustRest", "any")
def _rest(value: Value) -> list[Value]:
    return list(_items(value, "Cannot find rest on type {}"))[1:] if value != [] else NilList()


@function(TABLE, "initial mustInitial", "any")
def _initial(value: Value) -> list[Value]:
    return list(_items(value, "Cannot find initial on type {}"))[:-1] if value != [] else NilList()


@function(TABLE, "reverse mustReverse", "any")
def _reverse(value: Value) -> list[Value]:
    return list(_items(value, "Cannot find reverse on type {}"))[::-1]


def _in(item: Value, items: Iterable[Value]) -> bool:
    return any(deep_equal(item, other) for other in items)


@function(TABLE, "uniq mustUniq", "any")
def _uniq(value: Value) -> list[Value]:
    unique: list[Value] = []
    for item in _items(value, "Cannot find uniq on type {}"):
        if not _in(item, unique):
            unique.append(item)
    return unique


@function(TABLE, "without mustWithout", "any ...any")
def _without(value: Value, *omitted: Value) -> list[Value]:
    return [item for item in _items(value, "Cannot find without on type {}") if not _in(item, omitted)]


@function(TABLE, "has mustHas", "any any")
def _has(item: Value, value: Value) -> bool:
    return value is not None and _in(item, _items(value, "Cannot find has on type {}"))


@function(TABLE, "slice mustSlice", "any ...any")
def _slice(value: Value, *places: Value) -> Value:
    items = _items(value, "list should be type of slice or array but {}")
    if not items:
        return None
    start = to_int(places[0]) if places else 0
    end = to_int(places[1]) if len(places) > 1 else len(items)
    if not 0 <= start <= end <= len(items):
        raise CallProblem("reflect.Value.Slice: slice index out of bounds")
    return same_list(items, items[start:end])


@function(TABLE, "concat", "...any")
def _concat(*lists: Value) -> list[Value]:
    return [item for value in lists for item in _items(value, "Cannot concat type {} as list")] or NilList()


@function(TABLE, "dig", "...any")
def _dig(*values: Value) -> Value:
    if len(values) < 3:
        raise CallProblem("dig needs at least three arguments")
    *keys, fallback, value = values
    if type(value) not in (dict, NilMap):
        raise CallProblem(_no_map(value))
    for key in keys:
        if not isinstance(key, str):
            raise CallProblem(_conversion(key, "string"))
    for at, key in enumerate(keys):
        if at and type(value) is not dict:
            raise CallProblem(_no_map(value))
        if key not in value:
            return fallback
        value = value[key]
    return value


def _no_map(value: Value) -> str:
    return _conversion(value, "map[string]interface {}")


def _conversion(value: Value, expected: str) -> str:
    name = "nil" if value is None else type_name(value)
    return f"interface conversion: interface {{}} is {name}, not {expected}"


@function(TABLE, "chunk mustChunk", "int any")
def _chunk(size: int, value: Value) -> Lists:
    items = _items(value, "Cannot chunk type {}")
    if size <= 0:
        raise CallProblem("runtime error: makeslice: len out of range")
    return Lists(list(items[at : at + size]) for at in range(0, len(items), size))


@function(TABLE, "deepCopy mustDeepCopy", "any")
def _deep_copy(value: Value) -> Value:
    if value is None:
        raise CallProblem("reflect: call of reflect.Value.Type on zero Value")
    return copy.deepcopy(value)


def deep_equal(left: Value, right: Value) -> bool:
    """Return True if two values are equal in type and content (reflect.DeepEqual)."""
    if type_name(left) != type_name(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(deep_equal, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(deep_equal(left[key], right[key]) for key in left)
    if isinstance(left, Object) and isinstance(right, Object) and left.fields():
        return deep_equal(left.fields(), right.fields())
    return bool(left == right)


@function(TABLE, "deepEqual", "any any")
def _deep_equal(left: Value, right: Value) -> bool:
    return deep_equal(left, right)


@function(TABLE, "typeOf", "any")
def _type_of(value: Value) -> str:
    return type_name(value)


@function(TABLE, "typeIs", "string any")
def _type_is(expected: str, value: Value) -> bool:
    return expected == type_name(value)


@function(TABLE, "typeIsLike", "string any")
def _type_is_like(expected: str, value: Value) -> bool:
    return type_name(value) in (expected, "*" + expected)


@function(TABLE, "kindOf", "any")
def _kind_of(value: Value) -> str:
    return kind_name(value)


@function(TABLE, "kindIs", "string any")
def _kind_is(expected: str, value: Value) -> bool:
    return expected == kind_name(value)


@function(TABLE, "default", "any ...any")
def _default(fallback: Value, *given: Value) -> Value:
    return given[0] if given and truth(given[0]) else fallback


@function(TABLE, "empty", "any")
def _empty(value: Value) -> bool:
    return not truth(value)


@function(TABLE, "coalesce", "...any")
def _coalesce(*values: Value) -> Value:
    return next(filter(truth, values), None)


@function(TABLE, "all", "...any")
def _all(*values: Value) -> bool:
    return all(map(truth, values))


@function(TABLE, "any", "...any")
def _any(*values: Value) -> bool:
    return any(map(truth, values))


@function(TABLE, "compact mustCompact", "any")
def _compact(value: Value) -> list[Value]:
    return list(filter(truth, _items(value, "Cannot compact on type {}")))


@function(TABLE, "ternary", "any any bool")
def _ternary(yes: Value, no: Value, choice: bool) -> Value:
    return yes if choice else no


@function(TABLE, "fail", "string")
def _fail(message: str) -> Value:
    raise CallProblem(message)
