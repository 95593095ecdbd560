"""Help and completion start quickly: they load nothing that only a run needs."""

from __future__ import annotations

import json
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


HELP_OF_EACH = """
import json, os, sys
from commodore.cli.main import run
for words in json.load(sys.stdin):
    if os.fork() == 0:
        code = run([*words, "--help"])
        print(chr(0), json.dumps([code, sorted(sys.modules)]), chr(0), sep="", end="", flush=True)
        os._exit(0)
    os.wait()
"""


def test_help_loads_nothing_heavy() -> None:
    """The help of each command, by a process of its own that has loaded no other command."""
    known = [known.words for known in commands()]
    done = subprocess.run(
        [sys.executable, "-c", HELP_OF_EACH],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=json.dumps(known),
        capture_output=True,
        text=True,
        check=True,
    )
    parts = done.stdout.split("\0")
    assert parts.pop() == ""
    assert len(parts) == 2 * len(known)
    for words, text, end in zip(known, parts[::2], parts[1::2], strict=True):
        code, modules = json.loads(end)
        assert code == 0
        assert text.startswith(f"Usage: {' '.join(('commodore', *words))} ")
        assert max(len(line) for line in text.splitlines()) <= 100
        assert {name.partition(".")[0] for name in modules} & HEAVY == set(), words


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
