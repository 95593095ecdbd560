"""Convert the case of words: snake_case, CamelCase, kebab-case."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable


def snake_case(text: str) -> str:
    """Convert FirstName to first_name."""
    return _Lowering(text, "_").run()


def kebab_case(text: str) -> str:
    """Convert FirstName to first-name."""
    return _Lowering(text, "-").run()


def camel_case(text: str) -> str:
    """Convert first_name to FirstName."""
    start = next((at for at, char in enumerate(text) if not _connects(char)), None)
    if start is None:
        return text + text[-1:]  # as Go's library has it
    parts = [text[:start]]
    upper_start, before = text[start].isupper(), _one(text[start], "upper")
    for char in text[start + 1 :]:
        if _connects(char) and _connects(before):
            parts.append(before)
        elif _connects(before):
            upper_start, before = char.isupper(), _one(char, "upper")
            continue
        else:
            parts.append(before)
            if upper_start and char.isupper():
                before = _one(char, "lower")
                continue
            upper_start = False
        before = char
    return "".join([*parts, before])


def _one(char: str, change: str) -> str:
    new: str = getattr(char, change)()
    return new if len(new) == 1 else char


def _connects(char: str) -> bool:
    return char in "-_" or char.isspace()


def _number(char: str) -> bool:
    return unicodedata.category(char).startswith("N")


def _punctuates(char: str) -> bool:
    return unicodedata.category(char).startswith("P")


def _letter(char: str) -> bool:
    """Return True for a letter of a script with case or words, not for ideographs."""
    return char.isalpha() and not (
        "\u4e00" <= char <= "\u9fcc" or "\u3400" <= char <= "\u4d85" or "\U00020000" <= char <= "\U0002b81d"
    )


def _lower_letter(char: str) -> bool:
    return _letter(char) and not char.isupper()


class _Lowering:
    """The words of a text in lower case, separated by connectors."""

    def __init__(self, text: str, connector: str) -> None:
        self.rest = text
        self.connector = connector
        self.parts: list[str] = []
        self.kind = self.word = ""

    def run(self) -> str:
        self._next()
        while self.rest:
            if self.kind != "connector":
                self._put(self.kind, self.word)
            before, last = self.kind, self.word
            self._next()
            if before == "number":
                self._with_letters()
            elif before == "connector":
                self._put(before, last)
            elif before != "punctuation":
                self._after_word()
        self._put(self.kind, self.word)
        return "".join(self.parts)

    def _connect(self) -> None:
        if self.kind not in ("", "connector", "punctuation"):
            self.parts.append(self.connector)

    def _with_letters(self) -> None:
        while self.kind in ("letters", "number"):
            self._put(self.kind, self.word)
            self._next()
        self._connect()

    def _after_word(self) -> None:
        if self.kind != "number":
            self._connect()
            return
        if not self.rest:
            return
        number = self.word
        self._next()
        if self.kind != "letters":  # a number belongs to the word before it
            self._put("number", number)
            self._connect()
            return
        self.parts.append(self.connector)  # or to the letters after it
        self._put("number", number)
        self._with_letters()

    def _put(self, kind: str, word: str) -> None:
        if kind in ("upper", "connector"):
            word = "".join(self.connector if _connects(char) else _one(char, "lower") for char in word)
        self.parts.append(word)

    def _next(self) -> None:
        text = self.rest
        if not text:
            self.kind = self.word = ""
            return
        first, end = text[0], 1
        if _connects(first):
            self.kind, end = "connector", _run(text, _connects)
        elif _punctuates(first):
            self.kind, end = "punctuation", _run(text, _punctuates)
        elif first.isupper():
            self.kind, end = "upper", _upper_end(text)
        elif _letter(first):
            self.kind, end = "letters", _run(text, _lower_letter)
        elif _number(first):
            self.kind, end = "number", _run(text, _number)
        else:
            self.kind, end = "other", _run(text, _other)
        self.word, self.rest = text[:end], text[end:]


def _other(char: str) -> bool:
    return not (_connects(char) or _letter(char) or _number(char) or _punctuates(char))


def _run(text: str, fits: Callable[[str], bool], start: int = 1) -> int:
    end = start
    while end < len(text) and fits(text[end]):
        end += 1
    return end


def _upper_end(text: str) -> int:
    """Return the end of a word with a leading capital; for HTTPServer the end of HTTP."""
    if len(text) == 1:
        return 1
    if text[1].isupper():
        end = _run(text, str.isupper)
        return end - 1 if end < len(text) and _letter(text[end]) else end
    return _run(text, _lower_letter) if _letter(text[1]) else 1
