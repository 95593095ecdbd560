"""Searching with expressions that repositories bring, within bounded time.

Python's engine goes back and forth where RE2 does not. Where that may take long, RE2 itself searches if it is installed
(`google-re2`, in the extra `argocd`), else a process that is ended after a while.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from commodore.base.cancellation import Cancellation
from commodore.base.gotemplate.functions.re2 import compiled
from commodore.base.gotemplate.problems import CallProblem
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.programs.python_children import ChildEnded, ask_once
from commodore.base.programs.running import Bounds, OutOfBounds
from commodore.base.values.patterns import MANY_STEPS, steps

SECONDS: Final = DEFAULT_LIMITS.regexp_seconds
_WORKER: Final = """
import json, re, sys, warnings
warnings.simplefilter("ignore")
pattern, text, at = json.load(sys.stdin)
found = re.compile(pattern).search(text, at)
json.dump(found and [found.span(number) for number in range(found.re.groups + 1)], sys.stdout)
"""


@dataclass(frozen=True, slots=True)
class RegexpMatch:
    """A match: the places of it and its groups, (-1, -1) for one that takes no part, and the numbers of named ones."""

    text: str
    spans: tuple[tuple[int, int], ...]
    names: Mapping[str, int]

    @property
    def start(self) -> int:
        return self.spans[0][0]

    @property
    def end(self) -> int:
        return self.spans[0][1]

    def group(self, which: int | str) -> str:
        """The text of a group; empty if there is none, or it takes no part."""
        number = self.names.get(which, len(self.spans)) if isinstance(which, str) else which
        if number >= len(self.spans):
            return ""
        start, end = self.spans[number]
        return self.text[start:end] if start >= 0 else ""


def search(expression: str, text: str, at: int = 0) -> RegexpMatch | None:
    """The first match of an expression of RE2 from a place on.

    Raises:
        CallProblem: it is none, or it takes too long.
    """
    pattern = compiled(expression)
    if steps(pattern, len(text)) <= MANY_STEPS:
        found = pattern.search(text, at)
        spans = None if found is None else [found.span(number) for number in range(pattern.groups + 1)]
    else:
        spans = _slow(expression, pattern, text, at)
    return None if spans is None else RegexpMatch(text, tuple((start, end) for start, end in spans), pattern.groupindex)


def _slow(expression: str, pattern: re.Pattern[str], text: str, at: int) -> list[tuple[int, int]] | None:
    try:
        import re2
    except ImportError:
        return _in_process(pattern, text, at)
    try:
        found = re2.compile(expression).search(text, at)
    except UnicodeEncodeError:  # half a character, which RE2 does not know
        return _in_process(pattern, text, at)
    except re2.error as error:
        raise CallProblem(f"error parsing regexp: {error}: `{expression}`") from None
    return None if found is None else [found.span(number) for number in range(pattern.groups + 1)]


def _in_process(pattern: re.Pattern[str], text: str, at: int) -> list[tuple[int, int]] | None:
    request = [pattern.pattern, text, at]
    try:
        found: list[tuple[int, int]] | None = ask_once(
            ["-I", "-S", "-c", _WORKER], request, Bounds(SECONDS), Cancellation()
        )
    except OutOfBounds:
        raise CallProblem(
            f"the regular expression takes longer than {SECONDS:g} s; write it without nested repetitions, install the "
            "extra argocd, or raise regexp_seconds with COMMODORE_LIMITS"
        ) from None
    except (OSError, ChildEnded) as error:
        raise CallProblem(f"the regular expression cannot be used: {error}") from None
    return found
