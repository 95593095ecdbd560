"""Sprig's functions for regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from commodore.base.gotemplate.functions.re2 import compiled
from commodore.base.gotemplate.functions.regexps import RegexpMatch, search
from commodore.base.gotemplate.problems import CallProblem
from commodore.base.gotemplate.signatures import Table, function
from commodore.base.gotemplate.values import NilStrings, Strings, Value

TABLE: Final[Table] = {}


def _both(name: str, params: str) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register a function and its variant ``must...``; their errors for an invalid expression differ."""

    def put(call: Callable[..., Value]) -> Callable[..., Value]:
        def panics(expression: str, *rest: Value) -> Value:
            try:
                return call(expression, *rest)
            except CallProblem as problem:
                shown = f"`{expression}`" if "`" not in expression else f'"{expression}"'
                raise CallProblem(f"regexp: Compile({shown}): {problem}") from None

        function(TABLE, name, params)(panics)
        function(TABLE, "must" + name[0].upper() + name[1:], params)(call)
        return call

    return put


def _matches(expression: str, text: str, limit: int) -> Iterator[RegexpMatch]:
    """Yield matches as Go does: no empty match right after another. An invalid expression is always an error."""
    compiled(expression)
    at, end, count = 0, -1, 0
    while (limit < 0 or count < limit) and at <= len(text):
        match = search(expression, text, at)
        if match is None:
            return
        accepted = match.end != at or match.start != end
        at = match.end if match.end != at else at + 1
        end = match.end
        if accepted:
            count += 1
            yield match


@function(TABLE, "regexMatch", "string string")
def _match(expression: str, text: str) -> bool:
    try:
        return search(expression, text) is not None
    except CallProblem:
        return False


@function(TABLE, "mustRegexMatch", "string string")
def _must_match(expression: str, text: str) -> bool:
    return search(expression, text) is not None


@_both("regexFindAll", "string string int")
def _find_all(expression: str, text: str, count: int) -> Strings:
    return Strings(match.group(0) for match in _matches(expression, text, count)) or NilStrings()


@_both("regexFind", "string string")
def _find(expression: str, text: str) -> str:
    match = search(expression, text)
    return "" if match is None else match.group(0)


@_both("regexReplaceAll", "string string string")
def _replace_all(expression: str, text: str, replacement: str) -> str:
    return _replaced(expression, text, lambda match: _expanded(replacement, match))


@_both("regexReplaceAllLiteral", "string string string")
def _replace_all_literal(expression: str, text: str, replacement: str) -> str:
    return _replaced(expression, text, lambda _match: replacement)


_LONGEST: Final = 1 << 24  # the most characters of replacements


def _replaced(expression: str, text: str, replace: Callable[[RegexpMatch], str]) -> str:
    parts, last, at, size = [], 0, 0, 0
    while at <= len(text):
        match = search(expression, text, at)
        if match is None:
            break
        parts.append(text[last : match.start])
        if match.end > last or match.start == 0:
            parts.append(replace(match))
            size += len(parts[-1])
            if size > _LONGEST:
                raise OverflowError
        last = match.end
        at = max(at + 1, last)
    return "".join([*parts, text[last:]])


_REFERENCE: Final = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<braced>[A-Za-z0-9_]+)\}|(?P<name>[A-Za-z0-9_]+))", re.ASCII)


def _expanded(replacement: str, match: RegexpMatch) -> str:
    def group(reference: re.Match[str]) -> str:
        if reference["dollar"]:
            return "$"
        name = reference["braced"] or reference["name"]
        return match.group(int(name) if name.isdigit() else name)

    return _REFERENCE.sub(group, replacement)


@_both("regexSplit", "string string int")
def _split(expression: str, text: str, count: int) -> Strings:
    compiled(expression)
    if count == 0:
        return NilStrings()
    if expression and not text:
        return Strings([""])
    parts = Strings()
    start = end = 0
    for match in _matches(expression, text, count):
        if count > 0 and len(parts) == count - 1:
            break
        end = match.start
        if match.end != 0:
            parts.append(text[start:end])
        start = match.end
    if end != len(text):
        parts.append(text[start:])
    return parts


@function(TABLE, "regexQuoteMeta", "string")
def _quote_meta(text: str) -> str:
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)
