"""Everything that the shell is offered, however busy the machine is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# The program waits two seconds for what it offers: too few for a test next to others.
_PATIENT = """
from dataclasses import replace
from commodore.base import limits
limits.DEFAULT_LIMITS = replace(limits.DEFAULT_LIMITS, completion_timeout=600.0)
from commodore.__main__ import main
main()
"""


def complete(words: str, *, patient: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    """Everything that bash is offered for the last of these words.

    Args:
        patient: wait for it as long as it takes; False: as long as the program waits.
    """
    variables = {
        "PYTHONPATH": str(ROOT),
        "_COMMODORE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    return subprocess.run(
        [sys.executable, *(["-c", _PATIENT] if patient else ["-m", "commodore"])],
        env={**os.environ, **variables, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )


def offered(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The words that were offered, and that nothing was said besides."""
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]
