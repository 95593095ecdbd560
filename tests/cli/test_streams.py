"""Standard output on a full disk, in a closed pipe, or missing."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world.cluster import ROOT
from tests.world.lieutenant import cluster, tenant

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")

COMMANDS = [
    "--help",
    "--version",
    "version",
    "explain CMD-GIT-001",
    "completion bash",
    "catalog --help",
    "catalog list --cluster-file clusters.json",
    "catalog list -o json --cluster-file clusters.json",
    "inventory components defaults",
    "inventory show defaults -o json",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A list of clusters, and a hierarchy."""
    file = {"clusters": [cluster(f"c-{number}") for number in range(50)], "tenants": [tenant()]}
    (tmp_path / "clusters.json").write_text(json.dumps(file))
    (tmp_path / "defaults").mkdir()
    (tmp_path / "defaults/commodore.yml").write_text("parameters:\n  components:\n    app:\n      url: u\n")
    return tmp_path


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of the shell in which `commodore` is the program."""
    program = f'commodore() {{ {shlex.quote(sys.executable)} -P -m commodore "$@"; }}\n'
    return subprocess.run(
        ["sh", "-c", program + line],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@needs_full
@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk(command: str, folder: Path) -> None:
    done = shell(f"commodore {command} > {FULL}", folder)
    assert done.returncode == 3
    assert done.stderr.startswith(
        "error: the standard output cannot be written to: No space left on device [CMD-CLI-005]\n"
    )
    assert len(done.stderr.splitlines()) == 2, "the error, a hint, and nothing from the end of the interpreter"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_output(command: str, folder: Path) -> None:
    done = shell(f"commodore {command} >&-", folder)
    assert done.returncode == 3
    assert done.stderr.startswith("error: the standard output cannot be written to: it is closed [CMD-CLI-005]\n")
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_is_gone(command: str, folder: Path) -> None:
    """`commodore … | head` is not a mistake of anybody."""
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "commodore", *command.split()],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


@needs_full
def test_a_full_disk_as_json(folder: Path) -> None:
    done = shell(f"commodore --log-format json --help > {FULL}", folder)
    record = json.loads(done.stderr)
    assert (record["code"], record["family"]) == ("CMD-CLI-005", "environment")


@needs_full
def test_messages_that_nobody_can_get_stop_nothing(folder: Path) -> None:
    done = shell(f"commodore -d w catalog clean 2> {FULL}; commodore catalog lits 2> {FULL} || echo $?", folder)
    assert (done.returncode, done.stdout) == (0, "2\n")


def test_without_standard_error_messages_do_not_become_results(folder: Path) -> None:
    done = shell("commodore -d w catalog clean 2>&-; commodore catalog lits 2>&- || echo $?", folder)
    assert (done.returncode, done.stdout) == (0, "2\n")


def test_nothing_to_write_needs_no_output(folder: Path) -> None:
    """A program that is started without standard streams, as some supervisors do."""
    done = shell("commodore -d w catalog clean <&- >&- 2>&-", folder)
    assert done.returncode == 0
    assert shell("commodore -d w catalog clean >&-", folder).stderr == "Cleaned.\n"


def test_no_file_takes_the_place_of_a_closed_output(folder: Path) -> None:
    """The next file to be opened would get the number of the descriptor, and with it what is written there."""
    done = shell("commodore inventory show defaults >&-; cat defaults/commodore.yml", folder)
    assert "[CMD-CLI-005]" in done.stderr
    assert done.stdout == (folder / "defaults/commodore.yml").read_text()


def test_the_encoding_is_kept(folder: Path) -> None:
    done = shell("commodore explain INV-016", folder, PYTHONIOENCODING="utf-8")
    assert "…" in done.stdout


@needs_full
def test_a_full_disk_with_a_poor_encoding(folder: Path) -> None:
    """Click writes past the text then, straight to the bytes."""
    done = shell(f"commodore explain INV-016 > {FULL}", folder, PYTHONIOENCODING="ascii")
    assert done.returncode == 3
    assert "[CMD-CLI-005]" in done.stderr
