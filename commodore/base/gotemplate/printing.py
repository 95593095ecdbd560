"""Format values as Go's fmt does: print, println and printf."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from commodore.base.gotemplate.numbers import bounded_integer, float_text
from commodore.base.gotemplate.quoting import quoted, quoted_character
from commodore.base.gotemplate.values import (
    NO_VALUE,
    Object,
    Value,
    encoded,
    is_integer,
    is_nil_list,
    type_name,
)

_DIGITS: Final = "0123456789abcdef"
_WIDEST: Final = 1_000_000  # Go's limit of widths and precisions


@dataclass(frozen=True, slots=True)
class _Flags:
    sharp: bool = False
    zero: bool = False
    plus: bool = False
    minus: bool = False
    space: bool = False
    syntax: bool = False  # %#v
    width: int | None = None
    precision: int | None = None


_PLAIN: Final = _Flags()


def plain(value: Value) -> str:
    """Format a value as print and actions do: ``%v``."""
    if type(value) is str:
        return value
    return "<no value>" if value is NO_VALUE else _printed(value, "v", _PLAIN)


def sprint(values: Sequence[Value]) -> str:
    """Join values, with spaces between two values that are not texts (fmt.Sprint)."""
    parts: list[str] = []
    text_before = True
    for value in values:
        is_text = isinstance(value, str)
        if parts and not is_text and not text_before:
            parts.append(" ")
        parts.append(plain(value))
        text_before = is_text
    return "".join(parts)


def sprintln(values: Sequence[Value]) -> str:
    """Join values with spaces, and append a newline (fmt.Sprintln)."""
    return " ".join(map(plain, values)) + "\n"


def sprintf(form: str, values: Sequence[Value]) -> str:
    """Format values; mismatches are reported in the text, as by Go (fmt.Sprintf)."""
    return _Formatter(form, values).run()


class _Formatter:
    def __init__(self, form: str, values: Sequence[Value]) -> None:
        self.form = form
        self.values = values
        self.at = 0
        self.argument = 0
        self.reordered = False
        self.good = True
        self.after_index = False
        self.parts: list[str] = []

    def run(self) -> str:
        form, parts = self.form, self.parts
        while True:
            start = form.find("%", self.at)
            if start < 0:
                parts.append(form[self.at :])
                break
            parts.append(form[self.at : start])
            self.at = start + 1
            if not self._verb():
                break
        if not self.reordered and self.argument < len(self.values):
            extra = (_extra(value) for value in self.values[self.argument :])
            parts.append(f"%!(EXTRA {', '.join(extra)})")
        return "".join(parts)

    def _verb(self) -> bool:
        self.good, self.after_index = True, False
        flags = self._precision(self._width(self._flags()))
        if not self.after_index:
            self._index()
        if self.at >= len(self.form):
            self.parts.append("%!(NOVERB)")
            return False
        verb = self.form[self.at]
        self.at += 1
        if verb == "%":
            self.parts.append("%")
        elif not self.good:
            self.parts.append(f"%!{verb}(BADINDEX)")
        elif self.argument >= len(self.values):
            self.parts.append(f"%!{verb}(MISSING)")
        else:
            if verb == "v":
                flags = replace(flags, syntax=flags.sharp, sharp=False, plus=False)
            self.parts.append(_printed(self.values[self.argument], verb, flags))
            self.argument += 1
        return True

    def _flags(self) -> _Flags:
        characters = set()
        while self.form[self.at : self.at + 1] and self.form[self.at] in "#0+- ":
            characters.add(self.form[self.at])
            self.at += 1
        return _Flags("#" in characters, "0" in characters, "+" in characters, "-" in characters, " " in characters)

    def _width(self, flags: _Flags) -> _Flags:
        self._index()
        if self.form.startswith("*", self.at):
            self.at += 1
            width = self._from_argument()
            if width is None:
                self.parts.append("%!(BADWIDTH)")
                return flags
            self.after_index = False
            return replace(flags, width=abs(width), minus=flags.minus or width < 0)
        width = self._number()
        if self.after_index and width is not None:
            self.good = False
        return replace(flags, width=width)

    def _precision(self, flags: _Flags) -> _Flags:
        if not self.form.startswith(".", self.at):
            return flags
        self.at += 1
        if self.after_index:
            self.good = False
        self._index()
        if self.form.startswith("*", self.at):
            self.at += 1
            precision = self._from_argument()
            self.after_index = False
            if precision is None or precision < 0:
                self.parts.append("%!(BADPREC)")
                return flags
            return replace(flags, precision=precision)
        return replace(flags, precision=self._number() or 0)

    def _number(self) -> int | None:
        start = self.at
        while self.form[self.at : self.at + 1] and self.form[self.at] in "0123456789":
            self.at += 1
        if start == self.at:
            return None
        number = bounded_integer(self.form[start : self.at])
        if number > _WIDEST:
            self.at = len(self.form)
            return None
        return number

    def _from_argument(self) -> int | None:
        if self.argument >= len(self.values):
            return None
        value = self.values[self.argument]
        self.argument += 1
        return int(value) if is_integer(value) and abs(value) <= _WIDEST else None

    def _index(self) -> None:
        if not self.form.startswith("[", self.at):
            self.after_index = False
            return
        self.reordered = True
        end = self.form.find("]", self.at)
        if end < 0:
            self.good, self.after_index = False, False
            self.at += 1
            return
        inner = self.form[self.at + 1 : end]
        self.at = end + 1
        sound = inner.isascii() and inner.isdigit() and 1 <= bounded_integer(inner) <= len(self.values)
        if sound:
            self.argument = int(inner) - 1
            self.after_index = True
        else:
            self.good = False
            self.after_index = inner.isascii() and inner.isdigit()


def _extra(value: Value) -> str:
    return "<nil>" if value is None else f"{type_name(value)}={plain(value)}"


def _printed(value: Value, verb: str, flags: _Flags, depth: int = 0) -> str:
    if verb == "T" and depth == 0:
        return _padded(type_name(value), replace(flags, syntax=False))
    if value is None or value is NO_VALUE:
        if depth:
            return "interface {}(nil)" if flags.syntax else "<nil>"
        return _padded("<nil>", flags) if verb == "v" else f"%!{verb}(<nil>)"
    if isinstance(value, bool):
        if verb in "tv":
            return _padded("true" if value else "false", flags)
    elif isinstance(value, int):
        text = _integer(value, verb, flags)
        if text is not None:
            return text
    elif isinstance(value, float):
        if verb in "vgGeEfFxXb":
            return _float(value, verb, flags)
    elif isinstance(value, str):
        if verb in "vsxXq":
            return _text(value, verb, flags)
    elif isinstance(value, list):
        return _list(value, verb, flags, depth)
    elif isinstance(value, dict):
        return _map(value, verb, flags, depth)
    elif isinstance(value, Object):
        fields = value.fields()
        if flags.syntax and fields:
            items = (f"{name}:{_printed(item, verb, flags, depth + 1)}" for name, item in fields.items())
            return "&" + value.TYPE.removeprefix("*") + "{" + ", ".join(items) + "}"
        if verb in "vsxXq":
            return _text(value.go_string(), verb, replace(flags, syntax=False))
        if fields:
            return "&{" + " ".join(_printed(item, verb, flags, depth + 1) for item in fields.values()) + "}"
    return f"%!{verb}({type_name(value)}={_printed(value, 'v', flags)})"


def _list(value: list[Value], verb: str, flags: _Flags, depth: int) -> str:
    items = [_printed(item, verb, flags, depth + 1) for item in value]
    if flags.syntax and is_nil_list(value):
        return f"{type_name(value)}(nil)"
    if flags.syntax:
        return type_name(value) + "{" + ", ".join(items) + "}"
    return "[" + " ".join(items) + "]"


def _map(value: dict[str, Value], verb: str, flags: _Flags, depth: int) -> str:
    pairs = [
        f"{_printed(key, verb, flags, depth + 1)}:{_printed(value[key], verb, flags, depth + 1)}"
        for key in sorted(value)
    ]
    if flags.syntax:
        return type_name(value) + "{" + ", ".join(pairs) + "}"
    return "map[" + " ".join(pairs) + "]"


def _padded(text: str, flags: _Flags) -> str:
    missing = (flags.width or 0) - len(text)
    if missing <= 0:
        return text
    if flags.minus:
        return text + " " * missing
    return ("0" if flags.zero else " ") * missing + text


def _text(text: str, verb: str, flags: _Flags) -> str:
    if verb in "xX":
        return _padded(_hex(encoded(text), verb, flags), flags)
    if flags.precision is not None:
        text = text[: flags.precision]
    if verb == "q" or flags.syntax:
        if (flags.sharp or flags.syntax) and _can_back_quote(text) and not flags.syntax:
            return _padded(f"`{text}`", flags)
        return _padded(quoted(text, ascii_only=flags.plus), flags)
    return _padded(text, flags)


def _can_back_quote(text: str) -> bool:
    return all(
        char != "`"
        and char != "\x7f"
        and char != "\ufeff"
        and (char >= " " or char == "\t")
        and not "\udc80" <= char <= "\udcff"
        for char in text
    )


def _hex(data: bytes, verb: str, flags: _Flags) -> str:
    if flags.precision is not None:
        data = data[: flags.precision]
    prefix = "0x" if flags.sharp else ""
    if not data:
        return ""
    separator = " " + prefix if flags.space else ""
    text = prefix + separator.join(f"{byte:02x}" for byte in data)
    return text.upper() if verb == "X" else text


def _integer(number: int, verb: str, flags: _Flags) -> str | None:
    if flags.syntax and verb == "v":
        unsigned = type_name(number).startswith("uint")
        return (
            _digits(number, 16, "v", replace(flags, sharp=True, syntax=False))
            if unsigned
            else _digits(number, 10, verb, flags)
        )
    if verb in "vdboOxX":
        base = {"b": 2, "o": 8, "O": 8, "x": 16, "X": 16}.get(verb, 10)
        return _digits(number, base, verb, flags)
    sound = 0 <= number <= 0x10FFFF and not 0xD800 <= number < 0xE000
    if verb == "c":
        return _padded(chr(number) if sound else "\ufffd", flags)
    if verb == "q":
        return _padded(quoted_character(number, ascii_only=flags.plus), flags)
    if verb == "U":
        code = number if number >= 0 else number + (1 << 64)
        text = f"U+{code:0{max(4, flags.precision or 0)}X}"
        if flags.sharp and sound and chr(number).isprintable():
            text += f" '{chr(number)}'"
        return _padded(text, flags)
    return None


def _digits(number: int, base: int, verb: str, flags: _Flags) -> str:
    precision = 0
    if flags.precision is not None:
        precision = flags.precision
        if precision == 0 and number == 0:
            return " " * (flags.width or 0)
    elif flags.zero and not flags.minus and flags.width is not None:
        precision = flags.width - (1 if number < 0 or flags.plus or flags.space else 0)
    left, digits = abs(number), ""
    while left or not digits:
        left, digit = divmod(left, base)
        digits = _DIGITS[digit] + digits
    if verb == "X":
        digits = digits.upper()
    digits = digits.rjust(precision, "0")
    if flags.sharp:
        if base == 2:
            digits = "0b" + digits
        elif base == 8 and not digits.startswith("0"):
            digits = "0" + digits
        elif base == 16:
            digits = ("0X" if verb == "X" else "0x") + digits
    if verb == "O":
        digits = "0o" + digits
    sign = "-" if number < 0 else "+" if flags.plus else " " if flags.space else ""
    return _padded(sign + digits, replace(flags, zero=False))


def _float(number: float, verb: str, flags: _Flags) -> str:
    form = {"v": "g", "F": "f"}.get(verb, verb)
    precision = flags.precision
    if precision is None:
        precision = 6 if form in "eEf" else -1
    text = _binary_float(number, form, precision) if form in "xXb" else float_text(number, form, precision)
    sign, text = (text[0], text[1:]) if text[0] in "+-" else ("+", text)
    if math.isinf(number) or math.isnan(number):
        shown = sign if sign == "-" or flags.plus or math.isinf(number) else " " if flags.space else ""
        if flags.space and not flags.plus and sign == "+":
            shown = " "
        return _padded(shown + text, flags)
    if flags.sharp and form != "b":
        text = _with_point(text, form, flags.precision)
    if flags.space and sign == "+" and not flags.plus:
        sign = " "
    if flags.plus or sign != "+":
        if flags.zero and not flags.minus and flags.width is not None:
            return sign + text.rjust(flags.width - 1, "0")
        return _padded(sign + text, flags)
    return _padded(text, flags)


def _with_point(text: str, form: str, precision: int | None) -> str:
    """Apply the sharp flag: always a decimal point, and trailing zeros with %g and %x."""
    tail = re.search("[pP].*" if form in "xX" else "[eE].*", text)
    number = text[: tail.start()] if tail else text
    digits = (6 if precision is None else precision) if form in "gGx" else 0
    significant = re.sub("^[0.xX]*", "", number) if form not in "xX" else number.lstrip("0.")
    digits -= sum(char != "." for char in significant)
    if "." not in number:
        digits -= number == "0"
        number += "."
    return number + "0" * digits + (tail[0] if tail else "")


def _binary_float(number: float, form: str, precision: int) -> str:
    if math.isinf(number) or math.isnan(number):
        return float_text(number)
    sign = "-" if math.copysign(1, number) < 0 else ""
    mantissa, exponent = math.frexp(abs(number))
    if form == "b":
        whole = int(mantissa * (1 << 53))
        power = exponent - 53 if number else -1074
        return f"{sign}{whole}p{'-' if power < 0 else '+'}{abs(power)}"
    whole = int(mantissa * (1 << 53))  # 53 bits, the first one before the point
    power = exponent - 1 if number else 0
    if precision >= 0:
        drop = 52 - 4 * precision
        if drop > 0:
            low, whole = whole & ((1 << drop) - 1), whole >> drop
            half = 1 << (drop - 1)
            whole += low > half or (low == half and bool(whole & 1))
            if whole >> (53 - drop):
                whole >>= 1
                power += 1
            whole <<= drop
    digits = f"{whole & ((1 << 52) - 1):013x}"
    digits = digits.rstrip("0") if precision < 0 else digits[:precision].ljust(precision, "0")
    text = f"{sign}0x{whole >> 52}{'.' + digits if digits else ''}p{'-' if power < 0 else '+'}{abs(power):02d}"
    return text.upper() if form == "X" else text
