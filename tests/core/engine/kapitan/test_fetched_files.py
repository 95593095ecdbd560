"""Files that a source does not have any more are removed; files of users are kept."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from commodore.base.files.sealed import seal, write_note
from commodore.core.engine.cache.fetched_files import FetchedFiles
from tests.core.engine.world import Kept, World, jsonnet
from tests.world.repos import GitWorld


def fetch(root: Path, *fetched: Mapping[str, str], complete: bool = True) -> None:
    """Put files where fetching would put them: each of these maps, paths to texts, is an output `f<n>`."""
    outputs = [root / f"f{number}" for number in range(len(fetched))]
    files = FetchedFiles(root, outputs)
    for output, texts in zip(outputs, fetched, strict=True):
        for name, text in texts.items():
            file = output / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)
            file.write_text(text)
    files.conclude(complete=complete)


def files(root: Path) -> list[str]:
    """Everything in the outputs; folders end in `/`."""
    return sorted(f"{path.relative_to(root)}{'/' if path.is_dir() else ''}" for path in root.glob("f*/**/*"))


def test_what_is_not_fetched_again_goes(tmp_path: Path) -> None:
    """With the folders that are empty then."""
    fetch(tmp_path, {"a": "1", "b": "1", "deep/er/c": "1", "deep/d": "1", "e/f": "1"})
    fetch(tmp_path, {"a": "1", "deep/d": "2"})
    assert files(tmp_path) == ["f0/a", "f0/deep/", "f0/deep/d"]
    fetch(tmp_path, {})
    assert files(tmp_path) == []
    assert (tmp_path / "f0").is_dir()


def test_what_is_somebodys_stays(tmp_path: Path) -> None:
    """Files that were never fetched, were edited, got another mode, or were replaced by a link."""
    fetch(tmp_path, {"edited": "1", "mode": "1", "link": "1", "gone": "1", "twice": "1"})
    folder = tmp_path / "f0"
    (folder / "own").write_text("mine")
    (folder / "edited").write_text("2")
    (folder / "mode").chmod(0o600)
    (folder / "link").unlink()
    (folder / "link").symlink_to("own")
    (folder / "twice").unlink()
    fetch(tmp_path, {"a": "1"})
    fetch(tmp_path, {"a": "1"})
    assert files(tmp_path) == ["f0/a", "f0/edited", "f0/link", "f0/mode", "f0/own"]


def test_a_fetch_that_fails_removes_nothing(tmp_path: Path) -> None:
    """The next one knows what both have put there."""
    fetch(tmp_path, {"a": "1", "b": "1"})
    fetch(tmp_path, {"a": "1", "c": "1"}, complete=False)
    assert files(tmp_path) == ["f0/a", "f0/b", "f0/c"]
    fetch(tmp_path, {"a": "1"})
    assert files(tmp_path) == ["f0/a"]


def test_what_another_dependency_has_put_there_stays(tmp_path: Path) -> None:
    """One may be fetched into the folder of another one, and not in the same run."""
    inner = FetchedFiles(tmp_path, [tmp_path / "f0", tmp_path / "f0" / "inner"])
    (tmp_path / "f0" / "inner").mkdir(parents=True)
    (tmp_path / "f0" / "inner" / "x").write_text("1")
    inner.conclude(complete=True)
    fetch(tmp_path, {"a": "1"})
    assert files(tmp_path) == ["f0/a", "f0/inner/", "f0/inner/x"]


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"output": 1}', '{"output": "OUT", "files": {"b": "x"}}'])
@pytest.mark.parametrize("sealed", [True, False])
def test_damaged_notes_do_not_matter(tmp_path: Path, content: str, sealed: bool) -> None:
    fetch(tmp_path, {"a": "1", "b": "1"})
    (note,) = (tmp_path / ".commodore" / "fetched").iterdir()
    text = content.replace("OUT", str(tmp_path / "f0")).encode()
    note.write_bytes(seal(("fetched", note.name), text) if sealed else text)
    fetch(tmp_path, {"a": "1"})
    assert files(tmp_path) == ["f0/a", "f0/b"]
    fetch(tmp_path, {})
    assert files(tmp_path) == ["f0/b"]


def test_names_that_lead_elsewhere_are_not_followed(tmp_path: Path) -> None:
    """A note names nothing that does not lie in its folder."""
    fetch(tmp_path, {"a": "1"})
    outside = tmp_path / "outside"
    outside.write_text("mine")
    status = outside.stat()
    (note,) = (tmp_path / ".commodore" / "fetched").iterdir()
    stamp = [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
    write_note(note, {"output": str(tmp_path / "f0"), "files": {"../outside": stamp}}, "fetched")
    fetch(tmp_path, {"a": "2"})
    assert outside.read_text() == "mine"


def test_notes_that_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / ".commodore").write_text("")
    fetch(tmp_path, {"a": "1"})
    fetch(tmp_path, {"b": "1"})
    assert files(tmp_path) == ["f0/a", "f0/b"]


@pytest.mark.parametrize("kept_before", [True, False])
def test_what_was_taken_from_the_cache_is_noted_as_well(kept: Kept, tmp_path: Path, kept_before: bool) -> None:
    """In a working directory that has rendered nothing, and in one that has."""
    remote = GitWorld(tmp_path / "remotes").remote("fetched", {"files/a.txt": "a", "files/b.txt": "b"})
    fields = {"source": remote.url, "ref": "master", "subdir": "files", "output_path": "fetched"}

    def world(name: str) -> World:
        made = World(tmp_path / name, kept.engine, [])
        made.write("dependencies/a/main.jsonnet", "{ out: std.native('dir_files_read')('fetched') }")
        made.add("a", jsonnet("a/main.jsonnet"), kapitan={"dependencies": [{"type": "git", **fields}]})
        return made

    if kept_before:
        world("other").compile()
    used = world("used")
    assert [instance.reused for instance in used.compile()] == [kept_before]
    remote.commit({"files/b.txt": None})
    used.compile()
    assert os.listdir(used.root / "fetched") == ["a.txt"]
    assert used.read("a/out.yaml") == "a.txt: a\n"
