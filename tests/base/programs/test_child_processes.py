"""Starting programs."""

import os
import signal
import subprocess
import sys

import pytest

from commodore.base.programs.child_processes import child_environment, start_program

INTERRUPTED = """
import os, signal
from commodore.base.programs.child_processes import child_environment, start_program
import subprocess

started = []
fork_exec = subprocess._fork_exec

def interrupted(*arguments):
    started.append(fork_exec(*arguments))
    os.kill(os.getpid(), signal.{name})
    return started[-1]

subprocess._fork_exec = interrupted
signal.signal(signal.SIGTERM, signal.default_int_handler)
try:
    start_program(["sleep", "600"], env=child_environment(), stdin=subprocess.PIPE)
except KeyboardInterrupt:
    print(started[0], os.path.exists(f"/proc/{{started[0]}}"))
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_interrupted_while_a_program_starts(name: str) -> None:
    """The signal comes between the start and the moment when its number is known."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(name=name)], capture_output=True, text=True, check=True
    )
    pid, is_there = done.stdout.split()
    assert is_there == "False"
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_ignored_interruptions_stay_ignored() -> None:
    """As in a program that a shell has put into the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
        with start_program([sys.executable, "-c", code], env=child_environment(), stdout=subprocess.PIPE) as process:
            assert process.communicate()[0] == b"True\n"
    finally:
        signal.signal(signal.SIGINT, before)
