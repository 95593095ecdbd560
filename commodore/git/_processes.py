"""Ending git together with the programs that it has started to talk to a remote.

Git does not end its transport (`git remote-https`, `ssh`) when it is ended itself; that one would live on, and hold the
pipes open that its parent's caller reads.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path


def terminate_tree(process: subprocess.Popen[bytes]) -> None:
    """Ask a process and all below it to end.

    It is stopped first, so that it starts nothing while those below it are looked up. Where the system does not tell
    them (anywhere but on Linux), only the process itself is asked.
    """
    if process.poll() is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGSTOP)
        for pid in [*_descendants(process.pid), process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        os.kill(process.pid, signal.SIGCONT)


def _descendants(pid: int) -> list[int]:
    try:
        below = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [found for child in below for found in (*_descendants(child), child)]
