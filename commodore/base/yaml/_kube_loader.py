"""Construct JSON values from libyaml's nodes by the rules of Kubernetes' YAML library.

A separate module because importing PyYAML takes time that `kube_yaml` postpones.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml
from yaml.composer import Composer, ComposerError
from yaml.constructor import ConstructorError

from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.yaml._loader import SELF_REFERENCE, TooMuchError, check_values, explain, has_aliases
from commodore.base.yaml._loader import Loader as _Bounded
from commodore.base.yaml.kube_scalars import Problem, scalar_text, whole

_TRUE = {"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"}
_FALSE = {"n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"}
_NULL = {"", "~", "null", "Null", "NULL"}
_NO_NUMBER = {
    ".nan",
    ".NaN",
    ".NAN",
    *(f"{sign}{word}" for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")),
}
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]([0-7]+)|0[bB]([01]+)|0([0-7]+)|(0|[1-9][0-9]*))")
_BASES = (16, 8, 2, 8, 10)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_CONSTANTS: dict[str, Any] = {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False), **dict.fromkeys(_NULL)}
_STARTS = frozenset("0123456789+-.")
_LARGEST, _SMALLEST = (1 << 64) - 1, -(1 << 63)

_TAG = "tag:yaml.org,2002:"
_TEXT, _MERGE, _PLAIN = f"{_TAG}str", f"{_TAG}merge", "!plain"


class _Loader(_Bounded):
    """Gives plain scalars a tag of their own: `_plain` determines their type."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _TEXT
        return f"{_TAG}seq" if kind is yaml.SequenceNode else f"{_TAG}map"


class _ReusedAnchors(Composer, _Loader):
    """Resolves a repeated anchor to its last definition; libyaml's composer refuses it. Slower."""

    def __init__(self, text: str | bytes) -> None:
        _Loader.__init__(self, text)
        Composer.__init__(self)

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()
        if not isinstance(event, yaml.AliasEvent):
            self.anchors.pop(event.anchor, None)
        return super().compose_node(parent, index)


def documents(text: str | bytes, place: str, problems: list[Problem] | None) -> Iterator[tuple[Any, int]]:
    """Yield the documents of a stream, empty ones as None, with their first lines."""
    builder = _Builder(problems)
    aliased = has_aliases(text)
    try:
        for node in _nodes(text):
            if aliased:
                check_values(node)
            yield builder.build(node), node.start_mark.line + 1
    except GeneratorExit:
        raise
    except Exception as error:
        raise explain(error, text, place) from error


def field_line(text: bytes, start: int | None, path: Sequence[str]) -> int | None:
    """Return the line of a field, or of its nearest existing parent; None without a document that begins on the line.

    Args:
        start: the first line of the document.
        path: keys; for items of a list their index or `name`.
    """
    try:
        node = next((root for root in _nodes(text) if root.start_mark.line + 1 == start), None)
    except yaml.YAMLError:
        return None
    line = start if node is not None else None
    for part in path:
        children = _children(node)
        if part not in children:
            break
        line, node = children[part]
    return line


def _children(node: Any) -> dict[str, tuple[int, Any]]:
    """Return the children of a node with their lines, by key, or by index and `name`."""
    if type(node) is yaml.MappingNode:
        return {str(key.value): (key.start_mark.line + 1, value) for key, value in node.value}
    children: dict[str, tuple[int, Any]] = {}
    for number, item in enumerate(node.value if type(node) is yaml.SequenceNode else ()):
        named = _children(item).get("name") if type(item) is yaml.MappingNode else None
        names = [str(number), *([str(named[1].value)] if named is not None else [])]
        children |= dict.fromkeys(names, (item.start_mark.line + 1, item))
    return children


def _nodes(text: str | bytes) -> Iterator[Any]:
    """Yield the roots of the non-empty documents."""
    given = 0
    try:
        for node in _composed(_Loader(text)):
            yield node
            given += 1
    except ComposerError as error:
        if error.context is None or "duplicate anchor" not in error.context:
            raise
        yield from itertools.islice(_composed(_ReusedAnchors(text)), given, None)


