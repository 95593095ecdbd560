"""Running helm, several processes at a time, and what it says when it refuses."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from commodore.base.errors import EnvironmentFault
from commodore.base.limits import Limits
from commodore.base.printable import printable
from commodore.base.programs.child_processes import Child, child_environment, start_program
from commodore.core.confinement.chart_schemas import refers_elsewhere
from commodore.core.tools import locate_tool

_T = TypeVar("_T")
_R = TypeVar("_R")


class HelmRefused(Exception):
    """Helm has ended with an error. `reason` says why, without paths of temporary files."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def helm_path() -> str:
    """The executable of helm.

    Raises:
        EnvironmentFault: CMD-FLT-055, there is none.
    """
    tool = locate_tool("helm")
    if tool is None:
        raise EnvironmentFault(
            "CMD-FLT-055", "helm is needed and is not there", hint="install it: commodore tool install helm"
        )
    return str(tool.path)


class Helm:
    """Renders charts. At the end of its `with` block no process of it is left.

    Args:
        program: the path of helm.
        processes: how many run at the same time.
    """

    def __init__(self, program: str, processes: int, limits: Limits) -> None:
        self.program = program
        self._processes = max(1, processes)
        self._limits = limits
        self._running: set[subprocess.Popen[bytes]] = set()
        self._guard = threading.Lock()
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._guard:
            self._ended = True
            running = list(self._running)
        for process in running:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def each(self, work: Callable[[_T], _R], items: Iterable[_T]) -> list[_R]:
        """What `work` makes of each item, several at the same time, in their order. An exception ends the rest."""
        with ThreadPoolExecutor(self._processes) as pool:
            futures = [pool.submit(work, item) for item in items]
            try:
                return [future.result() for future in futures]
            except BaseException:
                for future in futures:
                    future.cancel()
                self.__exit__(None, None, None)
                raise

    def template(self, release: str, chart: Path, values: str) -> str:
        """What `helm template` prints.

        Args:
            release: the name of the release.
            chart: the chart's folder.
            values: YAML or JSON, beside the chart's own values.

        Raises:
            HelmRefused: it ended with an error.
            EnvironmentFault: CMD-FLT-055, it cannot be started; CMD-FLT-027, it takes too long.
        """
        command = [self.program, "template", release, str(chart), "--values", "-"]
        if refers_elsewhere(chart):  # helm would ask servers, and read any file
            command.append("--skip-schema-validation")
        environment = child_environment(Child.TOOL)
        code, out, err = self._run(command, values.encode(), environment)
        if code:
            raise HelmRefused(_reason(err.decode("utf-8", "replace"), str(chart)))
        return out.decode("utf-8", "replace")

    def _run(self, command: list[str], given: bytes, environment: Mapping[str, str]) -> tuple[int, bytes, bytes]:
        with self._guard:
            if self._ended:
                raise HelmRefused("it was ended")
            try:
                process = start_program(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=dict(environment),
                    start_new_session=True,
                )
            except OSError as error:
                raise EnvironmentFault(
                    "CMD-FLT-055",
                    f"helm cannot be started: {error.strerror}",
                    hint="install it: commodore tool install helm",
                    locations=[self.program],
                ) from error
            self._running.add(process)
        try:
            out, err = process.communicate(given, self._limits.helm_timeout)
        except subprocess.TimeoutExpired:
            raise EnvironmentFault(
                "CMD-FLT-027",
                f"helm did not end within {self._limits.helm_timeout:g} seconds (helm_timeout)",
                hint="look at the chart's templates",
            ) from None
        finally:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            with self._guard:
                self._running.discard(process)
        return process.returncode, out, err


def _reason(said: str, chart: str) -> str:
    lines = [
        line
        for line in said.splitlines()
        if line.strip() and not line.startswith(("WARNING:", "level=", "Use --debug"))
    ]
    text = " ".join(lines).removeprefix("Error: ")
    return printable(text.replace(chart, Path(chart).name).replace(str(Path(chart).parent), "")).strip()
