"""jq expressions, evaluated in a separate process, which is stopped after a time limit."""

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

_State = Literal["paths", "error", "slow"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of an expression: the paths that it selects, or an error message."""

    outcome: _State
    paths: list[list[Any]]
    message: str = ""


class Jq:
    """Evaluates expressions. Must be closed.

    Args:
        seconds: time limit of an evaluation.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._worker = LineWorker(_WORKER, seconds)
        self._installed = importlib.util.find_spec("jq") is not None

    def check(self, expression: str) -> None:
        """Check that an expression can be evaluated.

        Raises:
            InputError: CMD-ARGO-702, it does not compile.
            EnvironmentFault: CMD-ARGO-413, jq is not installed.
        """
        if len(expression) > _LONGEST or "\0" in expression or (code := _code(expression)) is None:
            raise _does_not_compile(expression, "its brackets do not match")
        if name := _first_call(code, _REFUSED):
            raise _does_not_compile(expression, f"{name} is not allowed: an expression can read only the object")
        answer = self._ask(expression, None)
        if answer is not None and "compile" in answer:
            raise _does_not_compile(expression, str(answer["compile"]))

    def paths(self, expression: str, data: Mapping[str, Any]) -> Evaluation:
        """Return the paths in an object that an expression selects.

        Raises: as `check`.
        """
        answer = self._ask(expression, data)
        if answer is None:
            return Evaluation("slow", [], f"it takes longer than {self._seconds:g} s")
        if "compile" in answer:
            raise _does_not_compile(expression, str(answer["compile"]))
        if "error" in answer:
            return Evaluation("error", [], str(answer["error"]))
        return Evaluation("paths", answer["paths"])

    def close(self) -> None:
        """Stop the process."""
        self._worker.close()

    def _ask(self, expression: str, data: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Return the worker's answer, or None after the time limit."""
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
    """Return the first of some functions or variables that the code of an expression uses, or an empty text.

    A name after a dot is a field, one before a colon a key, and one that the expression defines is its own.
    """
    for name in names:
        before = r"(?<![\w.$:])" if name[0] != "$" else ""
        if re.search(rf"{before}{re.escape(name)}(?!\w|\s*:)", code) and not re.search(rf"\bdef\s+{name}\b", code):
            return name
    return ""


def _code(text: str) -> str | None:
    """Return an expression without the contents of its strings, or None if its brackets do not match outside of strings
    and comments, so that it cannot leave the brackets that are put around it.
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
