"""Python in separate processes with JSON requests and answers, which can be terminated."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from commodore.base.cancellation import Cancellation
from commodore.base.programs import running
from commodore.base.programs.child_processes import Child, child_environment, start_program

_BOOT = "import sys; sys.path[:] = sys.argv[2:]; import runpy; runpy.run_module(sys.argv[1], run_name='__main__')"
_START = 60.0  # seconds until the first answer, including the start of the process


class ChildEnded(Exception):
    """A process has failed instead of answering.

    Attributes:
        code: its exit code, negative for a signal.
        last: the last line of its stderr.
    """

    def __init__(self, ended: running.Ended) -> None:
        said = ended.said.decode("utf-8", "replace").strip().splitlines()
        self.code = ended.code
        self.last = said[-1] if said else ""
        super().__init__(self.code, self.last)


def of_module(name: str) -> list[str]:
    """Return the words that run a module with the modules of this process: nothing else affects its imports."""
    return ["-I", "-c", _BOOT, name, *filter(None, sys.path)]


def ask_once(words: Sequence[str], request: object, bounds: running.Bounds, cancellation: Cancellation) -> Any:
    """Return the answer of a process that reads a request from stdin and writes the answer to stdout.

    Args:
        words: the command line after the Python interpreter.

    Raises:
        OutOfBounds: it exceeded a bound.
        ChildEnded: it has failed.
    """
    given = json.dumps(request).encode()
    command = running.Command([sys.executable, *words], child_environment(Child.PYTHON), given=given)
    ended = running.run(command, bounds, cancellation)
    if ended.code:
        raise ChildEnded(ended)
    return json.loads(ended.output)


class WorkerEnded(Exception):
    """The process has ended instead of answering: it used too much memory or stack."""


class LineWorker:
    """A Python module that reads a JSON request from each line and writes an answer line. To be closed.

    The process is started with the first request, without environment, and restarted after a timeout.

    Args:
        module: runs as `python -m`.
        seconds: the timeout of an answer.
    """

    def __init__(self, module: str, seconds: float) -> None:
        self._module = module
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer; None if it takes too long.

        Raises:
            WorkerEnded: no answer.
        """
        seconds = self._seconds if self._process is not None else self._seconds + _START
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            self.close()
            raise WorkerEnded from None
        line = _read_line(process.stdout.fileno(), seconds)
        if line is None:
            self.close()
            return None
        if not line:
            self.close()
            raise WorkerEnded
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Terminate the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = start_program(
                [sys.executable, *of_module(self._module)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={"LANG": "C.UTF-8"},
            )
        return self._process


def _read_line(descriptor: int, seconds: float) -> bytes | None:
    """Read a line; empty at the end of the stream, None if it takes too long."""
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
