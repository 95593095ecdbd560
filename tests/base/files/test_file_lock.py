"""Files that one process at a time can hold: two real processes, and what becomes of a killed one."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from commodore.base.files.file_lock import HeldElsewhere, hold

ROOT = Path(__file__).resolve().parents[3]

HOLDER = """
import math, sys
from pathlib import Path
from commodore.base.files.file_lock import hold
waiting = lambda: print("waiting", flush=True)
with hold(Path(sys.argv[1]), wait=math.inf, signed=sys.argv[2] == "signed", waiting=waiting):
    print("held", flush=True)
    sys.stdin.read()
"""


def start_holder(path: Path, signed: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), signed],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def next_word(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@pytest.fixture(params=["signed", ""])
def holder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the file `lock`."""
    process = start_holder(tmp_path / "lock", request.param)
    assert next_word(process) == "held"
    yield process
    end(process)


def test_another_process_does_not_get_it(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(HeldElsewhere) as error:
        hold(tmp_path / "lock", wait=0)
    if (tmp_path / "lock").read_text():
        assert re.fullmatch(rf"pid {holder.pid}, since 2\d+-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", error.value.holder)
    else:
        assert error.value.holder == ""


def test_waiting_ends(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    collected: list[str] = []
    with pytest.raises(HeldElsewhere):
        hold(tmp_path / "lock", wait=0.2, waiting=lambda: collected.append("waiting"))
    assert collected == ["waiting"], "said once, however often it is tried"


def test_who_does_not_wait_hears_nothing(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    with pytest.raises(HeldElsewhere):
        hold(tmp_path / "lock", wait=0, waiting=lambda: pytest.fail("nobody waits"))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_holder_holds_nothing(tmp_path: Path, holder: subprocess.Popen[str], how: signal.Signals) -> None:
    holder.send_signal(how)
    holder.wait()
    with hold(tmp_path / "lock", wait=0, signed=True):
        assert json.loads((tmp_path / "lock").read_text())["pid"] == os.getpid()


def test_who_waits_gets_it_when_the_holder_is_killed(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    second = start_holder(tmp_path / "lock")
    assert next_word(second) == "waiting"
    holder.kill()
    assert next_word(second) == "held"
    end(second)


def test_one_at_a_time(tmp_path: Path) -> None:
    """Threads of one process keep each other out too."""
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(5):
            with hold(tmp_path / "lock", wait=math.inf):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 15


def test_it_is_free_after_the_block(tmp_path: Path) -> None:
    with pytest.raises(KeyError), hold(tmp_path / "lock", wait=0):
        raise KeyError
    with hold(tmp_path / "lock", wait=0), pytest.raises(HeldElsewhere):
        hold(tmp_path / "lock", wait=0)
    with hold(tmp_path / "lock", wait=0):
        pass


def test_programs_that_are_run_do_not_inherit_it(tmp_path: Path) -> None:
    with hold(tmp_path / "lock", wait=0):
        child = subprocess.Popen(["sleep", "600"], close_fds=False)
    try:
        with hold(tmp_path / "lock", wait=0):
            pass
    finally:
        child.kill()
        child.wait()


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with hold(tmp_path / "lock", wait=0):
            assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600
    finally:
        os.umask(before)


@pytest.mark.parametrize("target", ["precious", "nothing"])
def test_links_are_not_followed(tmp_path: Path, target: str) -> None:
    (tmp_path / "precious").write_text("keep")
    (tmp_path / "lock").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        hold(tmp_path / "lock", wait=0, signed=True)
    assert (tmp_path / "precious").read_text() == "keep"
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x"}', '{"pid": 1, "started": "soon"}', "[" * 4000])
def test_a_damaged_file_names_nobody(tmp_path: Path, content: str) -> None:
    with hold(tmp_path / "lock", wait=0):
        (tmp_path / "lock").write_text(content)
        with pytest.raises(HeldElsewhere) as error:
            hold(tmp_path / "lock", wait=0)
    assert error.value.holder == ""


def test_a_file_that_its_holder_removes_is_not_held_by_two(tmp_path: Path) -> None:
    """Who has waited for the removed file holds the new one, as everybody else wants to."""
    path = tmp_path / "folder" / "lock"
    path.parent.mkdir()
    with hold(path, wait=0):
        waiting = start_holder(path)
        try:
            assert next_word(waiting) == "waiting"
            path.unlink()
            path.parent.rmdir()
        except BaseException:
            end(waiting)
            raise
    try:
        assert next_word(waiting) == "held"
        with pytest.raises(HeldElsewhere):
            hold(path, wait=0)
    finally:
        end(waiting)
