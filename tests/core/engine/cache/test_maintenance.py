"""Results do not grow for ever, and looking after them costs nothing most of the time."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.core.engine import Engine
from commodore.core.results.caches.maintenance import keep_bounded as keep_store_bounded
from commodore.core.results.result_store import Result, ResultStore
from tests.core.engine.world import World, jsonnet
from tests.world.context import make_context

LIMITS = replace(DEFAULT_LIMITS, result_cache_bytes=25_000)


def fill(root: Path, names: str) -> dict[str, Path]:
    """Results of 10 KB, the first one used last."""
    store, results = ResultStore(root, DEFAULT_LIMITS), {}
    for hours, name in enumerate(names):
        subject = name.encode().hex().ljust(64, "0")
        store.add(subject, {("value", name): "1"}, Result((("a", 0o644, b"x" * 10_000),)))
        (results[name],) = (root / subject[:2] / subject).glob("*.result")
        moment = time.time() - 3600 * hours
        os.utime(results[name], (moment, moment))
    return results


def keep_bounded(root: Path, limits: Limits) -> None:
    keep_store_bounded(ResultStore(root, limits), limits.result_cache_bytes, limits.result_check_age)


def left(results: dict[str, Path]) -> str:
    return "".join(name for name, path in results.items() if path.exists())


def test_the_least_recently_used_go(tmp_path: Path) -> None:
    results = fill(tmp_path, "abcd")
    keep_bounded(tmp_path, LIMITS)
    assert left(results) == "ab"
    assert len(list(ResultStore(tmp_path, LIMITS).others())) == 2
    assert not results["d"].parent.exists()


def test_at_most_once_a_day(tmp_path: Path) -> None:
    keep_bounded(tmp_path, LIMITS)
    results = fill(tmp_path, "abcd")
    keep_bounded(tmp_path, LIMITS)
    assert left(results) == "abcd"
    yesterday = time.time() - 86_401
    os.utime(tmp_path / "checked", (yesterday, yesterday))
    keep_bounded(tmp_path, LIMITS)
    assert left(results) == "ab"
    assert (tmp_path / "checked").stat().st_mtime > yesterday + 3600


def test_a_clock_that_went_back_does_not_stop_it(tmp_path: Path) -> None:
    keep_bounded(tmp_path, LIMITS)
    tomorrow = time.time() + 86_400
    os.utime(tmp_path / "checked", (tomorrow, tomorrow))
    results = fill(tmp_path, "abcd")
    keep_bounded(tmp_path, LIMITS)
    assert left(results) == "ab"


def test_nothing_to_keep_bounded(tmp_path: Path) -> None:
    """Neither a missing folder nor a file in its place is an error: no caller depends on this."""
    keep_bounded(tmp_path / "missing", LIMITS)
    (tmp_path / "file").write_text("")
    keep_bounded(tmp_path / "file", LIMITS)
    assert (tmp_path / "file").read_text() == ""


def test_links_are_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    results = fill(elsewhere, "abcd")
    root = tmp_path / "results"
    root.mkdir()
    for group in elsewhere.iterdir():
        (root / group.name).symlink_to(group)
    keep_bounded(root, replace(LIMITS, result_cache_bytes=0))
    assert left(results) == "abcd"
    assert list(ResultStore(root, LIMITS).entries()) == []


@pytest.mark.tools
def test_a_run_that_keeps_results_looks_after_them(tmp_path: Path) -> None:
    """The results of the run itself were used last. A run that renders nothing does not look."""
    cache, stamp = tmp_path / "cache", tmp_path / "cache" / "checked"
    results = fill(cache, "abcd")
    yesterday = time.time() - 2 * 86_400
    (tmp_path / "work").mkdir()
    for expected in (False, True):
        with Engine(make_context(limits=LIMITS), processes=1, result_cache=cache) as engine:
            world = World(tmp_path / "work", engine, [])
            world.add("app", jsonnet("app/component/main.jsonnet"))
            world.write("dependencies/app/component/main.jsonnet", "{ a: { b: 1 } }")
            (compiled,) = world.compile()
        assert compiled.reused is expected
        assert left(results) == "ab"
        if not expected:
            os.utime(stamp, (yesterday, yesterday))
    assert stamp.stat().st_mtime == pytest.approx(yesterday)
