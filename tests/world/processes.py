"""Processes that a test has seen."""

from __future__ import annotations

import signal
from pathlib import Path


def is_running(pid: int) -> bool:
    """Say if a process goes on; one that was killed may take a moment, and one that nobody has reaped does not."""
    for _ in range(20):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        signal.sigtimedwait([], 0.05)
    return True
