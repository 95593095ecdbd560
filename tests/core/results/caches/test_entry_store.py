"""Common behaviour of entry stores, tested with a store of trees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.errors import EnvironmentFault
from commodore.base.files.tree import Measure, Rules, measure
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.results.caches.entry_store import TreeStore

ONE, OTHER = "1" * 64, "2" * 64


@pytest.fixture
def store(tmp_path: Path) -> TreeStore:
    return TreeStore("libraries", tmp_path / "store", DEFAULT_LIMITS, Rules())


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "file").write_text("text")
    return tmp_path / "source"


def copy_of(source: Path) -> Callable[[Path], Measure]:
    return lambda content: measure(source, content)


def test_an_entry_comes_back(store: TreeStore, source: Path, tmp_path: Path) -> None:
    store.add(store.place(ONE), copy_of(source), {"commit": "c"})
    assert store.describe(store.place(ONE)) == {"commit": "c", "digest": measure(source).digest}
    assert [entry.path for entry in store.entries()] == [store.place(ONE)]
    assert store.is_sound(store.place(ONE))
    assert store.holds(store.place(ONE), source)
    assert store.copy(store.place(ONE), tmp_path / "copy")
    assert (tmp_path / "copy" / "file").read_text() == "text"
    assert not store.copy(store.place(OTHER), tmp_path / "other")


def test_an_entry_that_is_there_stays(store: TreeStore, source: Path) -> None:
    """Another process was faster: who reads its entry is not disturbed."""
    place = store.place(ONE)
    store.add(place, copy_of(source), {})
    inode = (place / "content" / "file").stat().st_ino
    store.add(place, copy_of(source), {})
    assert (place / "content" / "file").stat().st_ino == inode
    (place / "about.json").write_text("{}")  # an older version's, or damaged
    store.add(place, copy_of(source), {})
    assert store.is_sound(place)


def test_the_description_of_another_kind_of_entry_does_not_count(store: TreeStore, source: Path) -> None:
    """Even under the same name."""
    store.add(store.place(ONE), copy_of(source), {})
    others = TreeStore("dependencies", store.root, DEFAULT_LIMITS, Rules())
    assert others.describe(store.place(ONE)) is None
    assert not others.holds(store.place(ONE), source)


def test_a_damaged_entry_goes_when_it_is_to_be_copied(store: TreeStore, source: Path, tmp_path: Path) -> None:
    store.add(store.place(ONE), copy_of(source), {})
    (store.place(ONE) / "content" / "file").write_text("else")
    assert not store.copy(store.place(ONE), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    assert not store.place(ONE).exists()
    assert list(store.root.rglob("*")) == []


def test_what_cannot_be_made_leaves_nothing(store: TreeStore, source: Path) -> None:
    def fail(content: Path) -> Measure:
        measure(source, content)
        raise OSError(28, "no space left")

    with pytest.raises(OSError):
        store.add(store.place(ONE), fail, {})
    assert list(store.root.rglob("*")) == []


def test_a_place_that_refuses(store: TreeStore, source: Path) -> None:
    store.root.mkdir()
    (store.root / "11").write_text("in the way")
    with pytest.raises(EnvironmentFault):
        store.add(store.place(ONE), copy_of(source), {})
    assert [path.name for path in store.root.iterdir()] == ["11"]
