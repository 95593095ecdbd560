"""The Containerfile of the observer: what scripts/container finds wrong, and following the steps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FILE = ROOT / "examples" / "observe" / "Containerfile"
GOOD = FILE.read_text(encoding="utf-8")


def container(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "container"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("file", [FILE, ROOT / "Containerfile"], ids=["observe", "compile"])
def test_the_containerfile_is_right(file: Path) -> None:
    checked = container("check", str(file))
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize(
    ("line", "instead", "wrong"),
    [
        ("FROM python:3.13-slim AS build", "FROM python AS build", "no tag, or a moving one"),
        ("FROM python:3.13-slim AS build", "FROM python:latest AS build", "no tag, or a moving one"),
        ("COPY commodore /source/commodore", "COPY . /source", ". is the whole folder"),
        ("COPY commodore /source/commodore", "COPY nosuch /source/commodore", "nosuch is the whole folder"),
        ("COPY commodore /source/commodore", "ADD commodore /source/commodore", "ADD is not one of"),
        ("--from=build", "--from=built", "--from=built names no stage"),
        (" --no-cache-dir", "", "pip leaves its cache"),
        ("USER 65532:65532", "USER nobody", "no USER that is a number"),
        ("USER 65532:65532", "USER 0", "no USER that is a number"),
        ("ENV HOME=/tmp", "ENV API_TOKEN=a HOME=/tmp", "a secret would stay"),
        ('CMD ["observe", "run"]', "CMD observe run", "CMD must be a JSON list"),
        ('ENTRYPOINT ["/opt/commodore/bin/commodore"]', "", "no ENTRYPOINT"),
    ],
)
def test_what_is_wrong_is_found(tmp_path: Path, line: str, instead: str, wrong: str) -> None:
    assert line in GOOD
    file = tmp_path / "Containerfile"
    file.write_text(GOOD.replace(line, instead), encoding="utf-8")
    checked = container("check", str(file))
    assert checked.returncode == 1
    assert wrong in checked.stderr


def test_steps_are_followed_below_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "Containerfile"
    file.write_text(
        "FROM a:1 AS build\nCOPY LICENSE README.md /source/\n"
        "RUN mkdir -p /opt/bin && \\\n  cp /source/LICENSE /opt/text\n"
        'FROM a:1\nCOPY --from=build /opt /opt\nENV WORD=said\nENTRYPOINT ["sh", "-c"]\nCMD ["echo $WORD"]\n',
        encoding="utf-8",
    )
    below = tmp_path / "below"
    done = container("run", str(file), str(below))
    assert (done.returncode, done.stdout) == (0, "said\n")
    assert (below / "opt" / "text").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert container("run", str(file), str(below), "exit 7").returncode == 7
