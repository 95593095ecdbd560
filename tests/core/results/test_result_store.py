"""The store of results: complete or not there, whoever writes at the same time, whatever happens to the disk."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.core.results.result_store import Result, ResultStore, holds, read_folder, write_folder

RESULT = Result(
    (("folder", 0o755, None), ("folder/file", 0o644, b"\0text"), ("link", 0, "folder/file")),
    ("a note",),
    outside=(("component:made/one", 0o600, b"1\n"), ("component:made/two", 0o644, b"")),
)
FOUND = {("file", "root:a"): "1", ("value", "app", "parameters", "x"): "2"}
DIGESTS = ["1", "2"]


@pytest.fixture
def store(tmp_path: Path) -> ResultStore:
    return ResultStore(tmp_path / "results", DEFAULT_LIMITS)


def find(store: ResultStore, digests: list[str] = DIGESTS, subject: str = "s" * 8) -> Result | None:
    return next((result for shape, _ in store.shapes(subject) if (result := store.find(subject, shape, digests))), None)


def test_what_was_kept_is_found_by_all_that_was_read(store: ResultStore) -> None:
    assert find(store) is None
    store.add("s" * 8, FOUND, RESULT)
    assert find(store) == RESULT
    assert [keys for _, keys in store.shapes("s" * 8)] == [tuple(FOUND)]
    for digests in (["1", "3"], ["2", "1"], ["1"], ["1", "2", "3"], ["12", ""]):
        assert find(store, digests) is None
    assert find(store, subject="t" * 8) is None


@pytest.mark.parametrize("position", [0, 20, 90, -1])
def test_damage_is_a_miss(store: ResultStore, tmp_path: Path, position: int) -> None:
    store.add("s" * 8, FOUND, RESULT)
    for pattern in ("*.result", "*.json"):
        (file,) = tmp_path.rglob(pattern)
        sound = file.read_bytes()
        wrong = bytearray(sound)
        wrong[position] ^= 1
        for content in (bytes(wrong), sound[:-1], sound + b"\0", b""):
            file.write_bytes(content)
            assert find(store) is None
        file.write_bytes(sound)
        assert find(store) == RESULT


def test_damage_is_mended_by_the_next_who_keeps_the_same(store: ResultStore, tmp_path: Path) -> None:
    store.add("s" * 8, FOUND, RESULT)
    for file in (*tmp_path.rglob("*.result"), *tmp_path.rglob("*.json")):
        file.write_bytes(b"garbage")
    store.add("s" * 8, FOUND, RESULT)
    assert find(store) == RESULT


def test_one_result_does_not_stand_for_another(store: ResultStore) -> None:
    other = Result((("file", 0o644, b"other"),))
    store.add("s" * 8, FOUND, RESULT)
    store.add("s" * 8, {**FOUND, ("file", "root:a"): "9"}, other)
    store.add("s" * 8, {("file", "root:a"): "1"}, other)
    assert find(store) == RESULT
    assert find(store, ["9", "2"]) == other
    assert find(store, ["1"]) == other


def test_results_that_are_swapped_are_missing(store: ResultStore, tmp_path: Path) -> None:
    """Of one subject or of two: each file is sound in itself, but belongs to another place."""
    other = Result((("file", 0o644, b"other"),))
    store.add("s" * 8, FOUND, RESULT)
    store.add("s" * 8, {**FOUND, ("file", "root:a"): "9"}, other)
    place, other_place = tmp_path.rglob("*.result")
    first, second = place.read_bytes(), other_place.read_bytes()
    place.write_bytes(second)
    other_place.write_bytes(first)
    assert find(store) is find(store, ["9", "2"]) is None
    place.write_bytes(first)
    other_place.write_bytes(second)
    assert find(store) == RESULT
    store.add("t" * 8, FOUND, other)
    folders = [path.parent for path in tmp_path.rglob("shapes")]
    folders[0].rename(tmp_path / "aside")
    folders[1].rename(folders[0])
    (tmp_path / "aside").rename(folders[1])
    assert find(store) is find(store, subject="t" * 8) is None


def test_writers_at_the_same_time(tmp_path: Path) -> None:
    stores = [ResultStore(tmp_path / "results", DEFAULT_LIMITS) for _ in range(4)]
    threads = [threading.Thread(target=store.add, args=("s" * 8, FOUND, RESULT)) for store in stores * 5]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert find(stores[0]) == RESULT


WRITER = """
import sys
from pathlib import Path
from commodore.core.results.result_store import Result, ResultStore
from commodore.base.limits import DEFAULT_LIMITS

