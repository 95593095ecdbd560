"""Telling what has changed, and what has not."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from commodore.base.errors import InputError
from commodore.base.events import Event, Noted, TaskBegun
from commodore.base.files.watching import Watch, WatchedPaths, read_trees
from commodore.base.limits import DEFAULT_LIMITS

QUICK = replace(DEFAULT_LIMITS, watch_pause=0.01, watch_settled=0.01)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A component with its output, which is apart."""
    folder = tmp_path / "nfs"
    for name in ("class/nfs.yml", "component/main.jsonnet", "compiled/nfs/config.yaml"):
        write(folder / name, "1")
    return folder


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def watch(folder: Path, *roots: Path) -> Watch:
    return Watch(WatchedPaths((folder, *roots), (folder / "compiled",), folder), limits=QUICK)


def begin(watched: Watch) -> Iterator[tuple[str, ...]]:
    """The batches after the first one, which is there at once."""
    batches = watched.batches()
    assert next(batches) == ()
    return batches


def test_what_is_saved_while_nobody_waits_is_the_next_batch(folder: Path) -> None:
    batches = begin(watch(folder))
    write(folder / "component/main.jsonnet", "2")
    assert next(batches) == ("component/main.jsonnet",)
    write(folder / "component/main.jsonnet", "3")
    write(folder / "component/new.jsonnet", "1")
    (folder / "class/nfs.yml").unlink()
    assert next(batches) == ("class/nfs.yml", "component/main.jsonnet", "component/new.jsonnet")


def test_what_is_saved_while_somebody_waits(folder: Path) -> None:
    batches = begin(watch(folder))
    timer = threading.Timer(0.1, write, (folder / "class/nfs.yml", "2"))
    timer.start()
    assert next(batches) == ("class/nfs.yml",)
    timer.join()


@pytest.mark.parametrize(
    "name",
    [
        "compiled/nfs/config.yaml",
        ".git/index",
        ".nfs.yml.swp",
        "class/nfs.yml~",
        "class/#nfs.yml#",
        "class/.#nfs.yml",
        "class/4913",
        "class/nfs.yml___jb_tmp___",
        "lib/__pycache__/a.cpython-311.pyc",
    ],
)
def test_what_does_not_count(folder: Path, name: str) -> None:
    batches = begin(watch(folder))
    write(folder / name, "2")
    write(folder / "class/nfs.yml", "2")
    assert next(batches) == ("class/nfs.yml",)


@dataclass
class Recorded:
    """The record of a compile. The outdated files are requested after all saves of the compile were seen:
    what `then` does happens while somebody waits.
    """

    files: set[str] = field(default_factory=set)
    folders: dict[str, set[str]] = field(default_factory=dict)
    patterns: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    stale: set[str] = field(default_factory=set)
    then: Callable[[], object] = lambda: None

    def outdated(self) -> set[str]:
        self.then()
        return self.stale


