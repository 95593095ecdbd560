"""The limits that a caller gives hold in all that a compile does, a time, a size and a count among them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commodore import ClusterFile, CommodoreError, Limits, compile_catalog
from commodore.cli.main import run
from tests.world.cluster import ClusterWorld
from tests.world.context import make_context


@pytest.mark.parametrize(
    ("limits", "code", "words"),
    [
        (Limits(git_timeout=0.0), "CMD-GIT-003", "did not end within 0 seconds"),
        (Limits(cluster_file_bytes=10), "CMD-API-", "larger than 10 bytes"),
        (Limits(inventory_bytes=10), "CMD-ENG-", "10 bytes"),
    ],
    ids=["time", "size of a file", "size of the inventory"],
)
def test_a_tiny_limit_is_an_error_that_names_it(tmp_path: Path, limits: Limits, code: str, words: str) -> None:
    world = ClusterWorld(tmp_path)
    world.component("app", data={"a": "1"})
    world.publish()
    with pytest.raises(CommodoreError) as caught:
        compile_catalog(world.name, ClusterFile(world.cluster_file()), world.work, context=make_context(limits=limits))
    errors = getattr(caught.value, "errors", (caught.value,))
    assert [error.code for error in errors if error.code.startswith(code)], errors
    assert any(words in error.message for error in errors), errors


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("rendering_byte=1", "unknown limit 'rendering_byte'"),
        ("rendering_bytes", "rendering_bytes must be a number"),
        ("rendering_bytes=8GB", "not '8GB'"),
        ("rendering_seconds=-1", "not '-1'"),
        ("rendering_seconds=inf", "not 'inf'"),
        ("rendering_bytes=2GiB git_timeout=", "git_timeout must be a number"),
        ("rendering_bytes = 2GiB", "rendering_bytes must be a number"),
        ("fleet_pauses=1", "unknown limit 'fleet_pauses'"),
        ("git_timeout=1" + "0" * 400, "git_timeout must be a number"),
        ("\x1b[2J\n=1", "unknown limit"),
    ],
)
def test_limits_that_cannot_be_read(
    words: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """CMD-CLI-012: nothing is done with the usual limits."""
    monkeypatch.setenv("COMMODORE_LIMITS", words)
    monkeypatch.chdir(tmp_path)
    assert run(["component", "new", "app", "--no-lib"]) == 2
    shown = capfd.readouterr()
    assert "the variable COMMODORE_LIMITS cannot be read: " in shown.err
    assert problem in " ".join(shown.err.split())
    assert "[CMD-CLI-012]" in shown.err
    assert "hint: write it like COMMODORE_LIMITS=" in shown.err
    assert "\x1b" not in shown.err
    assert (shown.out, list(tmp_path.iterdir())) == ("", [])


def test_the_variable_sets_the_limits_of_commands(tmp_path: Path) -> None:
    """In a process of its own: the program reads them as it starts."""
    (tmp_path / "c.yml").write_text(f"cluster: {{id: c-{'x' * 100}}}\n", encoding="utf-8")
    command = [sys.executable, "-m", "commodore", "catalog", "compile", "c-x", "--cluster-file", "c.yml"]
    variables = {**os.environ, "COMMODORE_LIMITS": "git_timeout=5 cluster_file_bytes=0.0625KiB"}
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert "larger than 64 bytes" in done.stderr
