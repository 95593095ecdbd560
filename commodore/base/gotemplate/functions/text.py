"""Sprig's functions for texts."""

from __future__ import annotations

import hashlib
import re
import zlib
from typing import Final

from commodore.base.gotemplate.functions.casing import camel_case, kebab_case, snake_case
from commodore.base.gotemplate.printing import plain
from commodore.base.gotemplate.problems import CallProblem
from commodore.base.gotemplate.quoting import quoted
from commodore.base.gotemplate.signatures import Table, function
from commodore.base.gotemplate.values import StringMap, Strings, Value, decoded, encoded

TABLE: Final[Table] = {}
_LONGEST: Final = 1 << 24  # the most characters of repeat and indent
_SPACE: Final = (
    " \t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


_BYTES = re.compile("[\udc80-\udcff]")


def _by_bytes(texts: list[str]) -> list[str]:
    """Prepare texts for comparing parts of them: a character for each byte, if a text has bytes that are not UTF-8."""
    if not any(not text.isascii() and _BYTES.search(text) for text in texts):
        return texts
    return [encoded(text).decode("latin-1") for text in texts]


def _from_bytes(text: str, before: str, after: str) -> str:
    """Return the text for `after`, a part of the result of `_by_bytes` for `before`."""
    return text if after is before else decoded(text.encode("latin-1"))


def strval(value: Value) -> str:
    """Convert a value to text, nil to ``<nil>``."""
    return value if isinstance(value, str) else plain(value)


@function(TABLE, "hello")
def _hello() -> str:
    return "Hello!"


@function(TABLE, "toString", "any")
def _to_string(value: Value) -> str:
    return strval(value)


@function(TABLE, "trim", "string")
def _trim(text: str) -> str:
    return text.strip(_SPACE)


@function(TABLE, "trimall trimAll", "string string")
def _trim_all(characters: str, text: str) -> str:
    return text.strip(characters) if characters else text


@function(TABLE, "trimSuffix", "string string")
def _trim_suffix(end: str, text: str) -> str:
    part, whole = _by_bytes([end, text])
    return _from_bytes(whole.removesuffix(part), text, whole)


@function(TABLE, "trimPrefix", "string string")
def _trim_prefix(start: str, text: str) -> str:
    part, whole = _by_bytes([start, text])
    return _from_bytes(whole.removeprefix(part), text, whole)


def _characters(text: str) -> str:
    """Replace bytes that are not UTF-8 by replacement characters."""
    return _BYTES.sub("\ufffd", text)


def _mapped(text: str, change: str) -> str:
    """Convert character by character, as Go does: no character becomes two."""
    parts = []
    for char in text:
        new = "\ufffd" if "\udc80" <= char <= "\udcff" else getattr(char, change)()
        parts.append(new if len(new) == 1 else char)
    return "".join(parts)


@function(TABLE, "upper", "string")
def _upper(text: str) -> str:
    return _mapped(text, "upper")


@function(TABLE, "lower", "string")
def _lower(text: str) -> str:
    return _mapped(text, "lower")


@function(TABLE, "title", "string")
def _title(text: str) -> str:
    parts, before = [], " "
    for char in _characters(text):
        new = char.title() if _separates(before) else char
        parts.append(new if len(new) == 1 else char)
        before = char
    return "".join(parts)


def _separates(char: str) -> bool:
    if ord(char) < 0x80:
        return not (char.isalnum() or char == "_")
    return not (char.isalpha() or char.isdigit()) and char in _SPACE


@function(TABLE, "untitle", "string")
def _untitle(text: str) -> str:
    parts, start = [], True
    for char in _characters(text):
        parts.append(_mapped(char, "lower") if start else char)
        start = char in _SPACE
    return "".join(parts)


@function(TABLE, "nospace", "string")
def _nospace(text: str) -> str:
    data = encoded(text)  # byte by byte, as in Go's library
    kept = [byte for byte in data if chr(byte) not in _SPACE]
    return text if len(kept) == len(data) else "".join(map(chr, kept))


@function(TABLE, "initials", "string")
def _initials(text: str) -> str:
    return "".join(chr(encoded(word)[0]) for word in re.split(f"[{_SPACE}]+", text) if word)


@function(TABLE, "swapcase", "string")
def _swapcase(text: str) -> str:
    parts, start = [], True
    for char in _characters(text):
        new = char
        if char.isupper() or char.istitle():
            new = char.lower()
        elif char.islower():
            new = char.title() if start else char.upper()
        parts.append(new if len(new) == 1 else char)
        start = char in _SPACE
    return "".join(parts)


function(TABLE, "snakecase", "string")(snake_case)
function(TABLE, "kebabcase", "string")(kebab_case)


@function(TABLE, "camelcase", "string")
def _camelcase(text: str) -> str:
    return camel_case(_characters(text))


@function(TABLE, "abbrev", "int string")
def _abbrev(width: int, text: str) -> str:
    return text if width < 4 else decoded(_abbreviated(encoded(text), 0, width))


@function(TABLE, "abbrevboth", "int int string")
def _abbrev_both(left: int, right: int, text: str) -> str:
    if right < 4 or (left > 0 and right < 7):
        return text
    return decoded(_abbreviated(encoded(text), left, right))


def _abbreviated(data: bytes, offset: int, width: int) -> bytes:
    if len(data) <= width:
        return data
    offset = min(offset, len(data))
    if len(data) - offset < width - 3:
        offset = len(data) - (width - 3)
    if offset <= 4:
        return data[: width - 3] + b"..."
    if width < 7:
        return b""
    if offset + width - 3 < len(data):
        rest = data[offset:]
        return b"..." + (_abbreviated(rest, 0, width - 3) if width - 3 >= 4 else b"")
    return b"..." + data[len(data) - (width - 3) :]


@function(TABLE, "trunc", "int string")
def _trunc(count: int, text: str) -> str:
    data = encoded(text)
    if count < 0 and len(data) + count > 0:
        return decoded(data[len(data) + count :])
    return decoded(data[:count]) if 0 <= count < len(data) else text


@function(TABLE, "substr", "int int string")
def _substr(start: int, end: int, text: str) -> str:
    data = encoded(text)
    size = len(data)
    if start < 0:
        if end < 0:
            raise CallProblem(f"runtime error: slice bounds out of range [:{end}]")
        if end > size:
            raise CallProblem(f"runtime error: slice bounds out of range [:{end}] with length {size}")
        return decoded(data[:end])
    if end < 0 or end > size:
        if start > size:
            raise CallProblem(f"runtime error: slice bounds out of range [{start}:{size}]")
        return decoded(data[start:])
    if start > end:
        raise CallProblem(f"runtime error: slice bounds out of range [{start}:{end}]")
    return decoded(data[start:end])


def _repeated(text: str, count: int) -> str:
    if count < 0:
        raise CallProblem("strings: negative Repeat count")
    if len(text) * count > _LONGEST:
        raise OverflowError
    return text * count


@function(TABLE, "repeat", "int string")
def _repeat(count: int, text: str) -> str:
    return _repeated(text, count)


@function(TABLE, "replace", "string string string")
def _replace(old: str, new: str, text: str) -> str:
    if len(new) * (text.count(old) if old else len(text) + 1) > _LONGEST:
        raise OverflowError
    part, put, whole = _by_bytes([old, new, text]) if old else (old, new, text)
    return _from_bytes(whole.replace(part, put), text, whole)


@function(TABLE, "plural", "string string int")
def _plural(singular: str, many: str, count: int) -> str:
    return singular if count == 1 else many


@function(TABLE, "indent", "int string")
def _indent(spaces: int, text: str) -> str:
    return _indented(spaces, text)


def _indented(spaces: int, text: str) -> str:
    pad = _repeated(" ", spaces)
    if len(pad) * (text.count("\n") + 1) > _LONGEST:
        raise OverflowError
    return pad + text.replace("\n", "\n" + pad)


@function(TABLE, "nindent", "int string")
def _nindent(spaces: int, text: str) -> str:
    return "\n" + _indented(spaces, text)


@function(TABLE, "wrap", "int string")
def _wrap(width: int, text: str) -> str:
    return _wrapped(encoded(text), width, b"\n", cuts=False)


@function(TABLE, "wrapWith", "int string string")
def _wrap_with(width: int, separator: str, text: str) -> str:
    return _wrapped(encoded(text), width, encoded(separator) or b"\n", cuts=True)


def _wrapped(data: bytes, width: int, separator: bytes, *, cuts: bool) -> str:
    width = max(width, 1)
    parts: list[bytes] = []
    at = 0
    while len(data) - at > width:
        if data[at : at + 1] == b" ":
            at += 1
            continue
        space = data.rfind(b" ", at, at + width + 1)
        if space >= 0:
            parts += [data[at:space], separator]
            at = space + 1
        elif cuts:
            parts += [data[at : at + width], separator]
            at += width
        else:
            space = data.find(b" ", at + width)
            if space < 0:
                parts.append(data[at:])
                at = len(data)
            else:
                parts += [data[at:space], separator]
                at = space + 1
    parts.append(data[at:])
    return decoded(b"".join(parts))


@function(TABLE, "contains", "string string")
def _contains(part: str, text: str) -> bool:
    part, text = _by_bytes([part, text])
    return part in text


@function(TABLE, "hasPrefix", "string string")
def _has_prefix(start: str, text: str) -> bool:
    start, text = _by_bytes([start, text])
    return text.startswith(start)


@function(TABLE, "hasSuffix", "string string")
def _has_suffix(end: str, text: str) -> bool:
    end, text = _by_bytes([end, text])
    return text.endswith(end)


@function(TABLE, "quote", "...any")
def _quote(*values: Value) -> str:
    return " ".join(quoted(strval(value)) for value in values if value is not None)


@function(TABLE, "squote", "...any")
def _squote(*values: Value) -> str:
    return " ".join(f"'{plain(value)}'" for value in values if value is not None)


@function(TABLE, "cat", "...any")
def _cat(*values: Value) -> str:
    return " ".join(plain(value) for value in values if value is not None)


@function(TABLE, "split", "string string")
def _split(separator: str, text: str) -> StringMap:
    return _numbered(_pieces(text, separator, -1))


@function(TABLE, "splitn", "string int string")
def _splitn(separator: str, count: int, text: str) -> StringMap:
    return _numbered(_pieces(text, separator, count))


@function(TABLE, "splitList", "string string")
def _split_list(separator: str, text: str) -> Strings:
    return Strings(_pieces(text, separator, -1))


def _numbered(pieces: list[str]) -> StringMap:
    return StringMap({f"_{index}": piece for index, piece in enumerate(pieces)})


def _pieces(text: str, separator: str, count: int) -> list[str]:
    if count == 0:
        return []
    if not separator:
        pieces = list(text)
        return pieces if count < 0 or len(pieces) <= count else [*pieces[: count - 1], "".join(pieces[count - 1 :])]
    part, whole = _by_bytes([separator, text])
    return [_from_bytes(piece, text, whole) for piece in whole.split(part, -1 if count < 0 else count - 1)]


@function(TABLE, "join", "string any")
def _join(separator: str, value: Value) -> str:
    return separator.join(texts(value))


@function(TABLE, "toStrings", "any")
def _to_strings(value: Value) -> Strings:
    return Strings(texts(value))


@function(TABLE, "sortAlpha", "any")
def _sort_alpha(value: Value) -> Strings:
    if value is None:
        return Strings(["<nil>"])
    return Strings(sorted(texts(value), key=encoded)) if isinstance(value, list) else Strings([strval(value)])


@function(TABLE, "sha1sum", "string")
def _sha1(text: str) -> str:
    return hashlib.sha1(encoded(text), usedforsecurity=False).hexdigest()


@function(TABLE, "sha256sum", "string")
def _sha256(text: str) -> str:
    return hashlib.sha256(encoded(text)).hexdigest()


@function(TABLE, "sha512sum", "string")
def _sha512(text: str) -> str:
    return hashlib.sha512(encoded(text)).hexdigest()


@function(TABLE, "adler32sum", "string")
def _adler32(text: str) -> str:
    return str(zlib.adler32(encoded(text)))


def texts(value: Value) -> list[str]:
    """Return the items of a list as texts, without nils; a single value as a list of one item; nil as an empty list."""
    if value is None:
        return []
    if not isinstance(value, list):
        return [value if isinstance(value, str) else plain(value)]
    return [item if isinstance(item, str) else plain(item) for item in value if item is not None]