def restore(path: Path, content: str, times: os.stat_result) -> None:
    """An edit that keeps size and time."""
    path.write_text(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


EDITS: dict[str, Callable[[Path], object]] = {
    "content": lambda file: file.write_text("2"),
    "mode": lambda file: file.chmod(0o755),
    "same size and time": lambda file: restore(file, "2", file.stat()),
    "removed": lambda file: file.unlink(),
    "a link to the same": lambda file: file.rename(file.with_name("kept")) and file.symlink_to("kept"),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("waiting", [False, True])
def test_what_counts(folder: Path, edit: str, waiting: bool) -> None:
    """While a compile goes on, and while somebody waits for the next one."""
    watched = watch(folder)
    batches = begin(watched)
    file = folder / "component/main.jsonnet"
    if waiting:
        watched.learn(Recorded(then=lambda: EDITS[edit](file)))
    else:
        EDITS[edit](file)
    assert "component/main.jsonnet" in next(batches)


def test_a_link_that_leads_to_another_folder(folder: Path, tmp_path: Path) -> None:
    """Both folders are watched themselves, so no file tells."""
    for name in ("a", "b"):
        write(folder / name / "file", "1")
    (folder / "link").symlink_to("a")
    watched = watch(folder, tmp_path / "root")
    (tmp_path / "root").symlink_to(folder / "a")
    batches = begin(watched)
    for link, target in ((folder / "link", Path("b")), (tmp_path / "root", folder / "b")):
        link.unlink()
        link.symlink_to(target)
        assert next(batches) == (watched._sources.name(str(link)),)


def test_a_folder_that_is_replaced(folder: Path) -> None:
    """With files of the same names, sizes and times."""
    batches = begin(watch(folder))
    new, times = folder / ".new", (folder / "class/nfs.yml").stat()
    new.mkdir()
    restore(new / "nfs.yml", "2", times)
    (folder / "class").rename(folder / ".old")
    new.rename(folder / "class")
    assert next(batches) == ("class/nfs.yml",)


def test_a_file_that_is_written_with_the_content_it_had_has_not_changed(folder: Path) -> None:
    """While nobody compiles."""

    def touch() -> None:
        (folder / "component/main.jsonnet").unlink()
        write(folder / "component/main.jsonnet", "1")
        os.utime(folder / "class/nfs.yml", (1, 1))
        write(folder / "class/other.yml", "2")

    watched = watch(folder)
    batches = begin(watched)
    watched.learn(Recorded(then=touch))
    assert next(batches) == ("class/other.yml",)


def test_a_file_that_is_edited_and_put_back_during_a_compile(folder: Path) -> None:
    """The compile may have read either, unless there is a record of what it has read, or it says that it has written
    the file itself.
    """
    names = ("component/main.jsonnet", "component/made/values.yaml", "class/nfs.yml")
    write(folder / names[1], "1")
    watched = watch(folder)
    batches = begin(watched)
    recorded = Recorded(files={str(folder / names[0])}, written={str(folder / "component/made")})
    for stale in ((), names[:1]):
        watched.learn(replace(recorded, stale={str(folder / name) for name in stale}))
        for name in names:
            (folder / name).unlink()
            write(folder / name, "1")
        assert next(batches) == ("class/nfs.yml", *stale)


def test_a_file_that_every_compile_writes_anew(folder: Path) -> None:
    """It leads to two more compiles, until it is clear that nobody else writes it; an edit makes that doubtful."""
    watched = watch(folder)
    batches = begin(watched)

    def compile_once(content: str) -> tuple[str, ...]:
        (folder / "component/main.jsonnet").unlink()
        write(folder / "component/main.jsonnet", content)
        return next(batches)

    assert [compile_once("1") for _ in range(2)] == [("component/main.jsonnet",)] * 2
    for content in ("2", "3"):
        watched.learn(Recorded(then=lambda content=content: write(folder / "class/nfs.yml", content)))  # type: ignore[misc]
        assert compile_once("1") == ("class/nfs.yml",)
    watched.learn(Recorded())
    assert [compile_once("2") for _ in range(2)] == [("component/main.jsonnet",)] * 2


def test_what_was_read_elsewhere(folder: Path, tmp_path: Path) -> None:
    """Files that were looked for, hidden ones, whole folders, patterns; not what the compile makes."""
    lib, tree = tmp_path / "root/lib/a.libsonnet", tmp_path / "tree"
    write(folder / ".hidden", "1")
    write(tree / ".helmignore", "1")
    write(tree / "made/file", "1")
    output = folder / "compiled/nfs/config.yaml"
    watched = Watch(WatchedPaths((folder,), (folder / "compiled",), folder, (folder / "compiled",)), limits=QUICK)
    batches = begin(watched)
    recorded = Recorded(
        files={str(lib), str(folder / ".hidden"), str(output), str(folder / "component/main.jsonnet")},
        folders={str(tree): {str(tree / "made")}},
        patterns={str(tmp_path / "all-*")},
        stale={str(output)},
    )
    edits = {
        lib: "2",
        folder / ".hidden": "2",
        tree / ".helmignore": "2",
        tree / "sub/new": "2",
        tmp_path / "all-1": "",
    }
    for file, content in edits.items():
        recorded.then = lambda file=file, content=content: [  # type: ignore[misc]
            write(output, content),
            write(tree / "made/file", content),
            write(tree / ".x.swp", content),
            write(file, content),
        ]
        watched.learn(recorded)
        assert next(batches) == (watched._sources.name(str(file)),)


def test_what_is_read_no_longer_is_looked_at_no_longer(folder: Path, tmp_path: Path) -> None:
    lib = tmp_path / "lib/a.libsonnet"
    watched = watch(folder)
    batches = begin(watched)
    watched.learn(Recorded(files={str(lib), str(folder)}, then=lambda: write(lib, "1")))
    assert next(batches) == (str(lib),)
    watched.learn(Recorded(then=lambda: [write(lib, "2"), write(folder / "class/nfs.yml", "2")]))
    assert next(batches) == ("class/nfs.yml",)


def test_what_was_something_else_while_the_compile_went_on(folder: Path, tmp_path: Path) -> None:
    """The record of the reads says so. If that stays so, no further compile mends it."""
    watched = watch(folder)
    batches = begin(watched)
    lib = str(tmp_path / "lib/a.libsonnet")
    watched.learn(Recorded(files={lib}, stale={lib}))
    assert [next(batches) for _ in range(2)] == [(lib,)] * 2
    watched.learn(Recorded(files={lib}, stale={lib}, then=lambda: write(folder / "class/nfs.yml", "2")))
    assert next(batches) == ("class/nfs.yml",)


def test_an_editor_that_replaces_a_file_by_another_one_of_the_same_size_and_time(folder: Path) -> None:
    batches = begin(watch(folder))
    file, new = folder / "class/nfs.yml", folder / "class/new"
    times = file.stat()
    new.write_text("2")
    os.utime(new, ns=(times.st_atime_ns, times.st_mtime_ns))
    new.replace(file)
    assert next(batches) == ("class/nfs.yml",)


def test_what_is_fetched_does_not_count(folder: Path) -> None:
    """New folders of a run that has fetched something; an edited file of such a folder counts later."""
    watched = watch(folder)
    collected: list[Event] = []
    on_event = watched.listen(collected.append)
    batches = begin(watched)
    events = [Noted("hello"), TaskBegun("fetch", "chart", "/place", ())]
    for event in events:
        on_event(event)
    assert collected == events
    write(folder / "helmcharts/nfs/v1/Chart.yaml", "1")
    write(folder / "class/nfs.yml", "2")
    assert next(batches) == ("class/nfs.yml",)
    write(folder / "helmcharts/nfs/v1/Chart.yaml", "2")
    write(folder / "more/file", "1")
    assert next(batches) == ("helmcharts/nfs/v1/Chart.yaml", "more/file")


def test_files_and_links_from_elsewhere(folder: Path, tmp_path: Path) -> None:
    """A link's target counts, each folder once; other roots are named in full."""
    values, shared = tmp_path / ".values.yml", tmp_path / "shared"
    write(values, "1")
    write(shared / "a.libsonnet", "1")
    (folder / "lib").mkdir()
    (folder / "lib/shared").symlink_to(shared)
    (shared / "back").symlink_to(folder)
    (folder / "dangling").symlink_to(tmp_path / "nowhere")
    batches = begin(watch(folder, values, tmp_path / "later.yml"))
    write(values, "2")
    write(shared / "a.libsonnet", "2")
    write(tmp_path / "later.yml", "1")
    assert next(batches) == (str(values), str(tmp_path / "later.yml"), "lib/shared/a.libsonnet")


def test_too_many_files(folder: Path) -> None:
    watched = Watch(WatchedPaths((folder,), (), folder), limits=replace(QUICK, watched_files=2))
    with pytest.raises(InputError) as caught:
        next(watched.batches())
    assert caught.value.code == "CMD-WATCH-001"
    assert "more than 2 files" in caught.value.message


def test_read_trees(folder: Path, tmp_path: Path) -> None:
    (folder / "compiled/nfs/link.yaml").symlink_to(tmp_path)
    write(folder / "compiled/nfs/a/b.yaml", "2")
    trees = read_trees({"nfs": folder / "compiled/nfs", "gone": tmp_path / "gone"})
    assert trees == {"nfs/a/b.yaml": b"2", "nfs/config.yaml": b"1"}
