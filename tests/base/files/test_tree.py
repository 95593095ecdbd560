"""Folders: the order of a walk, what it follows, and measures and copies by rules."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from pathlib import Path

import pytest

from commodore.base.files.tree import Refused, Rules, files, is_hidden, measure, size_of, walk
from tests.world.folders import make_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "folder", **{".h/i": "5"})


def test_depth_first_in_the_byte_order_of_names(folder: Path) -> None:
    assert [name for name, _ in walk(folder, skip=is_hidden)] == [
        *("a", "a/z", "a.txt", "b", "b/x", "b/x/y", "b.txt", "c", "empty", "link", "linked-folder")
    ]
    odd = [b"\xff", "\U0001f600".encode(), "\ue000".encode(), b"z"]
    for name in odd:
        os.mkdir(os.path.join(os.fsencode(folder / "empty"), name))
    assert [os.fsencode(name) for name, _ in walk(folder / "empty")] == sorted(odd)


def test_the_sum_of_contents_in_byte_order_of_names_depth_first(tmp_path: Path) -> None:
    """`B` < `a` (folder, at its own position) < `a.txt` < `b` (folder) < `b.txt` < `c`; links do not count."""
    folder = make_folder(tmp_path / "package", B="-")
    assert measure(folder).sum == base64.b64encode(hashlib.sha256(b"-10324").digest()).decode()
    assert measure(folder / "empty").sum == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="


def test_links_are_followed_but_not_to_where_the_walk_is(folder: Path) -> None:
    (folder / "a" / "up").symlink_to("..")
    entries = [name for name, _ in walk(folder, follow=True, skip=is_hidden)]
    assert [name for name in entries if name.startswith(("a/", "linked-folder/"))] == [
        *("a/up", "a/z", "linked-folder/up", "linked-folder/z")
    ]


def test_a_folder_is_read_once_the_caller_goes_on(folder: Path) -> None:
    """So whoever notes the times of a folder notes those from before it was read."""
    results = []
    for name, _ in walk(folder / "b"):
        results.append(name)
        if name == "x":
            (folder / "b" / "x" / "late").touch()
    assert results == ["x", "x/late", "x/y"]


def test_what_is_missing_has_nothing_in_it(folder: Path) -> None:
    assert list(walk(folder / "missing")) == []
    assert list(walk(folder / "c")) == []
    results = []
    for name, entry in walk(folder / "b"):
        results.append(name)
        if entry.is_dir():
            (folder / "b" / "x" / "y").unlink()
            (folder / "b" / "x").rmdir()
    assert results == ["x"]


def test_files(folder: Path) -> None:
    plain = ["a/z", "a.txt", "b/x/y", "b.txt", "c"]
    assert [name for name, _ in files(folder, skip=is_hidden)] == plain
    assert [name for name, _ in files(folder, skip=is_hidden, links=True)] == [*plain, "link", "linked-folder"]
    assert all(path == folder / name for name, path in files(folder))


def test_sizes(folder: Path) -> None:
    assert size_of(folder / "b.txt") == 1
    assert size_of(folder) == 6 + len("c") + len("a")
    assert size_of(folder / "missing") == 0


@pytest.mark.parametrize("exact", [False, True])
def test_the_digest_sees_names_kinds_and_modes(folder: Path, exact: bool) -> None:
    rules = Rules(exact=exact)
    seen = [measure(folder, None, rules).digest]
    for change in (
        lambda: (folder / "c").rename(folder / "d"),
        lambda: (folder / "d").chmod(0o600),
        lambda: (folder / "empty").rmdir(),
        lambda: (folder / "empty").write_text(""),
        lambda: (folder / "link").unlink(),
        lambda: (folder / "link").symlink_to("a"),
        lambda: (folder / "a.txt").write_text("9"),
    ):
        change()
        seen.append(measure(folder, None, rules).digest)
        assert measure(folder, None, rules).digest == seen[-1]
    assert len(set(seen)) == len(seen)
    (folder / "d").chmod(0o640)
    (folder / "b").chmod(0o750)
    assert (measure(folder, None, rules).digest == seen[-1]) is not exact


def test_what_is_missing_is_not_empty(folder: Path) -> None:
    """Or the content of an entry that holds nothing could be gone without a trace."""
    for path in (folder / "missing", folder / "c"):
        with pytest.raises(OSError):
            measure(path)


def test_a_copy_is_equal_and_independent(folder: Path, tmp_path: Path) -> None:
    umask = os.umask(0o077)
    try:
        copied = measure(folder, tmp_path / "copies" / "one")
    finally:
        os.umask(umask)
    copy = tmp_path / "copies" / "one"
    assert copied == measure(folder) == measure(copy)
    assert (copied.files, copied.bytes) == (6, 6)
    assert (copy / "link").readlink() == Path("c")
    assert stat.S_IMODE((copy / "a.txt").stat().st_mode) == 0o644
    assert stat.S_IMODE((copy / "c").stat().st_mode) == 0o755
    (copy / "a.txt").write_text("changed", encoding="utf-8")
    assert (folder / "a.txt").read_text(encoding="utf-8") == "0"


def test_an_exact_copy_has_modes_and_times(folder: Path, tmp_path: Path) -> None:
    os.utime(folder / "a.txt", (1000, 2000))
    (folder / "b").chmod(0o500)
    os.utime(folder / "b", (1000, 3000))
    copy = tmp_path / "copy"
    rules = Rules(exact=True)
    assert measure(folder, copy, rules) == measure(copy, None, rules)
    assert ((copy / "a.txt").stat().st_mtime, (copy / "b").stat().st_mtime) == (2000, 3000)
    assert [stat.S_IMODE((copy / name).stat().st_mode) for name in ("b", "c")] == [0o500, 0o700]


def test_what_is_too_much_or_no_file_is_refused(folder: Path) -> None:
    everything = len(list(walk(folder))) + 1
    measure(folder, None, Rules(exact=True, entries=everything, bytes=6))
    for rules in (Rules(entries=everything - 1), Rules(bytes=5)):
        with pytest.raises(Refused):
            measure(folder, None, rules)
    os.mkfifo(folder / "pipe")
    before = measure(folder)
    with pytest.raises(Refused):
        measure(folder, None, Rules(exact=True))
    (folder / "pipe").unlink()
    assert measure(folder) == before


def test_what_is_left_out_does_not_count(folder: Path) -> None:
    before = measure(folder)
    (folder / "b" / "new").write_text("new")
    assert measure(folder, None, Rules(skip=lambda entry: entry.name == "new")) == before != measure(folder)
