"""The tap on a program's changes of the disk: it sees those of all children, and what it decides is what happens."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.world.syscalls import Call, Decide, Tapped, why_not

pytestmark = pytest.mark.skipif(why_not() != "", reason="calls cannot be tapped here")

SCRIPT = """
echo one >file
cat file
(mkdir folder && cd folder && mv ../file moved && ln -s moved link && rm moved)
"""


def run(folder: Path, decide: Decide, script: str = SCRIPT) -> subprocess.CompletedProcess[bytes]:
    with Tapped(["sh", "-c", script], decide, directory=folder, environment=os.environ) as tapped:
        stdout, stderr = tapped.process.communicate()
    return subprocess.CompletedProcess([], tapped.process.returncode, stdout, stderr)


def test_changes_are_seen_in_order(tmp_path: Path) -> None:
    """Of children and in other folders too, with whole paths; reading does not count."""
    seen: list[Call] = []

    def decide(call: Call) -> int:
        seen.append(call)
        return 0

    done = run(tmp_path, decide)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"one\n", b"")
    here = [(call.name, call.path.removeprefix(f"{tmp_path}/")) for call in seen if call.path.startswith(str(tmp_path))]
    assert here == [
        ("open", "file"),
        ("write", "file"),
        ("mkdir", "folder"),
        ("rename", "folder/moved"),
        ("symlink", "folder/link"),
        ("unlink", "folder/moved"),
    ]
    assert next(call.data for call in seen if call.name == "write") == b"one\n"


def test_a_call_can_fail(tmp_path: Path) -> None:
    done = run(tmp_path, lambda call: errno.ENOSPC if call.name == "mkdir" else 0)
    assert done.returncode == 1
    assert os.strerror(errno.ENOSPC).encode() in done.stderr
    assert (tmp_path / "file").read_text() == "one\n"
    assert not (tmp_path / "folder").exists()


def test_a_process_can_be_killed_before_a_call_is_made(tmp_path: Path) -> None:
    def decide(call: Call) -> int:
        if call.name == "symlink":
            os.kill(call.pid, signal.SIGKILL)
            return errno.EINTR
        return 0

    assert run(tmp_path, decide).returncode == 128 + signal.SIGKILL
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["moved"]


def test_it_knows_of_processes_that_stay(tmp_path: Path) -> None:
    """Of the ones that outlive their parent too."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    script = "exec >/dev/null 2>&1; (read line <fifo) &"
    with Tapped(["sh", "-c", script], lambda _: 0, directory=tmp_path, environment=os.environ) as tapped:
        assert tapped.process.wait() == 0
        assert not tapped.is_gone(0)
        fifo.write_text("end\n")
        assert tapped.is_gone(60)
