"""Run a program to its end, within bounds and with cancellation; it never outlives the call."""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from commodore.base.cancellation import Cancellation, terminate_tree
from commodore.base.programs.child_processes import start_program

_CHUNK = 1 << 16
_DRAINED = 16  # chunks read from each stream after the end of the program: more than a pipe holds
_LOOK = 0.5  # seconds between two checks of a silent program
_POLITE = 2.0  # seconds for a program that shares the terminal to end by itself
_REFUSING = 0.5  # seconds after which a cancelled program that continues is killed
_HAS_LIMITS, _HAS_WAITID = hasattr(resource, "prlimit"), hasattr(os, "waitid")  # Linux; macOS since Python 3.13


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run.

    Attributes:
        words: the program and its arguments.
        environment: all its variables, see `child_environment`.
        folder: its working directory; None for the one of this process.
        given: its stdin.
        inherit: descriptors of files that it inherits.
        is_alone: run it in a session of its own, without terminal; its descendants are killed with it. Other programs
            get SIGTERM, and are killed if they continue.
    """

    words: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)
    folder: str | Path | None = None
    given: bytes = field(default=b"", repr=False)
    inherit: Sequence[int] = ()
    is_alone: bool = True


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a program.

    Attributes:
        seconds: its run time.
        output: bytes of stdout; None for any number.
        said: bytes of stderr; None for any number.
        cuts_said: truncate its stderr beyond that, instead of terminating it.
        memory: bytes of data of each of its processes, on Linux; None for any number.
        file: bytes of each file that it writes, on Linux; None for any number.
    """

    seconds: float
    output: int | None = None
    said: int | None = None
    cuts_said: bool = True
    memory: int | None = None
    file: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a program: its exit code, negative for a signal, and its stdout and stderr."""

    code: int
    output: bytes
    said: bytes


class OutOfBounds(Exception):
    """A program was terminated as it exceeded a bound.

    Attributes:
        bound: the attribute of `Bounds`.
        output: its stdout until then.
        said: its stderr until then.
    """

    def __init__(self, bound: Literal["seconds", "output", "said"], output: bytes, said: bytes) -> None:
        super().__init__(bound)
        self.bound = bound
        self.output = output
        self.said = said


def run(
    command: Command, bounds: Bounds, cancellation: Cancellation, look: Callable[[int], object] | None = None
) -> Ended:
    """Run a program to its end.

    Processes that it leaves behind are not waited for, even if they hold the streams.

    Args:
        cancellation: terminates it from another thread, within a second even if it ignores SIGTERM.
        look: called with its pid from time to time; an exception of it terminates the program.

    Raises:
        OutOfBounds: it exceeded a bound.
        OSError, ValueError: it cannot be started.
    """
    with _opened(command.given) as stdin:
        process = start_program(
            command.words,
            cwd=command.folder,
            env=command.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=command.is_alone,
            pass_fds=command.inherit,
        )
    with process, cancellation.hold(process):
        try:
            _bound(process.pid, bounds)
            reader = _Reader(process, bounds, cancellation, look)
            output, said = reader.read()
            _wait(process, reader)
        except BaseException:
            _end(process, is_alone=command.is_alone)
            raise
        if command.is_alone:
            _kill_session(process)
        code = process.wait()
    return Ended(code, output, said)


@contextlib.contextmanager
def _opened(given: bytes) -> Iterator[IO[bytes] | int]:
    """A file, not a pipe: a program that reads nothing would block the writer."""
    if not given:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as stream:
        stream.write(given)
        stream.seek(0)
        yield stream


def _bound(pid: int, bounds: Bounds) -> None:
    if not _HAS_LIMITS:
        return
    for which, size in ((resource.RLIMIT_DATA, bounds.memory), (resource.RLIMIT_FSIZE, bounds.file)):
        if size is not None:
            with contextlib.suppress(OSError, ValueError):  # the program has ended, or is setuid
                soft, hard = resource.prlimit(pid, which)
                least = min((limit for limit in (size, soft, hard) if limit != resource.RLIM_INFINITY), default=size)
                resource.prlimit(pid, which, (least, least))


class _Reader:
    """Reads both streams of a program until it closes them or ends."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        bounds: Bounds,
        cancellation: Cancellation,
        look: Callable[[int], object] | None,
    ) -> None:
        self._process = process
        self._bounds = bounds
        self._cancellation = cancellation
        self._look = look
        self._deadline = time.monotonic() + bounds.seconds
        self._cancelled: float | None = None
        self._output, self._said = bytearray(), bytearray()

    def read(self) -> tuple[bytes, bytes]:
        """Return both streams."""
        with selectors.DefaultSelector() as selector:
            for stream, content in ((self._process.stdout, self._output), (self._process.stderr, self._said)):
                assert stream is not None
                selector.register(stream, selectors.EVENT_READ, content)
            left = _DRAINED
            while selector.get_map() and left:
                # Checked first: everything it wrote before its end is in the pipes then. Other holders of the pipes are
                # not waited for.
                has_ended = _has_ended(self._process)
                ready = selector.select(0 if has_ended else min(self.seconds_left(), _LOOK))
                for key, _ in ready:
                    self._take(selector, key)
                if has_ended:
                    left = left - 1 if ready else 0
                self.check()
        return bytes(self._output), bytes(self._said)

    def _take(self, selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
        chunk = os.read(key.fd, _CHUNK)
        if not chunk:
            selector.unregister(key.fileobj)
        bounds = self._bounds
        if key.data is self._said and bounds.cuts_said and bounds.said is not None:
            chunk = chunk[: bounds.said - len(self._said)]
        key.data.extend(chunk)
        if bounds.output is not None and len(self._output) > bounds.output:
            raise self._out_of("output")
        if bounds.said is not None and len(self._said) > bounds.said:
            raise self._out_of("said")

    def seconds_left(self) -> float:
        """The remaining time of the program, at least 0.

        Raises:
            OutOfBounds: its time is over.
        """
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._out_of("seconds")
        return left

    def check(self) -> None:
        """Check the program. A cancelled one that continues is killed."""
        if self._look is not None:
            self._look(self._process.pid)
        if self._cancellation.is_cancelled:
            now = time.monotonic()
            self._cancelled = self._cancelled or now
            if now - self._cancelled > _REFUSING:
                self._process.kill()

    def _out_of(self, bound: Literal["seconds", "output", "said"]) -> OutOfBounds:
        return OutOfBounds(bound, bytes(self._output), bytes(self._said))


def _wait(process: subprocess.Popen[bytes], reader: _Reader) -> None:
    """Wait until a program that has closed its streams has ended, without reaping it: its pid stays reserved."""
    pause = 0.0002
    while not _has_ended(process):
        reader.check()
        time.sleep(min(pause, reader.seconds_left()))
        pause = min(pause * 2, 0.05)


def _has_ended(process: subprocess.Popen[Any]) -> bool:
    """Check if a process has ended, without reaping it if the system supports that."""
    if process.returncode is not None or not _HAS_WAITID:
        return process.poll() is not None
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # reaped by other code
        return True


def _end(process: subprocess.Popen[bytes], *, is_alone: bool) -> None:
    if is_alone:
        _kill_session(process)
    else:  # with SIGTERM, so that git removes its lock files
        terminate_tree(process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLITE)
        process.kill()
    process.wait()


def _kill_session(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and its descendants in the same process group. It must not have been reaped."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
