from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.core.review import FileChange, TreeChange, compare_trees
from tests.world.folders import write_files
from tests.world.repos import git


def lines(*names: str, count: int = 10) -> bytes:
    """A file of `count` lines for each name, which no file of other names shares."""
    return "".join(f"{name}: line {number}\n" for name in names for number in range(count)).encode()


def test_equal_trees_have_no_changes() -> None:
    tree = {"a.yaml": b"a: 1\n"}
    assert not compare_trees(tree, dict(tree), DEFAULT_LIMITS)
    assert compare_trees(tree, {}, DEFAULT_LIMITS)
    assert compare_trees({}, tree, DEFAULT_LIMITS)


def test_changes_are_grouped_by_kind_and_ordered_by_path() -> None:
    old = {"z.yaml": lines("z"), "b.yaml": lines("b"), "m2": b"1", "m1": b"1", "from": lines("moved"), "same": b"x"}
    new = {"y.yaml": lines("y"), "a.yaml": lines("a"), "m2": b"2", "m1": b"2", "to": lines("moved"), "same": b"x"}
    assert compare_trees(old, new, DEFAULT_LIMITS).files == (
        FileChange("deleted", "b.yaml", "b.yaml"),
        FileChange("deleted", "z.yaml", "z.yaml"),
        FileChange("added", "a.yaml", "a.yaml"),
        FileChange("added", "y.yaml", "y.yaml"),
        FileChange("renamed", "from", "to", 100.0),
        FileChange("modified", "m1", "m1"),
        FileChange("modified", "m2", "m2"),
    )


def test_a_file_is_renamed_from_half_its_content_on() -> None:
    """Lines of equal length: five of ten stay, or four."""
    old = {"old.yaml": lines("a", "b", count=5)}
    assert compare_trees(old, {"new.yaml": lines("a", "c", count=5)}, DEFAULT_LIMITS).files == (
        FileChange("renamed", "old.yaml", "new.yaml", 50.0),
    )
    less = {"new.yaml": b"".join(lines("a", count=5).splitlines(keepends=True)[:4]) + lines("d", count=6)}
    assert [change.kind for change in compare_trees(old, less, DEFAULT_LIMITS).files] == ["deleted", "added"]


def test_the_most_similar_file_is_the_renamed_one() -> None:
    old = {"old": lines("a", "b", "c", "d")}
    new = {"1": lines("a", "b", "x", "y"), "2": lines("a", "b", "c", "y")}
    assert compare_trees(old, new, DEFAULT_LIMITS).files == (
        FileChange("added", "1", "1"),
        FileChange("renamed", "old", "2", 75.0),
    )


def test_of_equal_candidates_the_one_with_the_same_name_wins() -> None:
    content = lines("a")
    old = {"one/a.yaml": content, "one/b.yaml": content}
    new = {"two/b.yaml": content, "two/c.yaml": content}
    assert compare_trees(old, new, DEFAULT_LIMITS).files == (
        FileChange("renamed", "one/a.yaml", "two/c.yaml", 100.0),
        FileChange("renamed", "one/b.yaml", "two/b.yaml", 100.0),
    )


def test_a_long_line_can_be_similar_to_another() -> None:
    old, new = {"a": b"".join(b"%06d," % n for n in range(100))}, {}
    new["b"] = old["a"][:500] + b"x" * 200
    (change,) = compare_trees(old, new, DEFAULT_LIMITS).files
    assert change.kind == "renamed"
    assert 60 < change.similarity < 75


def test_with_too_many_pairs_only_unchanged_content_is_recognised() -> None:
    old = {f"old{n}": lines(f"n{n}") for n in range(4)}
    new = {f"new{n}": lines(f"n{n}") + b"more\n" for n in range(3)} | {"new3": lines("n3")}
    result = compare_trees(old, new, limits=Limits(rename_pairs=8)).files
    assert [change.kind for change in result].count("renamed") == 1
    result = compare_trees(old, new, limits=Limits(rename_pairs=9)).files
    assert [change.kind for change in result].count("renamed") == 4


class LazyTree(Mapping[str, bytes]):
    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.read: list[str] = []

    def __getitem__(self, path: str) -> bytes:
        self.read.append(path)
        return self.files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)


def test_content_is_read_once_where_it_is_needed() -> None:
    old = LazyTree({"a": b"1", "gone": b"g"})
    new = LazyTree({"a": b"2", "come": b"other"})
    assert len(compare_trees(old, new, DEFAULT_LIMITS).files) == 3
    assert sorted(old.read) == ["a", "gone"]
    assert sorted(new.read) == ["a", "come"]


@pytest.mark.parametrize(
    ("arguments", "change"),
    [
        (("M", "a"), FileChange("modified", "a", "a")),
        (("A", "a"), FileChange("added", "a", "a")),
        (("D", "a"), FileChange("deleted", "a", "a")),
        (("T", "a"), FileChange("type-changed", "a", "a")),
        (("R087", "a", "b"), FileChange("renamed", "a", "b", 87.0)),
        (("C100", "a", "b"), FileChange("copied", "a", "b", 100.0)),
    ],
)
def test_changes_as_git_reports_them(arguments: tuple[str, ...], change: FileChange) -> None:
    assert FileChange.of_git(*arguments) == change


@pytest.mark.parametrize("status", ["U", "X", "", "?"])
def test_other_git_states_are_no_change(status: str) -> None:
    with pytest.raises(ValueError, match="unexpected git status"):
        FileChange.of_git(status, "a")


def test_git_sees_the_same_renames(tmp_path: Path) -> None:
    old = {
        "cm/a.yaml": lines("a", "b", "c"),
        "cm/moved.yaml": lines("m"),
        "cm/gone.yaml": lines("g"),
        "cm/kept.yaml": lines("k"),
        "x/one.yaml": lines("o", "p", "q", "r"),
    }
    new = {
        "cm/b.yaml": lines("a", "b", "z"),
        "sub/moved.yaml": lines("m"),
        "cm/kept.yaml": lines("k", "l"),
        "x/fresh.yaml": lines("f"),
        "y/one.yaml": lines("o", "p", "q", "s"),
        "y/two.yaml": lines("o", "p", "s", "t"),
    }
    git(tmp_path, "init", "-q")
    for tree in (old, new):
        git(tmp_path, "rm", "-rq", "--ignore-unmatch", ".")
        write_files(tmp_path, tree)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", "x")
    reported = git(tmp_path, "diff", "--name-status", "-M", "HEAD~1", "HEAD").splitlines()
    expected = TreeChange.of(FileChange.of_git(*line.split("\t")) for line in reported)
    ours = compare_trees(old, new, DEFAULT_LIMITS)
    assert [(c.kind, c.old_path, c.new_path, int(c.similarity)) for c in ours.files] == [
        (c.kind, c.old_path, c.new_path, int(c.similarity)) for c in expected.files
    ]
