"""reclass-rs in a separate process.

It follows all references, and a few lines of a class file may expand to more values than fit into memory. It can only
be stopped by ending its process, so it runs in a process with a memory limit, and a time limit for each response.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import re
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from commodore.base.context import Context
from commodore.base.errors import CommodoreError, EnvironmentFault, InputError
from commodore.base.exhaustion import find_in_output
from commodore.base.printable import NAMES_SHOWN
from commodore.base.programs.child_processes import Child, child_environment, has_less_memory, start_program
from commodore.base.programs.workers import usable_cpus
from commodore.core.inventory import _reclass_worker
from commodore.core.inventory._reclass_worker import DONE, LARGE, LENGTH, NODE, PANIC

_CHUNK = 1 << 20
_LAST_LINES = 3
_PANIC = re.compile(rb"^thread '[^\n]*' (?:\(\d+\) )?panicked at .*", re.DOTALL | re.MULTILINE)


class TargetError(ValueError):
    """An error of reclass-rs about a target; `target` is empty if it does not name one."""

    def __init__(self, text: str, target: str) -> None:
        super().__init__(text)
        self.target = target


class PanicError(Exception):
    """A panic of reclass-rs, with its message."""


class ResourceLimitError(Exception):
    """Rendering `targets` needs more time or memory than the limits allow."""

    def __init__(self, targets: Sequence[str]) -> None:
        super().__init__(", ".join(targets))
        self.targets = targets


class _LimitHitError(Exception):
    """A limit of time or memory was hit."""


class ReclassProcess:
    """A process that renders targets until `close`.

    Args:
        context: its limits `hierarchy_seconds`, `hierarchy_bytes` and `target_bytes` apply.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - see `close`
        self._read_until = 0
        try:
            self._process = _start(context, self._stderr)
        except BaseException:
            self._stderr.close()
            raise

    def node(self, name: str, **hierarchy: Any) -> dict[str, Any]:
        """Render one target of a hierarchy.

        Args:
            hierarchy: the arguments of `reclass_rs.Reclass`.

        Raises:
            TargetError: the target or the hierarchy is invalid.
            PanicError: reclass-rs panicked.
            ResourceLimitError: a limit was hit.
        """
        return dict(self._ask(hierarchy, name, [name]))[name]

    def nodes(self, names: Sequence[str], **hierarchy: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """Render all targets of a hierarchy, which have these names, sorted by name.

        Args and errors as for `node`; of several invalid targets, the error of the first.
        """
        return self._ask(hierarchy, None, names)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._stderr.close()

    def warnings(self) -> list[str]:
        """Return the lines that reclass-rs has written since the last call, without those about panics, which are
        raised as errors.
        """
        return _lines(_PANIC.sub(b"", self._written()))

    def _written(self) -> bytes:
        """Return the output of the process to standard error since the last call."""
        descriptor = self._stderr.fileno()  # its position is shared with the other process
        size = min(os.fstat(descriptor).st_size - self._read_until, _CHUNK)
        written = os.pread(descriptor, size, self._read_until)
        self._read_until += size
        return written

    def _ask(
        self, hierarchy: dict[str, Any], target: str | None, names: Sequence[str]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        try:
            yield from self._answers(hierarchy, target)
        except _LimitHitError:
            raise ResourceLimitError(names) from None

    def _answers(self, hierarchy: dict[str, Any], target: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
        process = self._process
        deadline = time.monotonic() + self._context.limits.hierarchy_seconds
        request = marshal.dumps((hierarchy, target), 2)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # its end is detected when its response is read
            process.stdin.write(LENGTH.pack(len(request)) + request)
            process.stdin.flush()
        with self._context.cancellation.hold(process):
            while True:
                head = self._read(LENGTH.size, deadline)
                content = self._read(LENGTH.unpack(head)[0], deadline)
                kind, name, value = marshal.loads(content)  # noqa: S302 - from our own child process
                if kind == NODE:
                    yield name, value
                elif kind == DONE:
                    return
                elif kind == LARGE:
                    raise _LimitHitError
                elif kind == PANIC:
                    raise PanicError(value)
                else:
                    raise TargetError(value, name)

    def _read(self, size: int, deadline: float) -> bytes:
        process = self._process
        assert process.stdout is not None
        content = bytearray()
        while len(content) < size:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
                process.kill()
                raise _LimitHitError
            part = os.read(process.stdout.fileno(), min(_CHUNK, size - len(content)))
            if not part:
                raise self._death(process)
            content += part
        return bytes(content)

    def _death(self, process: subprocess.Popen[bytes]) -> Exception:
        """Return the error for a process that has ended unexpectedly."""
        status = process.wait()
        said = "; ".join(_lines(self._written())[-_LAST_LINES:])
        if status < 0 and not has_less_memory(self._context.limits.hierarchy_bytes):
            return _LimitHitError()
        return find_in_output(said, "rendering the hierarchy") or EnvironmentFault(
            "CMD-INV-052",
            f"the process that renders the hierarchy has ended with status {status}: {said or 'no message'}",
            hint="it may lack memory; if it cannot start, reinstall commodore with its dependencies",
        )


def _start(context: Context, stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    numbers = (context.limits.hierarchy_bytes, usable_cpus(), context.limits.target_bytes)
    path = [entry or os.getcwd() for entry in sys.path]
    # -I and -S: only the given folders are searched, and it starts faster.
    command = [sys.executable, "-I", "-S", "-X", "utf8", _reclass_worker.__file__, *map(str, numbers), *path]
    # Otherwise reclass-rs would record backtraces of errors, and take nearly twice as long.
    variables = {"RUST_LIB_BACKTRACE": "0", **child_environment(Child.PYTHON)}
    return start_program(
        command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, bufsize=0
    )


def _lines(written: bytes) -> list[str]:
    return [line for line in written.decode("utf-8", errors="replace").splitlines() if line.strip()]


@contextlib.contextmanager
def reclass_process(context: Context) -> Iterator[ReclassProcess]:
    """Run a process of reclass-rs during the block."""
    process = ReclassProcess(context)
    try:
        yield process
    finally:
        process.close()


def too_much(targets: Sequence[str], places: Sequence[Path], context: Context) -> CommodoreError:
    """Return the error for targets that need more time or memory than the limits allow.

    Args:
        places: the class files that are probably at fault.
    """
    limits = context.limits
    names = ", ".join(map(repr, targets[:NAMES_SHOWN])) + (", ..." if len(targets) > NAMES_SHOWN else "")
    return InputError(
        "CMD-INV-051",
        f"target{'s' if len(targets) > 1 else ''} {names} cannot be rendered within {limits.hierarchy_seconds:g} "
        f"seconds, {limits.hierarchy_bytes >> 20} MiB of memory and {limits.target_bytes >> 20} MiB of parameters",
        hint="look for values that refer several times to values which again refer several times to others; if they "
        "are intended, raise hierarchy_seconds, hierarchy_bytes or target_bytes with COMMODORE_LIMITS",
        locations=[str(place) for place in places[:NAMES_SHOWN]],
    )
