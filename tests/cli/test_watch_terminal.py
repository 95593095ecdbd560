"""Ctrl-C ends `--watch` in a terminal, whatever it is doing."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.world.cluster import ROOT

PATIENCE = 120

HELM = """#!{python}
import sys
if "template" in sys.argv:
    with open({pipe!r}, "w") as pipe:
        pipe.write("begun")
    {how}
print("v3.19.0+g3d8990f")
"""

CLASS = """
parameters:
  kapitan:
    compile:
      - input_paths: ['${_base_directory}/chart']
        input_type: helm
        output_path: app/
        helm_params: {name: app, namespace: app}
"""


class Terminal:
    """The program on a terminal of its own."""

    def __init__(self, arguments: list[str], directory: Path, **environment: str) -> None:
        self._main, inner = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "commodore", *arguments],
            cwd=directory,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", **environment},
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(inner)
        self.shown = ""

    def until(self, text: str) -> None:
        """Read what is shown until this text comes, which has to come."""
        begin = len(self.shown)
        while text not in self.shown[begin:]:
            read = self._read()
            assert read, self.shown
            self.shown += read

    def _read(self) -> str:
        assert select.select([self._main], [], [], PATIENCE)[0], self.shown
        with contextlib.suppress(OSError):  # nobody has the terminal any more
            return os.read(self._main, 4096).decode()
        return ""

    def type(self, text: str) -> None:
        os.write(self._main, text.encode())

    def end(self) -> int:
        """Read the rest; returns the exit code."""
        while read := self._read():
            self.shown += read
        return self.process.wait(timeout=PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._main)


@pytest.fixture
def terminal(component: Path, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []
    (tmp_path / "tmp").mkdir()

    def start(**environment: str) -> Terminal:
        arguments = ["component", "compile", str(component), "--watch"]
        opened.append(Terminal(arguments, tmp_path, TMPDIR=str(tmp_path / "tmp"), **environment))
        return opened[-1]

    yield start
    for item in opened:
        item.close()


def test_while_it_waits(terminal: Callable[..., Terminal], component: Path) -> None:
    program = terminal()
    program.until("Waiting for changes")
    program.type("\x03")
    assert program.end() == 0
    assert "Ended watching." in program.shown


def test_while_it_compiles(terminal: Callable[..., Terminal], component: Path, tmp_path: Path) -> None:
    """The first time, and later."""
    defaults = component / "class/defaults.yml"
    program = terminal()
    program.until("ompiling")
    program.type("\x03")
    assert program.end() == 0
    program = terminal()
    program.until("Waiting for changes")
    defaults.write_text(defaults.read_text().replace("'1'", "'2'"))
    program.until("Changed:")
    program.type("\x03")
    assert program.end() == 0
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    "how",
    [
        "import time; time.sleep(1000)",
        "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(1000)",
    ],
)
def test_while_helm_runs(terminal: Callable[..., Terminal], component: Path, tmp_path: Path, how: str) -> None:
    """Also one that does not care."""
    pipe, helm = tmp_path / "pipe", tmp_path / "bin/helm"
    os.mkfifo(pipe)
    helm.parent.mkdir()
    helm.write_text(HELM.format(python=sys.executable, pipe=str(pipe), how=how))
    helm.chmod(0o755)
    (component / "class/app.yml").write_text(CLASS)
    (component / "chart/templates").mkdir(parents=True)
    (component / "chart/Chart.yaml").write_text("{apiVersion: v2, name: app, version: 1.0.0}")
    (component / "chart/templates/one.yaml").write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}")
    program = terminal(PATH=f"{helm.parent}{os.pathsep}{os.environ['PATH']}")
    assert pipe.read_text() == "begun"
    program.type("\x03")
    assert program.end() == 0, program.shown
    assert "Ended watching." in program.shown
