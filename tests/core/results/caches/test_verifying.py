"""Verifying: everything is read, what is damaged is found and goes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.cli.machine.cache_rooms import stores
from commodore.core.results.caches import result_cache
from commodore.core.results.caches.maintenance import verify
from tests.core.results.caches.conftest import Cache
from tests.world.context import make_context


def damaged() -> dict[str, tuple[Path, ...]]:
    return {
        part.name: part.damaged for part in verify(stores(make_context()), make_context(), dry_run=True) if part.damaged
    }


def test_a_sound_cache(cache: Cache) -> None:
    entries = cache.everything()
    assert {
        part.name: (part.entries, part.damaged) for part in verify(stores(make_context()), make_context())
    } == dict.fromkeys(entries, (1, ()))


def test_an_empty_cache() -> None:
    assert verify(stores(make_context()), make_context()) == ()


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


CONTENT = {
    "dependencies": "content/Chart.yaml",
    "repositories": "",
    "libraries": "content/main.libsonnet",
    "trees": "content/README.md",
    "kustomize": "objects",
    "templates": "objects",
}
RECORD = dict.fromkeys(("dependencies", "repositories", "libraries", "trees"), "about.json")


@pytest.mark.parametrize("harm", [append, flip, truncate, Path.unlink])
@pytest.mark.parametrize("files", [CONTENT, RECORD], ids=["content", "record"])
def test_a_file_of_each_entry_is_damaged(files: dict[str, str], harm: Callable[[Path], None], cache: Cache) -> None:
    entries = cache.everything()
    for section, file in files.items():
        place = entries[section] / file
        if place.is_dir():  # git names its objects and packs by what is in them
            objects = (path for path in place.rglob("*") if path.suffix == ".pack" or len(path.parent.name) == 2)
            place = min(path for path in objects if path.is_file())
            place.chmod(0o600)
        harm(place)
    assert damaged() == {section: (entries[section],) for section in files}
    verify(stores(make_context()), make_context())
    assert damaged() == {}
    assert {section for section, path in entries.items() if not path.exists()} == set(files)


@pytest.mark.parametrize("harm", [append, flip, truncate])
def test_a_result_is_damaged(harm: Callable[[Path], None], cache: Cache) -> None:
    path, other = cache.add_result("app"), cache.add_result("other")
    harm(path)
    assert damaged() == {"results": (path,)}
    assert path.exists()
    (verified,) = verify(stores(make_context()), make_context())
    assert (verified.entries, verified.damaged) == (2, (path,))
    assert (path.exists(), other.exists()) == (False, True)
    assert len(list(result_cache().rglob("*.json"))) == 1


def test_a_list_of_what_was_read_is_damaged(cache: Cache) -> None:
    """One that is sound in itself but stands under another one's name is wrong too."""
    first, other = cache.add_result("app"), cache.add_result("other")
    (shape,) = (first.parent / "shapes").iterdir()
    (second,) = (other.parent / "shapes").iterdir()
    shape.write_bytes(second.read_bytes())
    assert damaged() == {"results": (shape,)}


@pytest.mark.parametrize("name", ["content", "about"])
def test_a_download_is_damaged(name: str, cache: Cache) -> None:
    entry = cache.add_download("https://example.com/a")
    file = entry / "about.json" if name == "about" else entry / "content"
    file.write_bytes(b"{}")
    assert damaged() == {"downloads": (entry,)}


def test_an_entry_under_another_name(cache: Cache) -> None:
    """Whoever can write to the cache cannot pass one chart off as another."""
    first, other = cache.add_chart("one"), cache.add_chart("other")
    (other / "about.json").write_bytes((first / "about.json").read_bytes())
    assert damaged() == {"dependencies": (other,)}


def swap(first: Path, other: Path) -> None:
    aside = first.with_name("aside")
    first.rename(aside)
    other.rename(first)
    aside.rename(other)


@pytest.mark.parametrize(
    "section", ["results", "dependencies", "downloads", "kustomize", "repositories", "libraries", "trees"]
)
def test_two_entries_are_swapped(section: str, cache: Cache) -> None:
    """Each is what was written, but not for this place: both would give the wrong files."""
    first, other = cache.add(section, "one"), cache.add(section, "other")
    swap(first, other)
    assert set(damaged()[section]) == {first, other}
    verify(stores(make_context()), make_context())
    assert damaged() == {}


def test_two_subjects_are_swapped(cache: Cache) -> None:
    """All files of the one keep their names, and so do the results in it."""
    first, other = cache.add_result("one"), cache.add_result("other")
    swap(first.parent, other.parent)
    assert len(damaged()["results"]) == 4
