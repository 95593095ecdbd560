"""Standard input, output and error, whatever the program was started with: a closed pipe, a full disk, nothing."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

from commodore.base.errors import EnvironmentFault

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class PipeClosed(BaseException):
    """The reader of the output has gone: the program ends, so no handler of errors is meant."""


# Both stand above the raw files: below, a Ctrl-C just after writing would let the same bytes be written again.


class _Results(io.BufferedWriter):
    """Standard output."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise _translated(error) from error

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise _translated(error) from error


class _Messages(io.BufferedWriter):
    """Standard error. What cannot be said there, on a full disk say, can be said nowhere: work goes on without."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError as error:
            raise PipeClosed from error
        except OSError:
            return memoryview(data).nbytes

    def flush(self) -> None:
        try:
            super().flush()
        except BrokenPipeError as error:
            raise PipeClosed from error
        except OSError:
            pass


def prepare_streams() -> None:
    """Make `sys.stdin`, `sys.stdout` and `sys.stderr` usable and tell what is wrong with them in words of our own.

    A descriptor that is closed is filled: the next file that is opened would get its number, and the output. From then
    on writing raises PipeClosed, or EnvironmentFault CMD-CLI-005 for standard output.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_RDWR)  # the lowest number that is free
            os.set_inheritable(number, True)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8")
    sys.stdout = _text(_Results(io.FileIO(1, "w", closefd=False)), sys.stdout)
    sys.stderr = _text(_Messages(io.FileIO(2, "w", closefd=False)), sys.stderr)


def finish_streams() -> None:
    """Flush the output; failures are ignored, now and when the interpreter ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (PipeClosed, EnvironmentFault):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _translated(error: OSError) -> PipeClosed | EnvironmentFault:
    if isinstance(error, BrokenPipeError):
        return PipeClosed()
    reason = "it is closed" if error.errno == errno.EBADF else error.strerror
    return EnvironmentFault(
        "CMD-CLI-005",
        f"the standard output cannot be written to: {reason}",
        hint="nothing or only a part of the result was written; send it elsewhere, or to /dev/null",
    )


def _text(buffer: io.BufferedWriter, like: TextIO | None) -> TextIO:
    """A stream of text with the manners of the one that Python has made, if it has."""
    return io.TextIOWrapper(
        buffer,
        encoding=like.encoding if like is not None else "utf-8",
        errors=like.errors if like is not None and like.errors != "strict" else "backslashreplace",
        line_buffering=like is None or bool(like.line_buffering),
    )
