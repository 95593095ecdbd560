"""A pseudo-terminal: what a program shows to a person."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_on_terminal(
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path | None = None,
    streams: Sequence[str] = ("stdout", "stderr"),
) -> tuple[int, str]:
    """Run a command whose `streams` are a terminal. Returns its exit code and all that it has shown.

    The terminal is read until the last process that holds it has closed it: one read gives only what the kernel has
    passed on so far, which may be less than what was written.
    """
    ours, theirs = os.openpty()
    try:
        terminal = dict.fromkeys(streams, theirs)
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, env=dict(environment), cwd=folder, **{**_NOWHERE, **terminal}
        ) as process:
            os.close(theirs)
            shown = b"".join(iter(lambda: _read(ours), b""))
        return process.returncode, shown.decode().replace("\r\n", "\n")
    finally:
        os.close(ours)


_NOWHERE = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # EIO: everybody has closed the other end
        return b""
