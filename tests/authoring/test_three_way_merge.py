"""The three-way merge of files."""

from __future__ import annotations

import pytest

from commodore.authoring.rendering import EXECUTABLE, LINK, PLAIN, File
from commodore.authoring.three_way_merge import Merge, MergeConflict, merge, without
from tests.world.context import make_context

A, B, C = File(b"a\n"), File(b"b\n"), File(b"c\n")
LINES = b"".join(b"%d\n" % number for number in range(1, 21))


def test_what_the_template_left_alone_is_left_alone() -> None:
    assert merge({"x": A}, {"x": B}, {"x": A}, make_context()) == Merge()
    assert merge({"x": A}, {}, {"x": A}, make_context()) == Merge()


def test_changes_of_the_template_alone() -> None:
    assert merge({"x": A}, {"x": A}, {"x": B}, make_context()) == Merge(writes={"x": B})
    assert merge({}, {}, {"x": B}, make_context()) == Merge(writes={"x": B})
    assert merge({"x": A}, {"x": A}, {}, make_context()) == Merge(removals=["x"])


def test_the_same_change_on_both_sides() -> None:
    assert merge({"x": A}, {"x": B}, {"x": B}, make_context()) == Merge()
    assert merge({}, {"x": B}, {"x": B}, make_context()) == Merge()
    assert merge({"x": A}, {}, {}, make_context()) == Merge()


def test_deleted_files_stay_deleted() -> None:
    assert merge({"x": A}, {}, {"x": B}, make_context()) == Merge()


@pytest.mark.tools
def test_changes_in_different_places_are_merged() -> None:
    mine, now = LINES.replace(b"18\n", b"eighteen\n"), LINES.replace(b"\n3\n", b"\nthree\n")
    merged = merge({"x": File(LINES)}, {"x": File(mine)}, {"x": File(now)}, make_context())
    assert merged == Merge(writes={"x": File(mine.replace(b"\n3\n", b"\nthree\n"))})


@pytest.mark.tools
def test_changes_in_the_same_place_are_marked() -> None:
    marked = File(b"<<<<<<< yours\nb\n=======\nc\n>>>>>>> template now\n")
    assert merge({"x": A}, {"x": B}, {"x": C}, make_context()) == Merge(conflicts={"x": MergeConflict(A, B, C, marked)})
    assert merge({}, {"x": B}, {"x": C}, make_context()) == Merge(conflicts={"x": MergeConflict(None, B, C, marked)})


def test_changed_here_and_deleted_there_keeps_the_authors() -> None:
    assert merge({"x": A}, {"x": B}, {}, make_context()) == Merge(conflicts={"x": MergeConflict(A, B, None, B)})


def test_what_is_no_text_keeps_the_authors() -> None:
    for mine in (File(b"\0mine"), File(b"target", LINK)):
        assert merge({"x": A}, {"x": mine}, {"x": C}, make_context()) == Merge(
            conflicts={"x": MergeConflict(A, mine, C, mine)}
        )


@pytest.mark.tools
def test_modes_are_merged_too() -> None:
    plain, executable = File(LINES, PLAIN), File(LINES, EXECUTABLE)
    mine = File(LINES + b"mine\n", PLAIN)
    assert merge({"x": plain}, {"x": mine}, {"x": executable}, make_context()).writes == {
        "x": File(mine.content, EXECUTABLE)
    }
    own = File(LINES + b"mine\n", EXECUTABLE)
    now = File(b"zero\n" + LINES, PLAIN)
    assert merge({"x": plain}, {"x": own}, {"x": now}, make_context()).writes == {
        "x": File(b"zero\n" + own.content, EXECUTABLE)
    }


@pytest.mark.tools
def test_line_ends_survive() -> None:
    base, mine, now = (File(text.replace(b"\n", b"\r\n")) for text in (LINES, b"0\n" + LINES, LINES + b"21"))
    assert (
        merge({"x": base}, {"x": mine}, {"x": now}, make_context()).writes["x"].content
        == b"0\r\n" + LINES.replace(b"\n", b"\r\n") + b"21"
    )


def test_skips() -> None:
    files = {"a": A, "d/a": A, "d/e/a": A, "x.md": A, "d/x.md": A, "de": A}
    assert sorted(without(files, ("a", "d/e/"))) == ["d/a", "d/x.md", "de", "x.md"]
    assert sorted(without(files, ("*.md", "d/a"))) == ["a", "d/e/a", "de"]
