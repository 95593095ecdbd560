"""Programs within bounds."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from commodore.base.cancellation import Cancellation
from commodore.base.programs.running import Bounds, Command, Ended, OutOfBounds, run
from tests.world.processes import is_running

LONG = Bounds(600)


def shell(script: str, bounds: Bounds = LONG, given: bytes = b"", *, is_alone: bool = True) -> Ended:
    return run(
        Command(["/bin/sh", "-c", script], dict(os.environ), given=given, is_alone=is_alone), bounds, Cancellation()
    )


def test_what_a_program_writes() -> None:
    many = b"x" * (1 << 20)
    assert shell("cat; echo said >&2; exit 3", given=many) == Ended(3, many, b"said\n")
    assert shell("cat") == Ended(0, b"", b"")
    assert shell("kill -9 $$").code == -9


def test_output_is_bounded() -> None:
    for bounds, stream in ((Bounds(600, output=10), 1), (Bounds(600, said=10, cuts_said=False), 2)):
        with pytest.raises(OutOfBounds) as caught:
            shell(f"echo beginning >&{stream}; exec cat /dev/zero >&{stream}", bounds)
        assert caught.value.bound == ("output" if stream == 1 else "said")
        assert (caught.value.output + caught.value.said).startswith(b"beginning\n")
    assert shell("echo 12345 >&2; echo out", Bounds(600, said=3)) == Ended(0, b"out\n", b"123")


@pytest.mark.parametrize("is_alone", [True, False])
def test_time_is_bounded(is_alone: bool) -> None:
    with pytest.raises(OutOfBounds) as caught:
        shell("echo $$; sleep 600 & echo $!; wait", Bounds(0.5), is_alone=is_alone)
    assert caught.value.bound == "seconds"
    assert [pid for pid in caught.value.output.split() if is_running(int(pid))] == []


def test_a_program_that_closes_its_streams_is_bounded() -> None:
    with pytest.raises(OutOfBounds):
        shell("exec sleep 600 >&- 2>&-", Bounds(0.5))


def test_what_a_program_leaves_behind_is_not_waited_for() -> None:
    """It holds the streams; that of a session of its own is killed."""
    ended = shell("sleep 600 & echo $!")
    assert not is_running(int(ended.output))
    ended = shell("sleep 600 & echo $!", is_alone=False)
    assert is_running(int(ended.output))
    os.kill(int(ended.output), 9)
    assert shell("(while :; do echo more >&2; sleep 0.1; done) & exit 3", Bounds(20)).code == 3


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_cancellation_ends_a_program_that_refuses(is_alone: bool, tmp_path: Path) -> None:
    cancellation, ready = Cancellation(), tmp_path / "ready"
    os.mkfifo(ready)

    def cancel() -> None:
        ready.read_text()
        cancellation.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    script = f"trap '' TERM; echo > {ready}; while :; do sleep 600; done"
    command = Command(["/bin/sh", "-c", script], dict(os.environ), is_alone=is_alone)
    assert run(command, LONG, cancellation).code == -9
    thread.join()


def test_a_cancelled_run_starts_nothing_that_stays() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    assert run(Command(["sleep", "600"], dict(os.environ)), LONG, cancellation).code < 0


def test_memory_and_files_are_bounded(tmp_path: Path) -> None:
    bounds = Bounds(600, memory=64 << 20, file=1 << 20)
    assert shell("sleep 0.3; ulimit -d; ulimit -f", bounds).output.split() == [b"65536", b"2048"]
    assert shell(f"sleep 0.3; head -c 3000000 /dev/zero > {tmp_path}/file", bounds).code != 0
    assert (tmp_path / "file").stat().st_size == 1 << 20


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError):
        run(Command(["/nowhere"], {}), LONG, Cancellation())
