"""Ctrl-C that arrives where Python drops what a signal's handler raises."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.world.cluster import ROOT

PROGRAM = """\
import atexit, os, signal, sys, threading, time, weakref

import click

from commodore.cli import main as program
from commodore.cli.shell.lazy import LazyCommand

NUMBER = int(sys.argv.pop(1))


class Closing:
    def __del__(self):
        os.kill(os.getpid(), NUMBER)
        for _ in range(100):  # the handler runs at one of these steps
            pass


class Watched:
    pass


class Failing:
    def __del__(self):
        raise ValueError("a mistake in a destructor")


def gone(_reference):
    Closing.__del__(None)


@click.command
def destructor():
    Closing()
    time.sleep(120)


@click.command
def callback():
    watched = Watched()
    reference = weakref.ref(watched, gone)
    del watched
    time.sleep(120)


@click.command
def again():
    for _ in range(3):
        Closing()
    while True:
        Waiting()
        time.sleep(0.005)


class Waiting:
    def __del__(self):
        time.sleep(0.005)


def strike_others(main):
    # When the main thread waits, and not just for its turn, another thread gets the signal.
    looks = 0
    while looks < 100:
        asleep = open(f"/proc/self/task/{main}/stat").read().rpartition(")")[2].split()[0] == "S"
        looks = looks + 1 if asleep else 0
        time.sleep(0.001)
    signal.raise_signal(NUMBER)


@click.command
def waiting():
    threading.Thread(target=strike_others, args=(threading.get_native_id(),), daemon=True).start()
    os.read(os.pipe()[0], 1)


@click.command
def late():
    def leave():
        Closing()
        time.sleep(0.5)
        print("left")

    atexit.register(leave)


@click.command
def importing():
    try:
        signal.raise_signal(NUMBER)
    except KeyboardInterrupt as interruption:
        raise RuntimeError("error calling __set_name__ on an attribute") from interruption


@click.command
def other():
    Failing()


for each in (destructor, callback, again, waiting, late, importing, other):
    program.commodore.lazy[each.name] = LazyCommand(f"__main__:{each.name}", "")
"""


def program(command: str, number: signal.Signals, *, before: str = "") -> subprocess.CompletedProcess[str]:
    """The program with commands that are interrupted in unlucky places, as a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", f"{PROGRAM}\n{before}\nprogram.main()", str(int(number)), command],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["destructor", "callback", "again", "waiting", "importing"])
def test_an_interruption_is_not_lost(command: str, number: signal.Signals) -> None:
    """Without help these commands would sleep for two minutes, or work or wait for ever."""
    done = program(command, number)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Aborted!\n")


STARTING = """\
import importlib.abc, os, signal, sys


class Striking(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "commodore.cli.main":
            os.kill(os.getpid(), signal.SIGINT)


sys.meta_path.insert(0, Striking())
sys.argv = ["commodore", "--version"]
IGNORE
from commodore.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("ignore", "code"), [("", -signal.SIGINT), ("signal.signal(signal.SIGINT, signal.SIG_IGN)", 0)]
)
def test_an_interruption_while_the_program_is_loaded(ignore: str, code: int) -> None:
    """It ends as other programs do, without a traceback; in the background it goes on."""
    done = subprocess.run(
        [sys.executable, "-c", STARTING.replace("IGNORE", ignore)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, "")


def test_sigterm_is_not_lost_in_the_background() -> None:
    """A shell without job control starts `command &` with SIGINT ignored."""
    done = program("destructor", signal.SIGTERM, before="signal.signal(signal.SIGINT, signal.SIG_IGN)")
    assert (done.returncode, done.stderr) == (130, "Aborted!\n")


def test_an_interruption_at_the_very_end_changes_nothing() -> None:
    """Anything that was asked for is done; only the process is still there."""
    done = program("late", signal.SIGINT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")


def test_other_mistakes_are_still_reported() -> None:
    done = program("other", signal.SIGINT)
    assert done.returncode == 0
    assert "ValueError: a mistake in a destructor" in done.stderr
