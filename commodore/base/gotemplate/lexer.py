"""Split the text of a template into tokens."""

from __future__ import annotations

import enum
from typing import Final, NamedTuple

from commodore.base.gotemplate.quoting import quoted


class TokenKind(enum.Enum):
    """The kinds of tokens."""

    ERROR = enum.auto()
    BOOL = enum.auto()
    CHAR = enum.auto()  # any other printable character, such as a comma
    CHARACTER = enum.auto()  # 'x'
    COMPLEX = enum.auto()
    ASSIGN = enum.auto()
    DECLARE = enum.auto()
    EOF = enum.auto()
    FIELD = enum.auto()
    IDENTIFIER = enum.auto()
    LEFT_DELIM = enum.auto()
    LEFT_PAREN = enum.auto()
    NUMBER = enum.auto()
    PIPE = enum.auto()
    RAW_STRING = enum.auto()
    RIGHT_DELIM = enum.auto()
    RIGHT_PAREN = enum.auto()
    SPACE = enum.auto()
    STRING = enum.auto()
    TEXT = enum.auto()
    VARIABLE = enum.auto()
    DOT = enum.auto()
    NIL = enum.auto()
    KEYWORD = enum.auto()


KEYWORDS: Final = frozenset(["block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"])
_SPACES: Final = " \t\r\n"
_DIGITS: Final = "0123456789_"


class Token(NamedTuple):
    """A token: its kind, its position, its text, and its line."""

    kind: TokenKind
    position: int
    text: str
    line: int

    def __str__(self) -> str:
        if self.kind is TokenKind.EOF:
            return "EOF"
        if self.kind is TokenKind.ERROR:
            return self.text
        if self.kind in (TokenKind.KEYWORD, TokenKind.DOT, TokenKind.NIL):
            return f"<{self.text}>"
        if len(self.text) > 10:
            return quoted(self.text[:10]) + "..."
        return quoted(self.text)


class _Fault(Exception):
    pass


def tokens(text: str, words: frozenset[str] = KEYWORDS) -> list[Token]:
    """Return all tokens of a template; the last one is EOF or ERROR.

    Args:
        text: the template.
        words: the keywords.
    """
    return _Lexer(text, words).run()


def _alphanumeric(char: str) -> bool:
    return char == "_" or char.isalpha() or char.isdecimal()