def _composed(loader: Any) -> Iterator[Any]:
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is not None:
                yield node
    finally:
        loader.dispose()


class _Builder:
    """Builds values from nodes. Aliases become copies: callers modify the values."""

    def __init__(self, problems: list[Problem] | None) -> None:
        self._problems = problems
        self._left = DEFAULT_LIMITS.yaml_nodes
        self._inside: set[int] = set()

    def build(self, node: Any) -> Any:
        self._left -= 1
        if self._left < 0 or len(self._inside) > DEFAULT_LIMITS.yaml_depth:
            raise TooMuchError
        if type(node) is yaml.ScalarNode:
            return _scalar(node)
        if id(node) in self._inside:
            raise ConstructorError(None, None, SELF_REFERENCE, node.start_mark)
        self._inside.add(id(node))
        try:
            if type(node) is yaml.SequenceNode:
                return [self.build(child) for child in node.value]
            return self._map(node)
        finally:
            self._inside.discard(id(node))

    def _map(self, node: Any) -> dict[str, Any]:
        """Build a map with keys and merges in their order: merged keys replace the keys before them."""
        result: dict[str, Any] = {}
        own: set[str] = set()
        for key_node, value_node in node.value:
            if key_node.value == "<<" and key_node.tag in (_PLAIN, _MERGE):
                result.update(self._merged(value_node))
                continue
            key = _key(key_node)
            if key in own and self._problems is not None:
                self._problems.append((f"the key {key!r} is set twice", key_node.start_mark.line + 1))
            own.add(key)
            result[key] = self.build(value_node)
        return result

    def _merged(self, node: Any, *, several: bool = True) -> dict[str, Any]:
        if several and type(node) is yaml.SequenceNode:
            result: dict[str, Any] = {}
            for child in reversed(node.value):
                result.update(self._merged(child, several=False))
            return result
        if type(node) is not yaml.MappingNode:
            raise ConstructorError(None, None, "the value of '<<' must be a map", node.start_mark)
        value = self.build(node)
        assert isinstance(value, dict)
        return value


def _key(node: Any) -> str:
    if type(node) is not yaml.ScalarNode:
        raise ConstructorError(None, None, "a key must be a text", node.start_mark)
    value = _scalar(node)
    if value is None:
        raise ConstructorError(None, None, "a key is null", node.start_mark)
    return scalar_text(value)


def _scalar(node: Any) -> Any:
    tag, text = node.tag, node.value
    if tag == _TEXT:
        return text
    if tag == _PLAIN:
        return _plain(text, node)
    kind = tag.removeprefix(_TAG) if tag.startswith(_TAG) else ""
    if kind == "binary":
        try:
            return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            raise ConstructorError(None, None, "a !!binary value must be base64", node.start_mark) from None
    if kind in ("int", "float", "bool", "null"):
        value = _plain(text, node)
        if kind == "float" or type(value).__name__ == {"null": "NoneType"}.get(kind, kind):
            return value
        raise ConstructorError(None, None, f"{text!r} is not a valid !!{kind}", node.start_mark)
    return text


def is_typed(text: str) -> bool:
    """Return True if an unquoted text is read as another type."""
    if text in _CONSTANTS or text in _NO_NUMBER or text == "<<":
        return True
    bare = text.replace("_", "")
    return text[0] in _STARTS and bool(_INTEGER.fullmatch(bare) or _FLOAT.fullmatch(bare))


def _plain(text: str, node: Any) -> Any:
    """Return the value of a plain scalar."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in _STARTS:
        return text
    if text in _NO_NUMBER:
        raise ConstructorError(None, None, f"JSON has no number {text}", node.start_mark)
    bare = text.replace("_", "")
    match = _INTEGER.fullmatch(bare)
    if match is not None:
        sign, *groups = match.groups()
        base, digits = next((base, digits) for base, digits in zip(_BASES, groups, strict=True) if digits)
        if len(digits) < 70:
            number = int(digits, base) * (-1 if sign == "-" else 1)
            if _SMALLEST <= number <= _LARGEST:
                return number
    if _FLOAT.fullmatch(bare) is not None:
        real = float(bare)
        return text if real in (float("inf"), float("-inf")) else whole(real)
    return text
