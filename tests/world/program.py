"""The program without a process of its own: its command lines run in the test's process, with workers that are kept.

A process that has to load the program first, and another one that has to load Kapitan, take most of the time of a small
compile.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commodore.base.programs.workers import WorkerPool
from commodore.cli.main import run
from commodore.cli.shell.streams import PipeClosed, finish_streams, prepare_streams
from commodore.core.engine.tasks import Task, TaskOutcome
from commodore.core.engine.worker.pool import worker_pool
from tests.world.documents import check_documents

Pool = WorkerPool[Task, TaskOutcome]


class WorkerKeeper:
    """Lends engines their workers, and keeps the process that has loaded Kapitan when an engine is closed."""

    def __init__(self) -> None:
        self._pools: list[Pool] = []
        self._idle: list[Pool] = []

    def lend(self) -> LentPool:
        if not self._idle:
            self._idle.append(worker_pool())
            self._pools.append(self._idle[0])
        return LentPool(self._idle.pop(), self._idle.append)

    def close(self) -> None:
        """End all of them."""
        for pool in self._pools:
            pool.close()


class LentPool:
    """Everything that an engine takes for its own pool of workers."""

    def __init__(self, pool: Pool, give_back: Callable[[Pool], None]) -> None:
        self._pool = pool
        self._give_back = give_back
        self._is_used = self._is_running = self._is_closed = False

    def get_ready(self) -> None:
        if not self._is_closed:
            self._is_used = True
            self._pool.get_ready()

    def renew(self) -> None:
        self._is_used = True
        self._pool.renew()

    def run(self, *arguments: Any, **options: Any) -> None:
        assert not self._is_closed
        self._is_used = self._is_running = True
        self._pool.run(*arguments, **options)
        self._is_running = False

    def close(self) -> None:
        """Forget the workers, and keep what starts them, unless they were interrupted."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._is_running:
            self._pool.close()
            return
        if self._is_used:
            self._pool.renew()
        self._give_back(self._pool)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a command line."""

    code: int
    stdout: str
    stderr: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """Standard error as the JSON objects that `--log-format json` writes."""
        return [json.loads(line) for line in self.stderr.splitlines()]

    @property
    def errors(self) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == "Error"]

    @property
    def warnings(self) -> list[str]:
        """The codes of all warnings."""
        return [event["code"] for event in self.events if event["event"] == "Warned"]

    @property
    def error(self) -> dict[str, Any]:
        """The one error of a run that must have exactly one."""
        errors = self.errors
        assert len(errors) == 1, self.stderr
        return errors[0]


def run_here(
    arguments: Sequence[str], directory: Path = Path(), environment: Mapping[str, str] = os.environ, answer: str = ""
) -> Result:
    """Run a command line as if this process had been started with it."""
    with pytest.MonkeyPatch.context() as patch, _streams(answer, patch) as read:
        for name in os.environ.keys() - environment.keys():
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr(tempfile, "tempdir", None)  # what TMPDIR was when it was first asked for
        patch.chdir(directory)
        try:
            code = run(list(arguments), dotenv=True)
        except PipeClosed:
            code = 141
        finish_streams()
        out, err = read()
        check_documents(out)
        return Result(code, out, err)


@contextlib.contextmanager
def _streams(answer: str, patch: pytest.MonkeyPatch) -> Iterator[Callable[[], tuple[str, str]]]:
    """Let the three standard descriptors be files of their own; gives what reads the ones that are written."""
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(answer.encode())
        files[0].seek(0)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            saved = os.dup(number)
            stack.callback(os.close, saved)
            stack.callback(os.dup2, saved, number)
            os.dup2(files[number].fileno(), number)
            patch.setattr(sys, name, stack.enter_context(open(number, "r" if number == 0 else "w", closefd=False)))
        prepare_streams()

        def read() -> tuple[str, str]:
            for file in files[1:]:
                file.seek(0)
            return files[1].read().decode(), files[2].read().decode()

        yield read
