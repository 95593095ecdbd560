"""jq expressions, evaluated in a process of their own, so that one that does not end can be ended."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.printable import printable
from commodore.base.programs.python_children import LineWorker, WorkerEnded

_WORKER = "commodore.argocd.normalising.jq_worker"
_LONGEST = 10_000

Outcome = Literal["paths", "error", "slow"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an expression: the paths that it names, or why there are none."""

    outcome: Outcome
    paths: list[list[Any]]
    message: str = ""


class Jq:
    """Evaluates expressions. To be closed.

    Args:
        seconds: how long one evaluation may take.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._worker = LineWorker(_WORKER, seconds)
        self._installed = importlib.util.find_spec("jq") is not None

    def check(self, expression: str) -> None:
        """See that an expression can be evaluated.

        Raises:
            InputError: CMD-ARGO-702, it does not compile.
            EnvironmentFault: CMD-ARGO-413, jq is not installed.
        """
        if len(expression) > _LONGEST or "\0" in expression or (code := _code(expression)) is None:
            raise _does_not_compile(expression, "its brackets do not fit each other")
        if name := _first_call(code, _REFUSED):
            raise _does_not_compile(expression, f"{name} is not allowed: an expression sees the object alone")
        answer = self._ask(expression, None)
        if answer is not None and "compile" in answer:
            raise _does_not_compile(expression, str(answer["compile"]))

    def paths(self, expression: str, data: Mapping[str, Any]) -> Answer:
        """The paths in an object that an expression names.

        Raises: as `check`.
        """
        answer = self._ask(expression, data)
        if answer is None:
            return Answer("slow", [], f"it takes longer than {self._seconds:g} s")
        if "compile" in answer:
            raise _does_not_compile(expression, str(answer["compile"]))
        if "error" in answer:
            return Answer("error", [], str(answer["error"]))
        return Answer("paths", answer["paths"])

    def close(self) -> None:
        """End the process."""
        self._worker.close()

    def _ask(self, expression: str, data: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """The worker's answer; None if it takes too long."""
        if not self._installed:
            raise EnvironmentFault(
                "CMD-ARGO-413",
                "jq is not installed, which rules with jq expressions need",
                hint="install the package with its extra argocd",
            )
        try:
            return self._worker.ask({"expression": expression, "data": data})
        except WorkerEnded:
            return {"error": "jq ended; the expression may use too much memory or stack"}


def _does_not_compile(expression: str, why: str) -> InputError:
    return InputError(
        "CMD-ARGO-702",
        f"the jq expression {printable(expression[:200])!r} does not compile: {printable(why)}",
        hint="try it with: jq 'del(EXPRESSION)'",
    )


def reads_environment(expression: str) -> bool:
    """Check for `env` and `$ENV`, which are empty: Argo CD gives its expressions no variables."""
    return bool(_first_call(_code(expression) or "", ("env", "$ENV")))


_REFUSED = ("input", "inputs", "input_filename", "debug", "stderr", "now")
"""Functions that read more than the object. Argo CD's interpreter has no inputs, either."""


def _first_call(code: str, names: Iterable[str]) -> str:
    """The first of some functions or variables that an expression without its strings uses; empty if none.

    A name after a dot is a field, one before a colon a key, and one that the expression defines is its own.
    """
    for name in names:
        before = r"(?<![\w.$:])" if name[0] != "$" else ""
        if re.search(rf"{before}{re.escape(name)}(?!\w|\s*:)", code) and not re.search(rf"\bdef\s+{name}\b", code):
            return name
    return ""


def _code(text: str) -> str | None:
    """An expression without what stands in its strings; None if its brackets do not fit each other outside of strings
    and comments. So a text cannot leave what is put around it.
    """
    closing = {")": "(", "]": "[", "}": "{"}
    stack: list[str] = []
    code: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if stack and stack[-1] == '"':
            if character == "\\":
                if text[position : position + 1] == "(":
                    stack.append("(")
                    code.append("(")
                position += 1
            elif character == '"':
                stack.pop()
                code.append(character)
            continue
        code.append(character)
        if character == "#":
            return None  # what follows would be a comment, the closing bracket too
        if character in '"([{':
            stack.append(character)
        elif character in closing and (not stack or stack.pop() != closing[character]):
            return None
    return None if stack else "".join(code)
