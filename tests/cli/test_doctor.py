"""`commodore doctor` as users type it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Shown
from tests.world.terminal import run_on_terminal

Call = Callable[..., Shown]


def test_all_is_well(call: Call) -> None:
    code, out, err = call("doctor")
    assert (code, err) == (0, "All is well.\n")
    assert [line.split()[:2] for line in out.splitlines() if not line.startswith(" ")] == [
        ["git", "ok"],
        ["helm", "ok"],
        ["kustomize", "ok"],
        ["name", "ok"],
        ["API", "skipped"],
        ["token", "skipped"],
        ["cache", "ok"],
    ]


def test_a_terminal_gets_rows_broken_between_words(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "COLUMNS": "60", "NO_COLOR": "1"}
    code, shown = run_on_terminal([sys.executable, "-m", "commodore", "doctor"], environment, tmp_path)
    assert code == 0
    cure = shown[shown.index("fix: give --api-url") :].partition("\ntoken ")[0].splitlines()
    assert all(line.startswith(" " * 22) for line in cure[1:])
    assert len(cure) == 3
    assert " ".join(line.strip() for line in cure) == (
        "fix: give --api-url (COMMODORE_API_URL); a compile with --cluster-file needs none"
    )


def test_what_is_wrong_has_a_cure_and_a_code(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMMODORE_API_URL", "http://127.0.0.1:1")
    code, out, err = call("doctor")
    assert code == 3
    assert "API        failed   cannot reach http://127.0.0.1:1/" in out
    assert "[CMD-API-006]" in out
    assert "fix: check the API URL" in out
    assert "fix: log in with `commodore login`" in out
    assert err == "2 of 7 checks failed.\n"
    code, out, err = call("doctor", "-o", "json")
    told = {load["name"]: load for load in json.loads(out)["checks"]}
    assert (code, err) == (3, "")
    assert told["API"]["code"] == "CMD-API-006"
    assert told["token"] == {
        "name": "token",
        "state": "failed",
        "message": "there is no token",
        "cure": "log in with `commodore login`, or give a token with --api-token (COMMODORE_API_TOKEN)",
        "code": "",
        "exit_code": 3,
    }
