"""Search with foreign expressions in bounded time.

Python's engine backtracks, RE2 does not. Where that may take long, RE2 is used if it is installed (`google-re2`, in the
extra `argocd`), else a process with a timeout.
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
    """A match: the spans of it and its groups, (-1, -1) for an unmatched one, and the numbers of named groups."""

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
        """Return the text of a group; empty if it does not exist or did not match."""
        number = self.names.get(which, len(self.spans)) if isinstance(which, str) else which
        if number >= len(self.spans):
            return ""
        start, end = self.spans[number]
        return self.text[start:end] if start >= 0 else ""


def search(expression: str, text: str, at: int = 0) -> RegexpMatch | None:
    """Return the first match of an RE2 expression from a position on.

    Raises:
        CallProblem: the expression is invalid, or the search takes too long.
    """
    pattern = compiled(expression)
    if steps(pattern, len(text)) <= MANY_STEPS:
        match = pattern.search(text, at)
        spans = None if match is None else [match.span(number) for number in range(pattern.groups + 1)]
    else:
        spans = _slow(expression, pattern, text, at)
    return None if spans is None else RegexpMatch(text, tuple((start, end) for start, end in spans), pattern.groupindex)


def _slow(expression: str, pattern: re.Pattern[str], text: str, at: int) -> list[tuple[int, int]] | None:
    try:
        import re2
    except ImportError:
        return _in_process(pattern, text, at)
    try:
        match = re2.compile(expression).search(text, at)
    except UnicodeEncodeError:  # a single surrogate, which RE2 does not support
        return _in_process(pattern, text, at)
    except re2.error as error:
        raise CallProblem(f"error parsing regexp: {error}: `{expression}`") from None
    return None if match is None else [match.span(number) for number in range(pattern.groups + 1)]


def _in_process(pattern: re.Pattern[str], text: str, at: int) -> list[tuple[int, int]] | None:
    request = [pattern.pattern, text, at]
    try:
        spans: list[tuple[int, int]] | None = ask_once(
            ["-I", "-S", "-c", _WORKER], request, Bounds(SECONDS), Cancellation()
        )
    except OutOfBounds:
        raise CallProblem(
            f"the regular expression takes longer than {SECONDS:g} s; write it without nested repetitions, install the "
            "extra argocd, or raise regexp_seconds with COMMODORE_LIMITS"
        ) from None
    except (OSError, ChildEnded) as error:
        raise CallProblem(f"the regular expression cannot be used: {error}") from None
    return spans
