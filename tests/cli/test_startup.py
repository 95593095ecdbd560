"""Help and completion start quickly: they load nothing that only a run needs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli.conftest import commands
from tests.world.cluster import ROOT

HEAVY = {
    "kapitan",
    "reclass_rs",
    "requests",
    "rich",
    "git",
    "github",
    "yaml",
    "_gojsonnet",
    "cookiecutter",
    "jinja2",
    "dotenv",
}


def loaded(arguments: list[str], **environment: str) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """Run the program, and which of the heavy modules it has loaded."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "commodore", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    names = {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    return done, {name.partition(".")[0] for name in names} & HEAVY


@pytest.mark.parametrize("words", [known.words for known in commands()], ids=" ".join)
def test_help_loads_nothing_heavy(words: tuple[str, ...]) -> None:
    done, heavy = loaded([*words, "--help"])
    assert done.returncode == 0
    assert done.stdout.startswith(f"Usage: {' '.join(('commodore', *words))} ")
    assert max(len(line) for line in done.stdout.splitlines()) <= 100
    assert heavy == set()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("commodore cat", "catalog"),
        ("commodore catalog co", "compile"),
        ("commodore catalog compile --git", "--git-author-name"),
        ("commodore catalog compile --migration i", "ignore-yaml-formatting"),
        ("commodore catalog list --sort-by t", "tenant"),
        ("commodore explain name-00", "CMD-NAME-001"),
    ],
)
def test_completion_loads_nothing_heavy(words: str, expected: str) -> None:
    count = str(len(words.split()) - 1)
    done, heavy = loaded([], _COMMODORE_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=count)
    assert f"plain,{expected}" in done.stdout.splitlines()
    assert heavy == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    done, heavy = loaded([], _COMMODORE_COMPLETE=f"{shell}_source")
    assert done.returncode == 0
    assert "_COMMODORE_COMPLETE" in done.stdout
    assert heavy == set()


def test_the_version() -> None:
    done, heavy = loaded(["--version"])
    assert (done.returncode, heavy) == (0, set())
    assert done.stdout.startswith("commodore, version ")
