"""`cache info`, `cache prune` and `cache verify`, for people and programs."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.results.caches import cache_folder, result_cache
from commodore.core.results.result_store import Result, ResultStore
from tests.cli.conftest import Shown

Call = Callable[..., Shown]


@pytest.fixture
def results() -> list[Path]:
    """Two results, one of them not used for forty days."""
    store = ResultStore(result_cache(), DEFAULT_LIMITS)
    for name in ("a", "b"):
        store.add(name * 64, {("value", name): "1"}, Result((("a.yaml", 0o644, b"x" * 100_000),)))
    paths = sorted(result_cache().rglob("*.result"))
    moment = time.time() - 40 * 86400
    os.utime(paths[0], (moment, moment))
    return paths


def test_info(call: Call, results: list[Path]) -> None:
    code, out, err = call("cache", "info")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == [str(cache_folder())]
    assert lines[1] == ["entries", "size", "last", "used", "oldest", "use"]
    assert lines[2] == ["results", "2", "195.8", "KiB", "just", "now", "40", "days", "ago"]
    assert lines[3] == ["total", "195.8", "KiB"]


def test_info_of_nothing(call: Call) -> None:
    code, out, _ = call("cache", "info")
    assert (code, out.splitlines()[-1].split()) == (0, ["total", "0", "B"])


def test_info_for_programs(call: Call, results: list[Path]) -> None:
    code, out, err = call("cache", "info", "-o", "json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["folder"] == str(cache_folder())
    sections = {item["name"]: item for item in told["sections"]}
    assert sections["results"]["entries"] == 2
    assert sections["results"]["oldest"] < sections["results"]["newest"]
    assert sections["libraries"]["oldest"] is None
    assert "token" not in out


def test_prune(call: Call, results: list[Path]) -> None:
    code, out, err = call("cache", "prune", "--dry-run")
    assert (code, err) == (0, "Would remove 1 entry, 97.8 KiB.\n")
    assert out.splitlines()[1].split() == ["results", "1", "97.8", "KiB", "1", "97.8", "KiB"]
    assert all(path.exists() for path in results)
    assert call("cache", "prune")[2] == "Removed 1 entry, 97.8 KiB.\n"
    assert [path.exists() for path in results] == [False, True]
    assert call("cache", "prune")[2] == "Removed 0 entries, 0 B.\n"
    assert call("-q", "cache", "prune", "--all")[2] == ""
    assert not results[1].exists()


def test_prune_for_programs(call: Call, results: list[Path]) -> None:
    code, out, _ = call("-q", "cache", "prune", "--max-size", "150K", "-o", "json")
    assert code == 0
    told = json.loads(out)
    assert told["dry_run"] is False
    assert [(item["name"], item["removed"], item["left"]) for item in told["sections"]] == [("results", 1, 1)]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--older-than", "soon"], "CMD-CACHE-001"),
        (["--max-size", "big"], "CMD-CACHE-002"),
        (["--all", "--older-than", "3d"], "CMD-CACHE-004"),
        (["--all", "--max-size", "3G"], "CMD-CACHE-004"),
    ],
)
def test_options_that_make_no_sense(arguments: list[str], code: str, call: Call, results: list[Path]) -> None:
    result = call("cache", "prune", *arguments)
    assert (result[0], result[1]) == (2, "")
    assert code in result[2]
    assert all(path.exists() for path in results)


def test_verify(call: Call, results: list[Path]) -> None:
    assert call("cache", "verify") == (0, "", "Verified 2 entries: all are sound.\n")
    results[0].write_bytes(results[0].read_bytes() + b"x")
    expected = f"damaged: {results[0]}\n"
    assert call("cache", "verify", "--dry-run") == (1, expected, "Verified 2 entries: 1 damaged.\n")
    code, out, _ = call("-q", "cache", "verify", "--dry-run", "-o", "json")
    assert code == 1
    assert json.loads(out)["sections"] == [{"name": "results", "entries": 2, "damaged": [str(results[0])]}]
    assert call("cache", "verify") == (1, expected, "Verified 2 entries: 1 damaged, and removed.\n")
    assert call("cache", "verify")[0] == 0
    assert [path.exists() for path in results] == [False, True]


def test_a_misspelt_command(call: Call) -> None:
    code, _, err = call("cache", "prun")
    assert code == 2
    assert "did you mean 'prune'?" in err
