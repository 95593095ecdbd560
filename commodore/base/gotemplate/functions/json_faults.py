"""The messages of Go's decoder for invalid JSON."""

from __future__ import annotations

from typing import Final

from commodore.base.gotemplate.problems import CallProblem
from commodore.base.gotemplate.values import encoded

_BLANK: Final = b" \t\r\n"
_END: Final = "unexpected end of JSON input"


def json_fault(text: str) -> str:
    """Return the message for a text that is not JSON."""
    scanner = _Scanner(encoded(text))
    try:
        scanner.value("looking for beginning of value")
        scanner.blank()
        if scanner.at < len(scanner.data):
            scanner.fail("after top-level value")
    except CallProblem as problem:
        return str(problem)
    return _END


class _Scanner:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def fail(self, context: str) -> None:
        if self.at >= len(self.data):
            raise CallProblem(_END)
        char = chr(self.data[self.at])
        shown = {"'": "'\\''", '"': "'\"'", "\\": "'\\\\'"}.get(char)
        if shown is None:
            shown = (
                f"'{char}'"
                if char.isprintable()
                else {"\n": "'\\n'", "\t": "'\\t'", "\r": "'\\r'"}.get(char, f"'\\x{ord(char):02x}'")
            )
        raise CallProblem(f"invalid character {shown} {context}")

    def blank(self) -> None:
        while self.peek() and self.peek() in _BLANK:
            self.at += 1

    def peek(self) -> bytes:
        return self.data[self.at : self.at + 1]

    def value(self, context: str) -> None:
        self.blank()
        char = self.peek()
        if char == b"{":
            self.object()
        elif char == b"[":
            self.array()
        elif char == b'"':
            self.text()
        elif char and char in b"-0123456789":
            self.number()
        elif char in (b"t", b"f", b"n"):
            self.word({b"t": "true", b"f": "false", b"n": "null"}[char])
        else:
            self.fail(context)

    def word(self, word: str) -> None:
        for at, letter in enumerate(word):
            if self.peek() != letter.encode():
                self.fail(f"in literal {word} (expecting '{word[at]}')")
            self.at += 1

    def digits(self, context: str) -> None:
        if not self.peek().isdigit():
            self.fail(context)
        while self.peek().isdigit():
            self.at += 1

    def number(self) -> None:
        if self.peek() == b"-":
            self.at += 1
            if not self.peek().isdigit():
                self.fail("in numeric literal")
        if self.peek() == b"0":
            self.at += 1
        else:
            self.digits("in numeric literal")
        if self.peek() == b".":
            self.at += 1
            self.digits("after decimal point in numeric literal")
        if self.peek() in (b"e", b"E"):
            self.at += 1
            if self.peek() in (b"+", b"-"):
                self.at += 1
            self.digits("in exponent of numeric literal")

    def text(self) -> None:
        self.at += 1
        while self.peek() != b'"':
            if not self.peek() or self.peek() < b" ":
                self.fail("in string literal")
            if self.peek() == b"\\":
                self.at += 1
                if self.peek() == b"u":
                    for _ in range(4):
                        self.at += 1
                        if not self.peek() or self.peek() not in b"0123456789abcdefABCDEF":
                            self.fail("in \\u hexadecimal character escape")
                elif not self.peek() or self.peek() not in b'"\\/bfnrt':
                    self.fail("in string escape code")
            self.at += 1
        self.at += 1

    def array(self) -> None:
        self.at += 1
        self.blank()
        if self.peek() == b"]":
            self.at += 1
            return
        while True:
            self.value("looking for beginning of value")
            self.blank()
            if self.peek() == b"]":
                self.at += 1
                return
            if self.peek() != b",":
                self.fail("after array element")
            self.at += 1

    def object(self) -> None:
        self.at += 1
        self.blank()
        if self.peek() == b"}":
            self.at += 1
            return
        while True:
            self.blank()
            if self.peek() != b'"':
                self.fail("looking for beginning of object key string")
            self.text()
            self.blank()
            if self.peek() != b":":
                self.fail("after object key")
            self.at += 1
            self.value("looking for beginning of value")
            self.blank()
            if self.peek() == b"}":
                self.at += 1
                return
            if self.peek() != b",":
                self.fail("after object key:value pair")
            self.at += 1
