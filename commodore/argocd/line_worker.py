"""A process that answers requests one by one, so that one that does not end can be ended."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from typing import Any

from commodore.base.programs.child_processes import start_program

_START = 60.0  # seconds until the first answer, in which the process starts


class WorkerEnded(Exception):
    """The process has ended instead of answering: it used too much memory or stack."""


class LineWorker:
    """A Python module that reads a request as JSON from each line and writes an answer likewise. To be closed.

    The process is started with the first request, without environment, and again after one that took too long.

    Args:
        module: runs as `python -m`.
        seconds: how long an answer may take.
    """

    def __init__(self, module: str, seconds: float) -> None:
        self._module = module
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """The answer; None if it takes too long.

        Raises:
            WorkerEnded: there is none.
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
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = start_program(
                [sys.executable, "-P", "-m", self._module],
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
