"""Telling what has changed, and what has not."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.errors import InputError
from commodore.events import Event, Noted, TaskBegun
from commodore.limits import DEFAULT_LIMITS
from commodore.watching import Sources, Watch, read_trees

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
    return Watch(Sources((folder, *roots), (folder / "compiled",), folder), limits=QUICK)


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


def test_a_file_that_is_written_with_the_content_it_had_has_not_changed(folder: Path) -> None:
    """Renders write into components: what kustomize reads, and charts that are patched."""
    batches = begin(watch(folder))
    (folder / "component/main.jsonnet").unlink()
    write(folder / "component/main.jsonnet", "1")
    os.utime(folder / "class/nfs.yml", (1, 1))
    write(folder / "class/other.yml", "2")
    assert next(batches) == ("class/other.yml",)


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
    heard: list[Event] = []
    hear = watched.listen(heard.append)
    batches = begin(watched)
    events = [Noted("hello"), TaskBegun("fetch", "chart", "/place", ())]
    for event in events:
        hear(event)
    assert heard == events
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
    watched = Watch(Sources((folder,), (), folder), limits=replace(QUICK, watched_files=2))
    with pytest.raises(InputError) as caught:
        next(watched.batches())
    assert caught.value.code == "CMD-WATCH-001"
    assert "more than 2 files" in caught.value.message


def test_read_trees(folder: Path, tmp_path: Path) -> None:
    (folder / "compiled/nfs/link.yaml").symlink_to(tmp_path)
    write(folder / "compiled/nfs/a/b.yaml", "2")
    found = read_trees({"nfs": folder / "compiled/nfs", "gone": tmp_path / "gone"})
    assert found == {"nfs/a/b.yaml": b"2", "nfs/config.yaml": b"1"}
