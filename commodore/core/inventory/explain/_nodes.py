"""Class files as trees of nodes with places, which distinguish the markers `~` and `=` of keys."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from commodore.base.limits import DEFAULT_LIMITS

MERGE_KEY = "<<"
_MARKERS = "~="


@dataclass(frozen=True, slots=True)
class Place:
    """A line and a column of a file, starting at one."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """Null, true or false, a number or a text."""

    value: Any
    place: Place


@dataclass(frozen=True, slots=True, eq=False)
class ListNode:
    """A list."""

    items: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True, eq=False)
class MapEntry:
    """A key of a map and its value. `written` is the key with its markers, `place` the place of the key."""

    key: Any
    written: Any
    value: Node
    place: Place

    @property
    def overrides(self) -> bool:
        """Check for the marker `~`: values merged before are discarded."""
        return "~" in self._markers

    @property
    def constant(self) -> bool:
        """Check for the marker `=`: nothing may be merged over it."""
        return "=" in self._markers

    @property
    def _markers(self) -> str:
        return markers_of(self.written)


@dataclass(frozen=True, slots=True, eq=False)
class MapNode:
    """A map, with the entries merged by `<<`."""

    entries: tuple[MapEntry, ...]
    place: Place
    _by_key: dict[tuple[type, Any], list[MapEntry]] = field(default_factory=dict, repr=False)

    def at(self, key: Any) -> Sequence[MapEntry]:
        """Return the entries of a key: `a` and `~a` are two entries of one key."""
        if not self._by_key:  # callers may look up all keys of a map
            for entry in self.entries:
                self._by_key.setdefault((type(entry.key), entry.key), []).append(entry)
        return self._by_key.get((type(key), key), ())


Node = Scalar | ListNode | MapNode


class _UnreadableError(Exception):
    """A file that reclass-rs would have refused."""


def markers_of(written: Any) -> str:
    """Return the markers at the beginning of a key."""
    return written[: len(written) - len(written.lstrip(_MARKERS))] if isinstance(written, str) else ""


def bare(written: Any) -> Any:
    """Return a key without its markers."""
    return written.lstrip(_MARKERS) if isinstance(written, str) else written


def read_tree(content: bytes | str, place: Place | None = None) -> Node | None:
    """Parse the document of a YAML text; None if it is empty or invalid.

    Args:
        place: the place of all nodes, if the text is a value in a file.
    """
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with contextlib.suppress(yaml.YAMLError, UnicodeError, _UnreadableError):
        return _Composer(yaml.parse(content, Loader=loader), place).document()
    return None


class _Composer:
    """Composer of nodes from events. PyYAML's own reports neither explicit tags nor the depth."""

    def __init__(self, events: Iterator[Any], place: Place | None) -> None:
        self._events = events
        self._place = place
        self._anchors: dict[str, Node] = {}
        self._depth = 0

    def document(self) -> Node | None:
        for event in self._events:
            if type(event).__name__ not in ("StreamStartEvent", "DocumentStartEvent", "StreamEndEvent"):
                return self._node(event)
        return None

    def _node(self, event: Any) -> Node:
        name = type(event).__name__
        if name == "AliasEvent":
            if event.anchor not in self._anchors:
                raise _UnreadableError
            return self._anchors[event.anchor]
        place = self._place or Place(event.start_mark.line + 1, event.start_mark.column + 1)
        self._depth += 1
        if self._depth > DEFAULT_LIMITS.yaml_depth:
            raise _UnreadableError
        node: Node
        if name == "ScalarEvent":
            node = Scalar(read_scalar(event.value, quoted=bool(event.style), tag=event.tag), place)
        elif name == "SequenceStartEvent":
            node = ListNode(tuple(self._node(item) for item in self._until("SequenceEndEvent")), place)
        else:
            node = self._map(place)
        self._depth -= 1
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _map(self, place: Place) -> MapNode:
        entries = []
        for event in self._until("MappingEndEvent"):
            key = self._node(event)
            if not isinstance(key, Scalar):
                raise _UnreadableError
            entries.append(MapEntry(bare(key.value), key.value, self._node(next(self._events)), key.place))
        return MapNode(_merged(entries), place)

    def _until(self, end: str) -> Iterator[Any]:
        for event in self._events:
            if type(event).__name__ == end:
                return
            yield event


def _merged(entries: Sequence[MapEntry]) -> tuple[MapEntry, ...]:
    """Return a map's own entries, followed by the entries of `<<` whose keys are not written in the map."""
    own = [entry for entry in entries if entry.written != MERGE_KEY]
    if len(own) == len(entries):
        return tuple(entries)
    seen = {entry.written for entry in own}
    for entry in entries:
        if entry.written == MERGE_KEY:
            sources = entry.value.items if isinstance(entry.value, ListNode) else (entry.value,)
            for brought in (entry for source in sources if isinstance(source, MapNode) for entry in source.entries):
                if brought.written not in seen:
                    seen.add(brought.written)
                    own.append(brought)
    return tuple(own)


def as_written(node: Node) -> Any:
    """Return the value of a node as plain data: keys with their markers, references as text."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, ListNode):
        return [as_written(item) for item in node.items]
    return {entry.written: as_written(entry.value) for entry in node.entries}


_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEAN = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[+-]?(?:0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+|0|[1-9][0-9]*)")
_LEADING_ZERO = re.compile(r"[+-]?0[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"[+-]?\.(?:inf|Inf|INF)")
_NOT_A_NUMBER = frozenset({".nan", ".NaN", ".NAN"})
_BASES = {"0x": 16, "0o": 8, "0b": 2}
_DECIMALS = 39  # digits of the greatest integer of 128 bits


def read_scalar(text: str, *, quoted: bool, tag: str | None) -> Any:
    """Return the value of a scalar: None, a bool, a number or a text. `tag` is its explicit tag, if there is one."""
    kind = (tag or "").rpartition(":")[2]
    if kind == "str" or (quoted and kind not in ("int", "float", "bool", "null")):
        return text
    if kind == "float":
        return _float(text)
    if text in _NULL:
        return None
    if text in _BOOLEAN:
        return _BOOLEAN[text]
    if _INTEGER.fullmatch(text):
        return _integer(text)
    return text if _LEADING_ZERO.fullmatch(text) else _float(text)


def _integer(text: str) -> int | float | str:
    """Parse an integer of 128 bits; reclass reads a greater one as a float, or as text if that is infinite."""
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    base = _BASES.get(digits[:2], 10)
    if base == 10 and len(digits) > _DECIMALS:  # Python refuses to parse 4,300 digits and more
        return _float(text)
    number = sign * int(digits[2:] if base != 10 else digits, base)
    return number if -(2**127) <= number < 2**128 else _float(text)


def _float(text: str) -> float | str:
    if _INFINITE.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    if text in _NOT_A_NUMBER:
        return math.nan
    number = float(text) if _FLOAT.fullmatch(text) else math.inf
    return number if math.isfinite(number) else text
