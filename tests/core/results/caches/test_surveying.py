"""Sizes of the parts of the cache."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from commodore.base.errors import UsageError
from commodore.base.values.units import age_text, parse_age, parse_size, size_text
from commodore.cli.machine.cache_rooms import stores
from commodore.core.results.caches import cache_folder, dependency_cache, token_cache
from commodore.core.results.caches.maintenance import survey
from tests.core.results.caches.conftest import DAY, Cache
from tests.world.context import make_context


def test_an_empty_cache() -> None:
    parts = survey(stores(make_context()))
    assert {
        part.name: (part.entries, part.bytes, part.newest) for part in parts if part.name != "tools"
    } == dict.fromkeys(
        ("results", "dependencies", "downloads", "kustomize", "repositories", "libraries", "templates", "trees"),
        (0, 0, None),
    )
    assert parts[-1].name == "tools"
    assert not parts[-1].prunable


def test_each_part(cache: Cache) -> None:
    entries = cache.everything()
    for days, path in enumerate(entries.values()):
        cache.use(path, days)
    for days, (name, part) in enumerate(
        (part.name, part) for part in survey(stores(make_context())) if part.name != "tools"
    ):
        assert name == list(entries)[days]
        assert (part.entries, part.elsewhere) == (1, False)
        assert part.bytes > 0
        assert part.newest == part.oldest
        assert part.newest is not None
        assert abs(time.time() - days * DAY - part.newest) < DAY / 2


def test_parts_do_not_count_twice(cache: Cache) -> None:
    """Downloads and bases lie below the dependencies; tokens count nowhere."""
    cache.add_chart("chart")
    (dependencies,) = (part.bytes for part in survey(stores(make_context())) if part.name == "dependencies")
    cache.add_download("https://example.com/a")
    (dependency_cache() / "downloads" / "large").write_bytes(b"x" * 100_000)
    token_cache().write_text("secret" * 1000)
    by_name = {part.name: part.bytes for part in survey(stores(make_context()))}
    assert by_name["dependencies"] == dependencies
    assert by_name["downloads"] > 100_000
    assert sum(by_name.values()) < 110_000


def test_the_oldest_and_the_newest(cache: Cache) -> None:
    for days, name in ((1, "a"), (9, "b"), (5, "c")):
        cache.use(cache.add_result(name), days)
    (results,) = (part for part in survey(stores(make_context())) if part.name == "results")
    assert results.entries == 3
    assert results.oldest is not None
    assert results.newest is not None
    assert round((results.newest - results.oldest) / DAY) == 8


def test_tools_are_mentioned(tmp_path: Path) -> None:
    tools = cache_folder() / "tools"
    tools.mkdir(parents=True)
    (tools / "helm").write_bytes(b"x" * 1000)
    assert survey(stores(make_context()))[-1].bytes == 1000


@pytest.mark.parametrize(
    ("text", "seconds"), [("45s", 45), ("90m", 5400), ("12h", 43200), ("30d", 2_592_000), ("2w", 1_209_600), ("0d", 0)]
)
def test_ages(text: str, seconds: float) -> None:
    assert parse_age(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1.5d", "30 d", "30D", "1y", "9" * 20 + "d"])
def test_what_is_no_age(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_age(text)
    assert caught.value.code == "CMD-CACHE-001"


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("500", 500), ("500B", 500), ("1k", 1024), ("5M", 5 << 20), ("5G", 5 << 30), ("5GiB", 5 << 30)],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "1.5G", "5 G", "5X", "9" * 30])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_size(text)
    assert caught.value.code == "CMD-CACHE-002"


def test_amounts_for_people() -> None:
    assert [size_text(size) for size in (0, 1023, 1024, 1536 << 10, 5 << 30)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "1.5 MiB",
        "5.0 GiB",
    ]
    assert [age_text(age) for age in (-5, 59, 60, 7200, DAY, 40 * DAY)] == [
        "just now",
        "just now",
        "1 minute ago",
        "2 hours ago",
        "1 day ago",
        "40 days ago",
    ]
