"""Pruning: what goes, what stays, and that other runs never see half of an entry."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from commodore.base.errors import CommodoreError
from commodore.base.events import Event, Warned
from commodore.base.files.file_lock import hold
from commodore.base.limits import DEFAULT_LIMITS
from commodore.cli.machine.cache_rooms import stores
from commodore.core.results.caches import (
    cache_folder,
    dependency_cache,
    result_cache,
    template_cache,
    template_lock,
    token_cache,
)
from commodore.core.results.caches.maintenance import Pruned, PruneRules, _remove_all, prune
from commodore.core.results.result_store import Result, ResultStore
from commodore.core.sources.fetching import DependencyCache, chart_key
from tests.core.results.caches.conftest import DAY, Cache
from tests.world.context import make_context

ROOT = str(Path(__file__).resolve().parents[4])


def removed(done: tuple[Pruned, ...]) -> dict[str, int]:
    return {pruned.name: pruned.removed for pruned in done if pruned.removed}


def test_all_of_it(cache: Cache) -> None:
    entries = cache.everything()
    done = prune(stores(make_context()), PruneRules(everything=True), make_context())
    assert removed(done) == dict.fromkeys(entries, 1)
    assert [(pruned.left, pruned.left_bytes) for pruned in done] == [(0, 0)] * len(entries)
    assert [path for path in entries.values() if os.path.lexists(path)] == []
    assert list(result_cache().rglob("*.json")) == []  # no list without a result
    assert prune(stores(make_context()), PruneRules(everything=True), make_context()) == tuple(
        Pruned(name, 0, 0, 0, 0) for name in entries
    )


def test_what_was_not_used_for_long(cache: Cache) -> None:
    entries = cache.everything()
    for path in entries.values():
        cache.use(path, 31)
    young = cache.add_result("young")
    cache.use(young, 29)
    assert removed(prune(stores(make_context()), PruneRules.usual(DEFAULT_LIMITS), make_context())) == dict.fromkeys(
        entries, 1
    )
    assert young.exists()
    assert not entries["results"].exists()


def test_the_least_recently_used_go_first(cache: Cache) -> None:
    for days, name in enumerate(("a", "b", "c", "d")):
        cache.use(cache.add_result(name, b"x" * 10_000), days)
    done = prune(stores(make_context()), PruneRules(max_bytes=25_000), make_context())
    assert removed(done) == {"results": 2}
    assert [name for name, path in cache.results.items() if path.exists()] == ["a", "b"]


def test_age_and_size_together(cache: Cache) -> None:
    for days, name in ((1, "a"), (2, "b"), (40, "old")):
        cache.use(cache.add_result(name, b"x" * 10_000), days)
    prune(stores(make_context()), PruneRules(older_than=30 * DAY, max_bytes=15_000), make_context())
    assert [name for name, path in cache.results.items() if path.exists()] == ["a"]


def test_a_dry_run_removes_nothing(cache: Cache) -> None:
    entries = cache.everything()
    before = sorted(cache_folder().rglob("*"))
    assert removed(
        prune(stores(make_context()), PruneRules(everything=True), make_context(), dry_run=True)
    ) == dict.fromkeys(entries, 1)
    assert sorted(cache_folder().rglob("*")) == before


def test_what_is_no_entry_stays(cache: Cache) -> None:
    """Tokens, tools, and whatever somebody has put there."""
    cache.everything()
    strange = [
        token_cache(),
        cache_folder() / "tools" / "helm",
        result_cache() / "notes.txt",
        result_cache() / "ab" / "notes.result",
        dependency_cache() / "mine" / "about.json",
        dependency_cache() / "kustomize" / "mine.git" / "HEAD",
        template_cache() / "mine" / "HEAD",
    ]
    for path in strange:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    prune(stores(make_context()), PruneRules(everything=True), make_context())
    assert [path for path in strange if not path.exists()] == []


def test_an_empty_cache(tmp_path: Path) -> None:
    assert prune(stores(make_context()), PruneRules(everything=True), make_context()) == ()


def test_links_are_not_followed(cache: Cache, tmp_path: Path) -> None:
    """Neither an entry, nor a folder with entries, nor a whole part that is a link out of the cache."""
    chart = cache.add_chart("chart")
    outside = tmp_path / "outside"
    chart.rename(outside)
    chart.symlink_to(outside)
    group = dependency_cache() / "ff"
    (tmp_path / "group").mkdir()
    (tmp_path / "group" / ("f" * 64)).mkdir()
    group.symlink_to(tmp_path / "group")
    elsewhere = tmp_path / "elsewhere"
    result = cache.add_result("app")
    result_cache().rename(elsewhere)
    result_cache().symlink_to(elsewhere)
    collected: list[Event] = []
    prune(stores(make_context()), PruneRules(everything=True), make_context(collected.append))
    assert [event.code for event in collected if isinstance(event, Warned)] == ["CMD-CACHE-003"]
    assert (outside / "about.json").exists()
    assert (tmp_path / "group" / ("f" * 64)).exists()
    assert (elsewhere / result.relative_to(result_cache())).exists()


def test_links_in_an_entry_are_not_followed(cache: Cache, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.mkdir()
    (target / "file").write_text("mine")
    entry = cache.add_chart("chart")
    (entry / "content" / "link").symlink_to(target)
    assert removed(prune(stores(make_context()), PruneRules(everything=True), make_context())) == {"dependencies": 1}
    assert (target / "file").exists()


def test_the_cache_itself_may_be_a_link(cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "link"))
    cache.add_result("app")
    assert removed(prune(stores(make_context()), PruneRules(everything=True), make_context())) == {"results": 1}


def test_what_killed_runs_have_left_goes_after_a_while(cache: Cache) -> None:
    """A pruning that is killed has moved an entry aside: it is missing for all others, and goes later."""
    entries = cache.everything()
    asides = []
    for name, prefix in (
        ("dependencies", "new-"),
        ("repositories", "new-"),
        ("libraries", "new-"),
        ("templates", ".new-"),
    ):
        root = {"templates": template_cache()}.get(name, entries[name].parent.parent)
        aside = root / f"{prefix}killed"
        aside.mkdir()
        entries[name].rename(aside / "old")
        asides.append(aside)
    temporary = entries["results"].parent / ".half-written"
    temporary.write_bytes(b"half")
    prune(stores(make_context()), PruneRules(), make_context())
    assert [path for path in (*asides, temporary) if not path.exists()] == []
    past = time.time() - 2 * DEFAULT_LIMITS.staging_age
    os.utime(temporary, (past, past))
    done = prune(stores(make_context()), PruneRules(), make_context(), now=time.time() + 2 * DEFAULT_LIMITS.staging_age)
    assert [path for path in asides if path.exists()] == []
    assert removed(done) == {}
    assert not temporary.exists()
    assert entries["results"].exists()


def test_an_entry_that_is_used_meanwhile_stays(cache: Cache) -> None:
    """Selected entries are checked again before they are removed."""
    path = cache.add_result("app")
    cache.use(path, 40)
    (store,) = (store_ for store_ in stores(make_context()) if store_.name == "results")
    seen = list(store.entries())
    cache.use(path, 0)
    assert _remove_all(store, seen, time.time(), []) == []
    assert path.exists()


def test_while_others_read_and_write(cache: Cache, tmp_path: Path) -> None:
    """Whoever reads gets a whole entry or none; whoever writes is not disturbed."""
    store = ResultStore(result_cache(), DEFAULT_LIMITS)
    dependencies = DependencyCache(dependency_cache(), DEFAULT_LIMITS)
    result = Result((("a.yaml", 0o644, b"x" * 5000),))
    key = chart_key("https://charts.example.com", "chart", "1.0.0")
    assert key is not None
    chart = tmp_path / "chart"
    for index in range(20):
        (chart / f"folder-{index}").mkdir(parents=True)
        (chart / f"folder-{index}" / "file").write_text("text")
    wrong: list[str] = []
    stop = threading.Event()

    def use() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            store.add("a" * 64, {("value", "a"): "1"}, result)
            for shape, _ in store.shapes("a" * 64):
                stored = store.find("a" * 64, shape, ["1"])
                if stored not in (None, result):
                    wrong.append("result")
            dependencies.add(key, chart)
            target = tmp_path / f"copy-{threading.get_ident()}-{number}"
            if dependencies.copy(key, target) != target.exists():
                wrong.append("chart")
            elif target.exists() and len(list(target.rglob("file"))) != 20:
                wrong.append("half a chart")

    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(40):
            prune(stores(make_context()), PruneRules(everything=True), make_context())
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert wrong == []
    store.add("a" * 64, {("value", "a"): "1"}, result)
    assert [store.find("a" * 64, shape, ["1"]) for shape, _ in store.shapes("a" * 64)] == [result]


def test_templates_that_are_being_fetched_are_waited_for(cache: Cache) -> None:
    clone = cache.add_template()
    pruning = threading.Thread(target=prune, args=(stores(make_context()), PruneRules(everything=True), make_context()))
    with hold(template_lock(), wait=0):
        pruning.start()
        pruning.join(0.3)
        assert pruning.is_alive()
        assert clone.exists()
    pruning.join()
    assert not clone.exists()


def test_the_lock_of_templates_is_no_link(cache: Cache, tmp_path: Path) -> None:
    cache.add_template()
    template_lock().symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CommodoreError) as caught:
        prune(stores(make_context()), PruneRules(everything=True), make_context())
    assert caught.value.code == "CMD-WORK-003"
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may remove everything")
def test_what_cannot_be_removed_is_told(cache: Cache) -> None:
    path, other = cache.add_result("app"), cache.add_result("other")
    path.parent.chmod(0o500)
    try:
        with pytest.raises(CommodoreError) as caught:
            prune(stores(make_context()), PruneRules(everything=True), make_context())
    finally:
        path.parent.chmod(0o700)
    assert caught.value.code == "CMD-WORK-003"
    assert not other.exists()


def test_a_pruning_that_is_killed_leaves_no_half_of_an_entry(cache: Cache, tmp_path: Path) -> None:
    """Whenever it happens: an entry is whole where it was, or it is not there."""
    charts = [cache.add_chart(f"chart-{number}") for number in range(3)]
    for chart in charts:
        for number in range(300):
            (chart / "content" / f"file-{number}").write_text("text")
    program = (
        "from commodore.cli.machine.cache_rooms import stores\nfrom tests.world.context import make_context\n"
        "from commodore.core.results.caches.maintenance import PruneRules, prune\n"
        "print('ready', flush=True)\n"
        "prune(stores(make_context()), PruneRules(everything=True), make_context())\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=tmp_path, env={**os.environ, "PYTHONPATH": ROOT}
    )
    assert process.stdout is not None
    process.stdout.readline()
    while process.poll() is None and all(chart.exists() for chart in charts):
        pass
    process.kill()
    process.wait()
    process.stdout.close()
    for chart in charts:
        assert not chart.exists() or len(list((chart / "content").iterdir())) == 301
    prune(
        stores(make_context()),
        PruneRules(everything=True),
        make_context(),
        now=time.time() + 2 * DEFAULT_LIMITS.staging_age,
    )
    assert [path for path in dependency_cache().rglob("*") if path.is_file()] == []
