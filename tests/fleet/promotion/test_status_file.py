"""Files that say how applications are."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import CommodoreError, UsageError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.fleet.promotion.status_file import parse_duration, read_states

CELL = ("prod", "eu-1")


def test_both_forms(tmp_path: Path) -> None:
    ours = {"cells": {"main/prod/eu-1": {"web": {"health": "Healthy", "since": "2026-01-31T10:00:00Z"}}}}
    item = {
        "metadata": {"name": "db"},
        "status": {
            "health": {"status": "Degraded"},
            "sync": {"status": "Synced", "revision": "abc"},
            "operationState": {"finishedAt": "2026-01-31T11:00:00Z"},
        },
    }
    (tmp_path / "a").write_text(json.dumps(ours))
    (tmp_path / "b").write_text(json.dumps({"kind": "List", "items": [item, {"metadata": {"name": "new"}}]}))
    states = read_states([str(tmp_path / "a"), f"main/prod/eu-1={tmp_path / 'b'}"], 900, DEFAULT_LIMITS)
    web, db, new = (states.of("main", CELL, name) for name in ("web", "db", "new"))
    assert web is not None
    assert web.since is not None
    assert (web.health, web.since.hour) == ("Healthy", 10)
    assert db is not None
    assert (db.health, db.sync, db.revision) == ("Degraded", "Synced", "abc")
    assert new is not None
    assert new.in_words == "health unknown, sync unknown"
    assert states.of("main", CELL, "other") is None


NO_STATUS = [
    "",
    "[]",
    "{",
    '{"cells": []}',
    '{"cells": {"a": {"b": {"helth": "x"}}}}',
    '{"items": []}',
    "[" * 100_000,
    '{"cells": {"a": {"b": {"since": "yesterday"}}}}',
    '{"cells": {"a": 1}}',
    " " * (5 << 20),
]


@pytest.mark.parametrize("content", NO_STATUS, ids=range(len(NO_STATUS)))
def test_files_that_are_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "s").write_text(content)
    with pytest.raises(CommodoreError) as caught:
        read_states([str(tmp_path / "s")], 900, DEFAULT_LIMITS)
    assert caught.value.code == "CMD-FLT-076"


def test_old_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "s").write_text('{"cells": {}}')
    os.utime(tmp_path / "s", (time.time() - 1000, time.time() - 1000))
    with pytest.raises(CommodoreError) as caught:
        read_states([str(tmp_path / "s")], 900, DEFAULT_LIMITS)
    assert caught.value.code == "CMD-FLT-077"
    assert read_states([str(tmp_path / "s")], 2000, DEFAULT_LIMITS).cells == {}
    with pytest.raises(CommodoreError) as caught:
        read_states([str(tmp_path / "missing")], 900, DEFAULT_LIMITS)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("15m", 900), ("2h", 7200), ("1d", 86400)])
def test_durations(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "15", "m", "1.5h", "-1s", "1y"])
def test_no_durations(text: Any) -> None:
    with pytest.raises(UsageError):
        parse_duration(text)
