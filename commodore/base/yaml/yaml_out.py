"""Write YAML with the bytes of PyYAML's indented block style, at a multiple of its speed.

Catalogs are compared as text, so every byte counts: sorted keys, two blanks of indent, list items
indented below their key, 80 columns, non-ASCII escaped, strings with newlines as literal blocks. What is unusual (the
same list or map twice, which gives anchors; keys that are not short strings; dates, tuples and other types; folded
style) is written by PyYAML itself, one document at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, cast

from commodore.base.yaml import _scalars

#: The style of strings with newlines. The names are Kapitan's (`multiline_string_style`).
MultilineStyle = Literal["literal", "folded", "double-quotes"]

# Longer strings are hardly ever repeated, and a full cache is emptied: both keep an emitter's memory small.
_CACHED_LENGTH: Final = 200
_CACHED_STRINGS: Final = 20_000


class _UnusualError(Exception):
    """The document needs PyYAML."""


class Emitter:
    """Writes documents, with a cache of keys and short strings. Thread-safe.

    Args:
        multiline_style: the style of strings with newlines, where YAML allows it.
    """

    def __init__(self, multiline_style: MultilineStyle = "literal") -> None:
        self.multiline_style: MultilineStyle = multiline_style
        self._keys: dict[str, str] = {}
        self._unbreakable: dict[str, str] = {}  # text of strings that look the same in every column
        self._breakable: dict[str, str] = {}  # text, on one line, of strings with blanks

    def dump(self, document: object) -> str:
        """Return a document, ending with a newline.

        Raises:
            InputError: CMD-YAML-002, a value YAML has no form for; CMD-YAML-003, nested too deeply.
        """
        return self.dump_stream((document,))

    def dump_stream(self, documents: Sequence[object]) -> str:
        """Return documents with `---` between them; empty for no documents.

        Raises:
            InputError: CMD-YAML-002, a value YAML has no form for; CMD-YAML-003, nested too deeply.
        """
        last = len(documents) - 1
        return "".join(
            [self._document(document, index == 0, index == last) for index, document in enumerate(documents)]
        )

    def _document(self, document: object, first: bool, last: bool) -> str:
        writer = _DocumentWriter(self._key, self._string, self._keys, self._unbreakable)
        try:
            if self.multiline_style != "folded" and type(document) is dict and document:
                writer.mapping(document, 0, "" if first else "---\n")
            elif self.multiline_style != "folded" and type(document) is list and document:
                writer.sequence(document, 0, "" if first else "---\n")
            else:
                raise _UnusualError
        except (_UnusualError, RecursionError, ValueError):
            return self._by_pyyaml(document, first, last)
        # A literal block that keeps its trailing newlines must be closed at the end of the stream.
        writer.out.append("\n...\n" if last and writer.out[-1].endswith("\n") else "\n")
        return "".join(writer.out)

    def _by_pyyaml(self, document: object, first: bool, last: bool) -> str:
        """Return a document as PyYAML writes it between neighbours, which determine `---` and `...`."""
        from commodore.base.yaml import _pyyaml  # most runs never need PyYAML for writing

        before: list[object] = [] if first else [{}]
        after: list[object] = [] if last else [{}]
        text = _pyyaml.dump_all([*before, document, *after], self.multiline_style)
        return text[0 if first else len("{}\n") : None if last else -len("--- {}\n")]

    def _key(self, key: object) -> str:
        if type(key) is not str or not 0 < len(key) <= _scalars.SIMPLE_KEY_LENGTH or _scalars.breaks_lines(key):
            raise _UnusualError
        text = _scalars.flat(key) + ":"
        _remember(self._keys, key, text)
        return text

    def _string(self, value: str, column: int, indent: int) -> str:
        """Return a string value that is not in `_unbreakable`.

        Args:
            value: the string.
            column: the column at which it starts.
            indent: the blanks before further lines of it.
        """
        if "\n" in value:
            block = _scalars.literal(value, indent) if self.multiline_style == "literal" else None
            return block if block is not None else _scalars.double_quoted(value, column, indent)
        text = self._breakable.get(value)
        if text is None:
            text = _scalars.flat(value)
            if " " not in value and text[0] != '"':
                _remember(self._unbreakable, value, text)
                return text
            _remember(self._breakable, value, text)
        if column + len(text) <= _scalars.WIDTH:
            return text
        if text[0] == '"':
            return _scalars.double_quoted(value, column, indent)
        return _scalars.fold(text, column, indent)


class _DocumentWriter:
    """Writes a document into `out`, as pieces of text to be joined."""

    __slots__ = ("_key", "_known_keys", "_known_strings", "_seen", "_string", "out")

    def __init__(
        self,
        key: Callable[[object], str],
        string: Callable[[str, int, int], str],
        known_keys: dict[str, str],
        known_strings: dict[str, str],
    ) -> None:
        self.out: list[str] = []
        self._key = key
        self._string = string
        self._known_keys = known_keys
        self._known_strings = known_strings
        self._seen: set[int] = set()

    def mapping(self, value: dict[Any, Any], indent: int, lead: str) -> None:
        """Write the entries of a non-empty map.

        Args:
            value: the map.
            indent: the blanks before its keys.
            lead: replaces the newline and the blanks before the first key.
        """
        self._watch_for_alias(value)
        write = self.out.append
        known_keys, known_strings, string = self._known_keys, self._known_strings, self._string
        next_line = "\n" + " " * indent
        try:
            keys = sorted(value)  # keys that cannot be compared raise TypeError
        except TypeError:
            raise _UnusualError from None
        for key in keys:
            key_text = (known_keys.get(key) or self._key(key)) if type(key) is str else self._key(key)
            member = value[key]
            kind = type(member)
            if kind is str:
                text = known_strings.get(member)
                if text is None:
                    text = string(member, indent + len(key_text) + 1, indent + 2)
                write(f"{lead}{key_text} {text}")
            elif kind is dict and member:
                write(f"{lead}{key_text}")
                self.mapping(member, indent + 2, next_line + "  ")
            elif kind is list and member:
                write(f"{lead}{key_text}")
                self.sequence(member, indent + 2, next_line + "  ")
            else:
                write(f"{lead}{key_text} {self._leaf(member)}")
            lead = next_line

    def sequence(self, value: list[Any], indent: int, lead: str) -> None:
        """Write the items of a non-empty list. Arguments as for `mapping`."""
        self._watch_for_alias(value)
        write = self.out.append
        known_strings, string = self._known_strings, self._string
        next_line = "\n" + " " * indent
        for member in value:
            kind = type(member)
            if kind is str:
                text = known_strings.get(member)
                if text is None:
                    text = string(member, indent + 2, indent + 2)
                write(f"{lead}- {text}")
            elif kind is dict and member:
                self.mapping(member, indent + 2, f"{lead}- ")
            elif kind is list and member:
                self.sequence(member, indent + 2, f"{lead}- ")
            else:
                write(f"{lead}- {self._leaf(member)}")
            lead = next_line

    def _leaf(self, value: object) -> str:
        """Return an empty map or list, or a scalar that is not a string."""
        if type(value) is dict:
            self._watch_for_alias(value)
            return "{}"
        if type(value) is list:
            self._watch_for_alias(value)
            return "[]"
        return _plain_scalar(value)

    def _watch_for_alias(self, value: object) -> None:
        """Refuse a repeated map or list, for which PyYAML writes an anchor, even if it is empty."""
        if id(value) in self._seen:
            raise _UnusualError
        self._seen.add(id(value))


def _plain_scalar(value: object) -> str:
    kind = type(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is int:
        return str(value)
    if kind is float:
        return _float(cast(float, value))
    raise _UnusualError


def _float(value: float) -> str:
    if value != value:
        return ".nan"
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    text = repr(value)
    # YAML 1.1 requires a dot in a float: 1e+16 would be a string.
    return text if "." in text else text.replace("e", ".0e", 1)


def _remember(cache: dict[str, str], string: str, text: str) -> None:
    if len(string) <= _CACHED_LENGTH:
        if len(cache) >= _CACHED_STRINGS:
            cache.clear()
        cache[string] = text


_EMITTERS: Final[dict[MultilineStyle, Emitter]] = {
    "literal": Emitter("literal"),
    "folded": Emitter("folded"),
    "double-quotes": Emitter("double-quotes"),
}


def dump(document: object, multiline_style: MultilineStyle = "literal") -> str:
    """Return a document as YAML, ending with a newline, ASCII only. See `Emitter.dump`."""
    return _EMITTERS[multiline_style].dump(document)


def dump_stream(documents: Sequence[object], multiline_style: MultilineStyle = "literal") -> str:
    """Return documents as a YAML stream: `---` between them, empty for none. See `Emitter.dump_stream`."""
    return _EMITTERS[multiline_style].dump_stream(documents)


def dump_flush(document: object, quoted: Callable[[str], bool] | None = None) -> str:
    """Return a document in PyYAML's own style, as printed by `inventory show`: ASCII, sorted keys, list items flush
    with their key, strings with newlines in quotes. A lone scalar is followed by a line `...`.

    Args:
        quoted: write values for charts: keys in their order, lines of 1000 columns, no anchors, and single quotes
            around texts for which this returns True.

    Raises:
        InputError: CMD-YAML-002, a value YAML has no form for; CMD-YAML-003, nested too deeply.
    """
    from commodore.base.yaml import _pyyaml

    return _pyyaml.dump_flush(document) if quoted is None else _pyyaml.dump_ordered(document, quoted)