store = ResultStore(Path(sys.argv[1]), DEFAULT_LIMITS)
number = 0
while True:
    number += 1
    result = Result((("file", 0o644, str(number).encode() * 10000),))
    store.add("s" * 8, {("file", "root:a"): str(number), ("file", "root:b"): "2"}, result)
    print(number, flush=True)
"""


@pytest.mark.parametrize("written", [1, 3, 6])
def test_a_killed_writer_leaves_nothing_wrong(tmp_path: Path, written: int) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for _ in range(written):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
    store = ResultStore(tmp_path, DEFAULT_LIMITS)
    results = [find(store, [str(number), "2"]) for number in range(1, written + 50)]
    assert all(results[:written])
    for number, result in enumerate(results, 1):
        assert result is None or result.files == (("file", 0o644, str(number).encode() * 10000),)


def test_a_disk_that_refuses_and_what_is_too_large(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = ResultStore(tmp_path / "file", DEFAULT_LIMITS)
    store.add("s" * 8, FOUND, RESULT)
    assert find(store) is None
    small = ResultStore(tmp_path / "results", Limits(result_bytes=3))
    small.add("s" * 8, FOUND, RESULT)
    assert find(small) is None


def test_folders_come_back_as_they_were(tmp_path: Path) -> None:
    """Folders that may only be read get their mode when all is in them."""
    folder = tmp_path / "one"
    (folder / "sub/inner").mkdir(parents=True)
    (folder / "sub/inner/file").write_bytes(b"\xff\r\n")
    (folder / "sub/inner/file").chmod(0o754)
    (folder / os.fsdecode(b"\xff")).write_text("x")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "sub").chmod(0o555)
    result = read_folder(folder)
    assert result is not None
    before = os.umask(0o077)
    try:
        write_folder(result, tmp_path / "two")
    finally:
        os.umask(before)
    again = read_folder(tmp_path / "two")
    assert again == result
    assert stat.S_IMODE((tmp_path / "two/sub").stat().st_mode) == 0o555
    for path in (folder, tmp_path / "two"):
        (path / "sub").chmod(0o755)
    os.mkfifo(folder / "fifo")
    assert read_folder(folder) is None


def test_differences_name_the_paths(store: ResultStore) -> None:
    other = Result((("folder", 0o755, None), ("folder/file", 0o755, b"\0text"), ("new", 0o644, b"")))
    assert RESULT.differences(other) == ["folder/file", "link", "new"]
    assert RESULT.differences(RESULT) == []


def test_a_folder_that_occurs_in_a_result() -> None:
    for file in (("name", 0o644, b"at /work/one/x"), ("/work/one/x", 0o644, b""), ("link", 0, "/work/one")):
        assert Result((file,)).mentions(["/elsewhere", "/work/one"])
    assert Result((), outside=(("component:a", 0o644, b"in /work/one/x"),)).mentions(["/work/one"])
    assert not RESULT.mentions(["/work/one"])


@pytest.mark.parametrize(
    "result",
    [
        Result((), ("/work/one/file is deprecated",)),
        Result((("file", 0o644, b"see /work/one."),)),
        Result((("link", 0, "/work/one/x"),)),
        Result((), outside=(("/work/one/x", 0o644, b""),)),
    ],
    ids=["a trace", "a file", "a link", "a name"],
)
def test_whether_a_folder_is_mentioned(result: Result) -> None:
    assert result.mentions(["/none", "/work/one"])
    assert not result.mentions(["/work/two"])


def test_whether_a_folder_holds_a_result(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    assert not holds(folder, RESULT)
    write_folder(RESULT, folder)
    assert holds(folder, RESULT)
    (folder / "link").unlink()
    (folder / "link").symlink_to("elsewhere")
    assert not holds(folder, RESULT)


def test_what_killed_runs_left_is_removed_after_a_while(store: ResultStore) -> None:
    store.add("5" * 64, FOUND, RESULT)
    (folder,) = {path.parent for path in store.root.rglob("*.result")}
    old, new = folder / ".old", folder / ".new"
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    store.tidy()
    assert (old.exists(), new.exists()) == (False, True)
    assert find(store, subject="5" * 64) == RESULT