class _Lexer:
    def __init__(self, text: str, words: frozenset[str]) -> None:
        self.text = text
        self.words = words
        self.position = 0
        self.start = 0
        self.line = 1
        self.start_line = 1
        self.depth = 0
        self.result: list[Token] = []

    def run(self) -> list[Token]:
        try:
            self._texts()
        except _Fault as fault:
            self.result.append(Token(TokenKind.ERROR, self.start, str(fault), self.start_line))
        return self.result

    def _emit(self, kind: TokenKind) -> None:
        self.result.append(Token(kind, self.start, self.text[self.start : self.position], self.start_line))
        self._ignore()

    def _ignore(self) -> None:
        self.line += self.text.count("\n", self.start, self.position)
        self.start = self.position
        self.start_line = self.line

    def _peek(self) -> str:
        return self.text[self.position] if self.position < len(self.text) else ""

    def _texts(self) -> None:
        text = self.text
        while True:
            at = text.find("{{", self.position)
            if at < 0:
                self.position = len(text)
                if self.position > self.start:
                    self._emit(TokenKind.TEXT)
                self._emit(TokenKind.EOF)
                return
            trims = text[at + 2 : at + 3] == "-" and text[at + 3 : at + 4] in _SPACES and at + 3 < len(text)
            self.position = self.start + len(text[self.start : at].rstrip(_SPACES)) if trims else at
            if self.position > self.start:
                self._emit(TokenKind.TEXT)
            self.position = at
            self._ignore()
            self._left(2 if trims else 0)

    def _left(self, marker: int) -> None:
        if self.text.startswith("/*", self.position + 2 + marker):
            self.position += 2 + marker
            self._comment()
            return
        self.position += 2
        self._emit(TokenKind.LEFT_DELIM)
        self.position += marker
        self._ignore()
        self.depth = 0
        while self._inside():
            pass

    def _comment(self) -> None:
        end = self.text.find("*/", self.position + 2)
        if end < 0:
            raise _Fault("unclosed comment")
        self.position = end + 2
        delim, trims = self._at_right()
        if not delim:
            raise _Fault("comment ends before closing delimiter")
        self._close(trims)

    def _at_right(self) -> tuple[bool, bool]:
        """Return two flags: at a closing delimiter, and one that trims."""
        text, at = self.text, self.position
        if at + 1 < len(text) and text[at] in _SPACES and text[at + 1] == "-" and text.startswith("}}", at + 2):
            return True, True
        return text.startswith("}}", at), False

    def _close(self, trims: bool) -> None:
        self.position += 4 if trims else 2
        if trims:
            while self._peek() and self._peek() in _SPACES:
                self.position += 1
        self._ignore()

    def _right(self, trims: bool) -> None:
        if trims:
            self.position += 2
            self._ignore()
        self.position += 2
        self._emit(TokenKind.RIGHT_DELIM)
        if trims:
            while self._peek() and self._peek() in _SPACES:
                self.position += 1
            self._ignore()

    def _inside(self) -> bool:
        """Read a token inside of an action. Returns False after its end."""
        delim, trims = self._at_right()
        if delim:
            if self.depth:
                raise _Fault("unclosed left paren")
            self._right(trims)
            return False
        char = self._peek()
        if not char:
            raise _Fault("unclosed action")
        if char in _SPACES:
            self._space()
            return True
        if char in _SIMPLE:
            self.position += 1
            self._emit(_SIMPLE[char])
        elif char == ":":
            self.position += 2
            if self.text[self.position - 1 : self.position] != "=":
                raise _Fault("expected :=")
            self._emit(TokenKind.DECLARE)
        elif char in "\"'`":
            self._quoted(char)
        elif char == "$":
            self.position += 1
            self._field(TokenKind.VARIABLE)
        elif (
            char == "."
            and not self.text[self.position + 1 : self.position + 2].isdigit()
            and self.position + 1 < len(self.text)
        ):
            self.position += 1
            self._field(TokenKind.FIELD)
        elif char in "+-." or char in "0123456789":
            self._number()
        elif _alphanumeric(char):
            self._identifier()
        elif char in "()":
            self._paren(char)
        elif " " < char < "\x7f":
            self.position += 1
            self._emit(TokenKind.CHAR)
        else:
            raise _Fault(f"unrecognized character in action: {_unicode(char)}")
        return True

    def _space(self) -> None:
        while self._peek() and self._peek() in _SPACES:
            if self._at_right() == (True, True):
                break
            self.position += 1
        self._emit(TokenKind.SPACE)

    def _paren(self, char: str) -> None:
        self.position += 1
        self.depth += 1 if char == "(" else -1
        if self.depth < 0:
            raise _Fault("unexpected right paren")
        self._emit(TokenKind.LEFT_PAREN if char == "(" else TokenKind.RIGHT_PAREN)

    def _quoted(self, quote: str) -> None:
        self.position += 1
        while True:
            char = self._peek()
            self.position += 1
            if char == quote:
                break
            if char == "\\" and quote != "`" and self._peek() not in ("", "\n"):
                self.position += 1
            elif not char or (quote != "`" and (char == "\n" or (char == "\\" and self._peek() in ("", "\n")))):
                raise _Fault(_UNENDED[quote])
        self._emit(_QUOTED[quote])

    def _at_terminator(self) -> bool:
        char = self._peek()
        return not char or char in _SPACES or char in ".,|:)(" or self.text.startswith("}}", self.position)

    def _field(self, kind: TokenKind) -> None:
        if self._at_terminator():
            self._emit(TokenKind.VARIABLE if kind is TokenKind.VARIABLE else TokenKind.DOT)
            return
        while self._peek() and _alphanumeric(self._peek()):
            self.position += 1
        if not self._at_terminator():
            raise _Fault(f"bad character {_unicode(self._peek())}")
        self._emit(kind)

    def _identifier(self) -> None:
        while self._peek() and _alphanumeric(self._peek()):
            self.position += 1
        word = self.text[self.start : self.position]
        if not self._at_terminator():
            raise _Fault(f"bad character {_unicode(self._peek())}")
        if word in self.words:
            self._emit(TokenKind.KEYWORD)
        elif word in ("true", "false"):
            self._emit(TokenKind.BOOL)
        else:
            self._emit(TokenKind.NIL if word == "nil" else TokenKind.IDENTIFIER)

    def _number(self) -> None:
        sound = self._scan_number()
        if sound and self._peek() in ("+", "-"):
            sound = self._scan_number() and self.text[self.position - 1] == "i"
            if sound:
                self._emit(TokenKind.COMPLEX)
                return
        if not sound:
            raise _Fault(f"bad number syntax: {quoted(self.text[self.start : self.position])}")
        self._emit(TokenKind.NUMBER)

    def _accept(self, chars: str) -> bool:
        if self._peek() and self._peek() in chars:
            self.position += 1
            return True
        return False

    def _run_of(self, chars: str) -> None:
        while self._accept(chars):
            pass

    def _scan_number(self) -> bool:
        self._accept("+-")
        digits = _DIGITS
        if self._accept("0"):
            if self._accept("xX"):
                digits = "0123456789abcdefABCDEF_"
            elif self._accept("oO"):
                digits = "01234567_"
            elif self._accept("bB"):
                digits = "01_"
        self._run_of(digits)
        if self._accept("."):
            self._run_of(digits)
        if digits is _DIGITS and self._accept("eE"):
            self._accept("+-")
            self._run_of(_DIGITS)
        if len(digits) > 20 and self._accept("pP"):
            self._accept("+-")
            self._run_of(_DIGITS)
        self._accept("i")
        if self._peek() and _alphanumeric(self._peek()):
            self.position += 1
            return False
        return True


def _unicode(char: str) -> str:
    if not char:
        return "U+FFFFFFFFFFFFFFFF"  # reported by Go's lexer at the end of the text
    return f"U+{ord(char):04X}" + (f" '{char}'" if char.isprintable() else "")


_SIMPLE: Final = {"=": TokenKind.ASSIGN, "|": TokenKind.PIPE}
_QUOTED: Final = {'"': TokenKind.STRING, "`": TokenKind.RAW_STRING, "'": TokenKind.CHARACTER}
_UNENDED: Final = {
    '"': "unterminated quoted string",
    "`": "unterminated raw quoted string",
    "'": "unterminated character constant",
}
