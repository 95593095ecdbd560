"""Convert RE2's expressions to Python's: unknown syntax is refused, differing syntax is rewritten.

`regexps` searches them in bounded time.
"""

from __future__ import annotations

import functools
import re
import warnings
from typing import Final

from commodore.base.gotemplate.problems import CallProblem

_LONGEST: Final = 2000  # characters of an expression
_POSIX: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
}
_CLASSES: Final = {"d": "0-9", "s": r"\t\n\f\r ", "w": "0-9A-Za-z_"}
_LETTERS: Final = {"L": r"[^\W\d_]", "Lu": None, "Ll": None, "N": r"\d", "Nd": r"\d"}


@functools.lru_cache(maxsize=512)
def compiled(expression: str) -> re.Pattern[str]:
    """Compile an expression.

    Raises:
        CallProblem: it is invalid or unsupported.
    """
    if len(expression) > _LONGEST:
        raise CallProblem(f"error parsing regexp: expression longer than {_LONGEST} characters")
    text = _Rewriting(expression).run()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise CallProblem(_problem(expression, str(error))) from None


def _problem(expression: str, words: str) -> str:
    if "missing )" in words or "unterminated subpattern" in words:
        return f"error parsing regexp: missing closing ): `{expression}`"
    if "unbalanced parenthesis" in words:
        return f"error parsing regexp: unexpected ): `{expression}`"
    if "nothing to repeat" in words:
        at = re.search(r"[*+?]+", expression)
        return f"error parsing regexp: missing argument to repetition operator: `{at[0][:1] if at else expression}`"
    return f"error parsing regexp: {words}: `{expression}`"


class _Rewriting:
    def __init__(self, expression: str) -> None:
        self.text = expression
        self.at = 0
        self.parts: list[str] = []

    def run(self) -> str:
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char == "\\":
                self._escape()
            elif char == "[":
                self._class()
            elif char == "(":
                self._group()
            elif char == "$":
                self._take(r"(?:$(?!\n))", 1)
            elif char in "*+?}" and text.startswith("+", self.at + 1):
                raise CallProblem(f"error parsing regexp: invalid nested repetition operator: `{char}+`")
            else:
                self._take(char, 1)
        return "".join(self.parts)

    def _take(self, new: str, count: int) -> None:
        self.parts.append(new)
        self.at += count

    def _escape(self) -> None:
        text = self.text
        char = text[self.at + 1 : self.at + 2]
        if not char:
            raise CallProblem("error parsing regexp: trailing backslash at end of expression: ``")
        if char in _CLASSES:
            self._take(f"[{_CLASSES[char]}]", 2)
        elif char.lower() in _CLASSES and char.isupper():
            self._take(f"[^{_CLASSES[char.lower()]}]", 2)
        elif char == "z":
            self._take(r"\Z", 2)
        elif char == "A":
            self._take(r"\A", 2)
        elif char in "bB":
            self._take(rf"(?a:\{char})", 2)
        elif char == "Q":
            end = text.find("\\E", self.at)
            literal = text[self.at + 2 : end if end >= 0 else len(text)]
            self._take(re.escape(literal), len(literal) + (4 if end >= 0 else 2))
        elif char in "pP":
            self._property(char == "P")
        elif char == "x" and text.startswith("{", self.at + 2):
            end = text.find("}", self.at)
            self._take(re.escape(chr(int(text[self.at + 3 : end], 16))), end + 1 - self.at)
        elif char in "afnrtvx0" or not char.isalnum():
            self._take("\\" + char, 2)
        else:
            raise CallProblem(f"error parsing regexp: invalid escape sequence: `\\{char}`")

    def _property(self, negated: bool) -> None:
        match = re.match(r"\\[pP](?:\{(\^?\w+)\}|(\w))", self.text[self.at :])
        name = (match[1] or match[2]) if match else ""
        known = _LETTERS.get(name)
        if match is None or known is None:
            raise CallProblem(
                f"error parsing regexp: invalid character class range: `{match[0] if match else chr(92)}`"
            )
        self._take(f"(?!{known})(?s:.)" if negated else known, match.end())

    def _class(self) -> None:
        text, start = self.text, self.at
        at = start + 1
        parts = ["["]
        if text.startswith("^", at):
            parts.append("^")
            at += 1
        first = True
        while True:
            if at >= len(text):
                raise CallProblem(f"error parsing regexp: missing closing ]: `{text[start:]}`")
            char = text[at]
            if char == "]" and not first:
                break
            first = False
            posix = re.match(r"\[:(\^?)(\w+):\]", text[at:])
            if posix is not None:
                if posix[2] not in _POSIX or posix[1]:
                    raise CallProblem(f"error parsing regexp: invalid character class range: `{posix[0]}`")
                parts.append(_POSIX[posix[2]])
                at += posix.end()
            elif char == "\\":
                parts.append(self._escape_in_class(text[at + 1 : at + 2]))
                at += 2
            else:
                parts.append("\\" + char if char in "[]&~|" else char)
                at += 1
        self._take("".join(parts) + "]", at + 1 - start)

    def _escape_in_class(self, char: str) -> str:
        if char in _CLASSES:
            return _CLASSES[char]
        if char in ("D", "S", "W"):
            return "\\" + char
        if char and (char in "afnrtvx0" or not char.isalnum()):
            return "\\" + char
        raise CallProblem(f"error parsing regexp: invalid escape sequence: `\\{char}`")

    def _group(self) -> None:
        rest = self.text[self.at :]
        if not rest.startswith("(?"):
            self._take("(", 1)
            return
        named = re.match(r"\(\?P?<([A-Za-z0-9_]+)>", rest)
        if named is not None:
            self._take(f"(?P<{named[1]}>", named.end())
            return
        flags = re.match(r"\(\?([imsU]*)(-[imsU]+)?([:)])", rest)
        if flags is None or "U" in flags[0]:
            raise CallProblem(f"error parsing regexp: invalid or unsupported Perl syntax: `{rest[:3]}`")
        if flags[3] == ":":
            self._take(f"(?{flags[1]}{(flags[2] or '')}:", flags.end())
            return
        # Flags for the rest of the expression; in Python flags apply to a group only.
        tail = _Rewriting(rest[flags.end() :]).run()
        self._take(f"(?{flags[1]}{flags[2] or ''}:{tail})", len(rest))
