"""Our own loader class of PyYAML. A separate module because importing PyYAML takes time that `yaml_in` postpones.

With a class of our own, no setting of it affects other users of PyYAML, or the other way round.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

from commodore.base.errors import InputError, Location
from commodore.base.limits import DEFAULT_LIMITS

try:
    from yaml import CSafeLoader as BaseLoader
except ImportError:  # PyYAML built without libyaml: same results, ten times slower
    from yaml import SafeLoader as BaseLoader  # type: ignore[assignment]


SELF_REFERENCE = "an alias refers to itself"
_GENERAL_HINT = "correct it there or shortly before; text with ': ', ' #', quotes or brackets needs quotes around it"
_ENCODING_HINT = "save it as UTF-8, without control characters"
_VALUE_HINT = "put it into quotes if it is text, or correct it"
_HINTS = {  # by the beginning of the problem
    SELF_REFERENCE: "write out its value; a value cannot contain itself",
    "JSON has no number": _VALUE_HINT,
}


class _TooDeepError(Exception):
    """The depth limit was exceeded."""


class TooMuchError(Exception):
    """The limit of values was exceeded."""


class Loader(BaseLoader):
    """The safe loader, with limits for the depth (libyaml's recursion would end the process) and for the number of
    values (aliases of aliases multiply).
    """

    _depth = 0

    def __init__(self, text: str | bytes) -> None:
        self._has_aliases = has_aliases(text)
        super().__init__(text)

    def construct_document(self, node: Any) -> Any:
        self.bound(node)
        return super().construct_document(node)

    def bound(self, node: Any) -> None:
        """Refuse a document whose aliases multiply, or refer to themselves."""
        if self._has_aliases:
            check_values(node)

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        # PyYAML calls this for every node; its own version serves path resolvers, which nothing here uses.
        self._depth += 1
        if self._depth > DEFAULT_LIMITS.yaml_depth:
            raise _TooDeepError

    def ascend_resolver(self) -> None:
        self._depth -= 1


def has_aliases(text: str | bytes) -> bool:
    """Return True if a stream may have aliases."""
    return b"*" in text and b"&" in text if isinstance(text, bytes) else "*" in text and "&" in text


def check_values(node: Any) -> None:
    """Refuse a document with too many values after resolving its aliases, without resolving them.

    Raises:
        TooMuchError: it has too many values.
    """
    if _values(node, {}) > DEFAULT_LIMITS.yaml_nodes:
        raise TooMuchError


def _values(node: Any, known: dict[int, int]) -> int:
    """The number of values in a node, with aliases resolved.

    Args:
        known: the numbers of other nodes; 0 for the nodes that contain this one.
    """
    if isinstance(node, yaml.ScalarNode):
        return 1
    if known.get(id(node)) == 0:
        raise yaml.constructor.ConstructorError(None, None, SELF_REFERENCE, node.start_mark)
    if id(node) not in known:
        known[id(node)] = 0
        children = node.value if isinstance(node, yaml.SequenceNode) else (part for pair in node.value for part in pair)
        known[id(node)] = 1 + sum(_values(child, known) for child in children)
    return known[id(node)]


class _TracingLoader(Loader):
    """Remembers the current node: slow, used to find the place of an error without one."""

    current: yaml.Node | None = None

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        self.current = node
        return super().construct_object(node, deep)


def _construct_text(loader: Loader, node: Any) -> Any:
    return loader.construct_scalar(node)


# PyYAML resolves a lone `=` to this tag but has no constructor for it.
Loader.add_constructor("tag:yaml.org,2002:value", _construct_text)


class RenderedLoader(Loader):
    """Reads output of helm, which follows YAML 1.2 in some details."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Leave keys `<<` as they are."""


def _construct_exponent(loader: Loader, node: Any) -> Any:
    text = loader.construct_scalar(node)
    value = float(text)
    return value if math.isfinite(value) else text


RenderedLoader.add_implicit_resolver(
    "!exponent", re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)
RenderedLoader.add_constructor("!exponent", _construct_exponent)
RenderedLoader.add_constructor("tag:yaml.org,2002:merge", _construct_text)


def explain(error: Exception, text: str | bytes, place: str) -> InputError:
    """Convert an exception of PyYAML, or of int(), date() and others, to an error of ours."""
    if isinstance(error, (_TooDeepError, RecursionError)):
        return InputError(
            "CMD-YAML-003",
            f"{place} is nested more than {DEFAULT_LIMITS.yaml_depth} levels deep",
            hint="flatten it; YAML aliases that refer to each other nest endlessly",
            locations=[place],
        )
    if isinstance(error, TooMuchError):
        return InputError(
            "CMD-YAML-004",
            f"{place} holds more than {DEFAULT_LIMITS.yaml_nodes} values once its aliases are resolved",
            hint="write less into one file; aliases of aliases multiply",
            locations=[place],
        )
    hint = _GENERAL_HINT
    if isinstance(error, yaml.MarkedYAMLError):
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        location = _location(place, error.problem_mark or error.context_mark)
        hint = _hint(error.problem or "", _character_at(text, error.problem_mark))
    elif isinstance(error, yaml.reader.ReaderError):
        problem = f"{error.reason} (at {'byte' if isinstance(text, bytes) else 'character'} {error.position})"
        location, hint = _line_of(place, text, error.position), _ENCODING_HINT
    elif isinstance(error, UnicodeError):
        problem, location = "it holds invalid Unicode", Location(place)
        hint = _ENCODING_HINT
    else:
        kind, location = _trace(text, place)
        problem, hint = f"a value cannot be read as {kind}", _VALUE_HINT
    return InputError("CMD-YAML-001", f"{place} is not valid YAML: {problem}", hint=hint, locations=[location])


def _location(place: str, mark: yaml.Mark | None) -> Location:
    return Location(place) if mark is None else Location(place, mark.line + 1, mark.column + 1)


def _character_at(text: str | bytes, mark: yaml.Mark | None) -> str:
    """Return the character at which the reader failed; empty if it is unknown."""
    if mark is None:
        return ""
    if isinstance(text, bytes):
        text = text.decode("utf-8", errors="replace")
    lines = text.split("\n")
    return lines[mark.line][mark.column : mark.column + 1] if mark.line < len(lines) else ""


def _hint(problem: str, character: str) -> str:
    if character == "\t":
        return "indent with blanks instead of tabs"
    if character and character in "@`%":
        return f"put text that begins with {character!r} into quotes"
    return next((hint for beginning, hint in _HINTS.items() if problem.startswith(beginning)), _GENERAL_HINT)


def _line_of(place: str, text: str | bytes, position: int) -> Location:
    before = text[:position]
    newline = before.count(b"\n") if isinstance(before, bytes) else before.count("\n")
    return Location(place, newline + 1)


def _trace(text: str | bytes, place: str) -> tuple[str, Location]:
    """Return the type and the place of the value that int(), date() or another constructor refused."""
    loader = _TracingLoader(text)
    try:
        while loader.check_data():  # type: ignore[no-untyped-call]
            loader.get_data()
    except Exception:  # noqa: S110 - the same error again; only its place is needed
        pass
    finally:
        loader.dispose()
    node = loader.current
    if node is None:
        return "anything", Location(place)
    return node.tag.rpartition(":")[2], _location(place, node.start_mark)
