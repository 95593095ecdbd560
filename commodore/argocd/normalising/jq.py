"""jq expressions, evaluated in a process of their own, so that one that does not end can be ended."""

from __future__ import annotations

import importlib.util
import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from commodore.errors import EnvironmentFault, InputError
from commodore.printable import printable

_WORKER = "commodore.argocd.normalising.jq_worker"
_LONGEST = 10_000
_START = 60.0  # seconds until the first answer, in which the process starts

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
        self._process: subprocess.Popen[bytes] | None = None

    def check(self, expression: str) -> None:
        """See that an expression can be evaluated.

        Raises:
            InputError: CMD-ARGO-702, it does not compile.
            EnvironmentFault: CMD-ARGO-413, jq is not installed.
        """
        if len(expression) > _LONGEST or "\0" in expression or not _balanced(expression):
            raise _does_not_compile(expression, "its brackets do not fit each other")
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
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _ask(self, expression: str, data: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """The worker's answer; None if it takes too long."""
        seconds = self._seconds if self._process is not None else self._seconds + _START
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"expression": expression, "data": data}).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            self.close()
            return {"error": "jq ended"}
        line = _read_line(process.stdout.fileno(), seconds)
        if line is None:
            self.close()
            return None
        if not line:
            self.close()
            return {"error": "jq ended; the expression may use too much memory or stack"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            if importlib.util.find_spec("jq") is None:
                raise EnvironmentFault(
                    "CMD-ARGO-413",
                    "jq is not installed, which rules with jq expressions need",
                    hint="install the package with its extra argocd",
                )
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", _WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"LANG": "C.UTF-8"},
            )
        return self._process


def _read_line(descriptor: int, seconds: float) -> bytes | None:
    """A line; empty at the end of the stream, None if it takes too long."""
    deadline = time.monotonic() + seconds
    parts: list[bytes] = []
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while not parts or not parts[-1].endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not selector.select(left):
                return None
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                return b""
            parts.append(chunk)
    return b"".join(parts)


def _does_not_compile(expression: str, why: str) -> InputError:
    return InputError(
        "CMD-ARGO-702",
        f"the jq expression {printable(expression[:200])!r} does not compile: {printable(why)}",
        hint="try it with: jq 'del(EXPRESSION)'",
    )


def _balanced(text: str) -> bool:
    """Whether the brackets fit each other outside of strings and comments, so that a text cannot leave what is put
    around it.
    """
    closing = {")": "(", "]": "[", "}": "{"}
    stack: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if stack and stack[-1] == '"':
            if character == "\\":
                if text[position : position + 1] == "(":
                    stack.append("(")
                position += 1
            elif character == '"':
                stack.pop()
        elif character == "#":
            return False  # what follows would be a comment, the closing bracket too
        elif character in '"([{':
            stack.append(character)
        elif character in closing and (not stack or stack.pop() != closing[character]):
            return False
    return not stack
