"""Names of places, and digests of what lies there."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.core.engine.cache.portable_paths import (
    UNREADABLE,
    PortablePaths,
    empty_digest,
    file_digest,
    kind_of,
    names_at,
    tree_digest,
    value_at,
    value_digest,
)
from commodore.core.engine.cache.trace import TraceRecorder


def places(root: str = "/work/one") -> PortablePaths:
    roots = {"root": Path(root), "component": Path(root, "dependencies/app")}
    return PortablePaths(roots, (Path(root, "staging"),), (Path("/usr/lib/program"),))


def test_names_belong_to_the_longest_folder_and_lead_back() -> None:
    first, two = places(), places("/far/away")
    assert first.name("/work/one/dependencies/app/x") == "component:x"
    assert first.name("/work/one/dependencies/apple/x") == "root:dependencies/apple/x"
    assert first.name("/work/one-more/x") == ":/work/one-more/x"
    assert first.name("/work/one/a/../b") == "root:b"
    assert first.name("/work/one/staging/x") is first.name("/usr/lib/program/x") is None
    assert first.name("/work/one/staging-more/x") == "root:staging-more/x"
    for path in ("/work/one/dependencies/app/x", "/work/one/y", "/etc/z"):
        name = first.name(path)
        assert name is not None
        assert first.path(name) == path
        assert two.name(two.path(name)) == name


@pytest.mark.parametrize(
    "text", ["/work/one/x", "-f /work/one", "A=/work/one/dependencies/app:/bin", "'/work/one'", "/work/one"]
)
def test_texts_are_the_same_elsewhere(text: str) -> None:
    moved = text.replace("/work/one", "/far/away")
    assert places().portable(text) == places("/far/away").portable(moved) != text


@pytest.mark.parametrize("text", ["/work/one-more", "/old/work/one", "/work/one.old/x", "/work/onetwo", "x/work/one"])
def test_texts_that_only_look_alike_stay(text: str) -> None:
    assert places().portable(text) == text


def test_values_differ_by_type_and_order() -> None:
    different: list[Any] = [1, 1.0, True, "1", None, [], {}, [1], {"a": 1}, {"a": 1, "b": 2}, {"b": 2, "a": 1}]
    assert len({value_digest(value) for value in different}) == len(different)
    node = {"parameters": {"app": {"x": None}, "text": "x"}}
    assert value_at(node, ["parameters", "app", "x"]) != value_at(node, ["parameters", "app", "y"])
    assert value_at(node, ["parameters", "text", "x"]) == value_at(node, ["parameters", "app", "y"])
    assert names_at(node, ["parameters", "app"]) != names_at(node, ["parameters", "text"])


def link(folder: Path, target: str) -> None:
    (folder / "link").unlink()
    (folder / "link").symlink_to(target)


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda f: (f / "sub/file").write_text("other"),
    "an executable": lambda f: (f / "sub/file").chmod(0o755),
    "a new file": lambda f: (f / "new").touch(),
    "a new folder": lambda f: (f / "new").mkdir(),
    "a name": lambda f: (f / "sub/file").rename(f / "sub/File"),
    "a file that becomes a folder": lambda f: (f / "sub").rename((f / "empty").rename(f / "old").with_name("empty")),
    "the target of a link": lambda f: link(f, "empty"),
    "a link that leads nowhere": lambda f: link(f, "nowhere"),
    "what a link leads to": lambda f: (f.parent / "outside").write_text("other"),
    "a git folder": lambda f: (f / ".git/config").write_text("other"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "folder"
    for name in ("sub", ".git"):
        (root / name).mkdir(parents=True)
    (root / "sub/file").write_text("text")
    (root / "sub/file").chmod(0o644)
    (root / "empty").touch()
    (root / ".git/config").write_text("x")
    (tmp_path / "outside").write_text("outside")
    (root / "link").symlink_to("../outside")
    (root / "loop").symlink_to(".")
    return root


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_every_change_of_a_tree_shows(folder: Path, change: str) -> None:
    before = tree_digest(str(folder))
    assert tree_digest(str(folder)) == before != empty_digest()
    CHANGES[change](folder)
    assert tree_digest(str(folder)) not in (before, UNREADABLE)


def test_times_and_what_is_left_out_do_not_show(folder: Path) -> None:
    def left_out(path: str) -> bool:
        return path.endswith("/sub")

    before, without = tree_digest(str(folder)), tree_digest(str(folder), left_out)
    os.utime(folder / "empty", (1, 1))
    assert tree_digest(str(folder)) == before
    (folder / "sub/file").write_text("other")
    assert tree_digest(str(folder), left_out) == without


def test_what_is_no_file(folder: Path) -> None:
    kinds = {kind_of(str(folder / name)) for name in ("sub", "empty", "none")}
    (folder / "dangling").symlink_to("none")
    assert len(kinds | {kind_of(str(folder / "dangling"))}) == 4
    (folder / "none").touch()
    assert kind_of(str(folder / "dangling")) == kind_of(str(folder / "empty"))
    digests = {file_digest(str(folder / name)) for name in ("sub", "empty", "missing", "empty/x")}
    assert len(digests) == 3
    (folder / "sub" / "socket").unlink(missing_ok=True)
    os.mkfifo(folder / "sub" / "fifo")
    assert stat.S_ISFIFO((folder / "sub" / "fifo").stat().st_mode)
    assert tree_digest(str(folder)) == UNREADABLE


def test_what_cannot_be_read_is_not_kept(folder: Path) -> None:
    """Two things that cannot be read are not the same thing."""
    os.mkfifo(folder / "fifo")
    reads = TraceRecorder("app", places(str(folder.parent)), None)
    reads.tree(str(folder))
    assert "cannot be read" in reads.refusal


def test_a_way_up_through_a_link_is_not_kept(tmp_path: Path) -> None:
    """`link/../file` is a file in the parent of the link's target, not in that of the link."""
    (tmp_path / "far/folder").mkdir(parents=True)
    (tmp_path / "far/file").write_text("far")
    (tmp_path / "file").write_text("near")
    (tmp_path / "link").symlink_to("far/folder")
    reads = TraceRecorder("app", places(str(tmp_path)), None)
    reads.file(f"{tmp_path}/far/../file")
    assert not reads.refusal
    reads.file(f"{tmp_path}/link/../file")
    assert reads.refusal


