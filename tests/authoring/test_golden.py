"""Trees are compared by their bytes, and differences are reported by objects."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commodore.authoring.golden import compare, read_tree, update_golden
from commodore.base.errors import EnvironmentFault, InputError
from commodore.base.limits import DEFAULT_LIMITS
from tests.authoring.suite_world import snapshot, write


def config(name: str, **data: str) -> str:
    lines = "".join(f"  {key}: {value}\n" for key, value in data.items())
    return f"apiVersion: v1\ndata:\n{lines}kind: ConfigMap\nmetadata:\n  name: {name}\n"


def told(golden: str, compiled: str, path: str = "demo/a.yaml") -> list[tuple[str, str]]:
    differences = compare({path: golden.encode()}, {path: compiled.encode()}, DEFAULT_LIMITS)
    return [(difference.kind, str(difference)) for difference in differences]


def test_equal_bytes_are_no_difference() -> None:
    assert compare({"a": b"\xff", "b": b""}, {"a": b"\xff", "b": b""}, DEFAULT_LIMITS) == ()


def test_objects_are_told_apart_by_their_identity() -> None:
    old = f"{config('same', x='y')}---\n{config('gone', x='y')}---\n{config('changed', x='one')}"
    new = f"{config('new', x='y')}---\n{config('changed', x='two')}---\n{config('same', x='y')}"
    assert told(old, new) == [
        ("removed", "ConfigMap gone in demo/a.yaml"),
        ("added", "ConfigMap new in demo/a.yaml"),
        ("changed", "ConfigMap changed in demo/a.yaml"),
    ]


def test_what_changed_is_a_diff_of_the_object_alone() -> None:
    padding = "---\n".join(config(f"other-{number}", x="y") for number in range(20))
    (difference,) = compare(
        {"a.yaml": f"{padding}---\n{config('demo', x='one')}".encode()},
        {"a.yaml": f"{padding}---\n{config('demo', x='two')}".encode()},
        DEFAULT_LIMITS,
    )
    assert [line.text for line in difference.lines] == [
        "@@ -1,6 +1,6 @@",
        " apiVersion: v1",
        " data:",
        "-  x: one",
        "+  x: two",
        " kind: ConfigMap",
        " metadata:",
        "   name: demo",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (config("demo", x="y"), config("demo", x="'y'")),  # another form of the same
        ("a: b\n", "a: c\n"),  # no object
        (f"{config('twice')}---\n{config('twice')}", config("twice")),  # nothing distinguishes them
        (config("demo"), "{"),  # no YAML
        ("plain", "text"),
        ("", config("demo", x="y")),
    ],
)
def test_everything_else_is_a_diff_of_the_text(old: str, new: str) -> None:
    """Whatever differs in a byte is shown in some way."""
    (difference,) = compare({"a.yaml": old.encode()}, {"a.yaml": new.encode()}, DEFAULT_LIMITS)
    assert (difference.kind, difference.object) == ("text", None)
    assert difference.lines


def test_binary_files_are_told() -> None:
    (difference,) = compare({"a": b"\0a"}, {"a": b"\0b"}, DEFAULT_LIMITS)
    assert [line.style for line in difference.lines] == ["summary"]


def test_files_that_came_and_went_are_told_by_their_objects() -> None:
    both = f"{config('one')}---\n{config('two', **{f'k{n}': 'v' for n in range(9)})}"
    differences = compare(
        {"old.yaml": both.encode(), "old.txt": b"text"}, {"new.yaml": config("three").encode()}, DEFAULT_LIMITS
    )
    assert [(difference.kind, str(difference)) for difference in differences] == [
        ("removed", "old.txt"),
        ("removed", "ConfigMap one in old.yaml"),
        ("removed", "ConfigMap two in old.yaml"),
        ("added", "ConfigMap three in new.yaml"),
    ]


def test_a_moved_file_is_told_as_one() -> None:
    content = config("demo", **{f"k{number}": "v" for number in range(9)})
    differences = compare({"old.yaml": content.encode()}, {"new.yaml": content.encode()}, DEFAULT_LIMITS)
    assert [(difference.kind, difference.file) for difference in differences] == [("moved", "old.yaml => new.yaml")]
    changed = content.replace("k1: v", "k1: w").encode()
    differences = compare({"old.yaml": content.encode()}, {"new.yaml": changed}, DEFAULT_LIMITS)
    assert [difference.kind for difference in differences] == ["moved", "changed"]


def test_links_count_as_their_targets_and_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"tree/a": "x", "outside/secret": "y"})
    (tmp_path / "tree" / "file").symlink_to("a")
    (tmp_path / "tree" / "folder").symlink_to("../outside")
    (tmp_path / "tree" / "empty").mkdir()
    assert read_tree(tmp_path / "tree") == {"a": b"x", "file": b"a", "folder": b"../outside"}
    assert read_tree(tmp_path / "nothing") == {}


def test_an_update_leaves_nothing_of_the_old_tree(tmp_path: Path) -> None:
    write(tmp_path, {"golden/old/deep/a.yaml": "a", "golden/both.yaml": "a", "compiled/new/deep/b.yaml": "b"})
    write(tmp_path, {"compiled/both.yaml": "b", "compiled/run": "#!/bin/sh"})
    (tmp_path / "compiled" / "run").chmod(0o700)
    (tmp_path / "compiled" / "link").symlink_to("run")
    mask = os.umask(0o077)
    try:
        update_golden(tmp_path / "compiled", tmp_path / "golden")
    finally:
        os.umask(mask)
    assert snapshot(tmp_path / "golden") == {
        "new/deep/b.yaml": b"b",
        "both.yaml": b"b",
        "run": b"#!/bin/sh",
        "link": b"#!/bin/sh",
    }
    modes = {path.name: path.lstat().st_mode & 0o777 for path in (tmp_path / "golden").rglob("*")}
    assert modes == {"new": 0o755, "deep": 0o755, "b.yaml": 0o644, "both.yaml": 0o644, "run": 0o755, "link": 0o777}
    assert os.readlink(tmp_path / "golden" / "link") == "run"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["compiled", "golden"]


def test_what_is_no_file_is_told_and_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"golden/a.yaml": "a", "compiled/a.yaml": "b"})
    os.mkfifo(tmp_path / "compiled" / "pipe")
    with pytest.raises(InputError) as caught:
        read_tree(tmp_path / "compiled")
    assert caught.value.code == "CMD-TEST-007"
    with pytest.raises(EnvironmentFault):
        update_golden(tmp_path / "compiled", tmp_path / "golden")
    assert snapshot(tmp_path / "golden") == {"a.yaml": b"a"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["compiled", "golden"]