def test_what_changes_while_it_is_read_is_not_kept(tmp_path: Path) -> None:
    reads = TraceRecorder("app", places(str(tmp_path)), None)
    (tmp_path / "file").write_text("one")
    reads.file(str(tmp_path / "file"))
    reads.file(str(tmp_path / "file"))
    assert not reads.refusal
    (tmp_path / "file").write_text("two")
    reads.file(str(tmp_path / "file"))
    assert "changed" in reads.refusal


def test_how_folders_lie_to_each_other_has_no_place(tmp_path: Path) -> None:
    first, two = places(str(tmp_path / "one")), places("/far/away")
    assert first.layout == two.layout
    assert dict(first.layout)["component"] == "root:dependencies/app"
    roots = {"root": Path("/far/away"), "component": Path("/far/away/app")}
    assert PortablePaths(roots, ()).layout != first.layout
    refs = Path("/far/away/refs/cluster")
    assert PortablePaths({**roots, "refs": refs}, ()).layout == PortablePaths(roots, ()).layout


def test_an_instance_takes_over_what_its_part_has_read(tmp_path: Path) -> None:
    """Files that it has written or fetched itself are not in its own record, but in that of the part."""
    for name in ("plain", "made", "own/file", "fetched/file", "folder/made", "folder/plain"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("fetched")
    roots = {"root": tmp_path}
    whole = TraceRecorder("app", PortablePaths(roots, (tmp_path / "own",)), None)
    part = TraceRecorder("app", PortablePaths({**roots, "own": tmp_path / "own"}, ()), None)
    whole.written(f"{tmp_path}/made")
    whole.written(f"{tmp_path}/folder/made")
    whole.fetched([f"{tmp_path}/fetched"])
    for name in ("plain", "made", "own/file", "fetched/file", "link/file"):
        part.file(f"{tmp_path}/{name}")
    part.tree(f"{tmp_path}/folder")
    part.note(("tool", "x"), "1")
    inputs = part.conclude()
    assert len(inputs) == 7
    whole.absorb(inputs, part.places)
    kinds = {key[:2] for key in whole.conclude()}
    assert kinds == {
        ("file", "root:plain"),
        ("tree", "root:folder"),
        ("way", "root:link/file"),
        ("tool", "x"),
        ("written", "root:made"),
        ("written", "root:folder/made"),
    }
    assert ("tree", "root:folder", "root:folder/made") in whole.digests
    assert not whole.refusal
    (tmp_path / "folder/made").write_text("changed")
    whole.absorb(inputs, part.places)
    assert "changed" in whole.refusal


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    assert file_digest(str(tmp_path / ("x" * 300))) == UNREADABLE
