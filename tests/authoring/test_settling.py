"""Conflicts of updates that nobody is there to resolve."""

from __future__ import annotations

import pytest

from commodore.authoring.rendering import EXECUTABLE, LINK, File
from commodore.authoring.three_way_merge import merge, settle
from tests.world.context import make_context


def text(content: str, mode: str = "100644") -> File:
    return File(content.encode(), mode)


def test_without_conflicts_nothing_changes() -> None:
    merged = merge({}, {}, {"a": text("a\n")}, make_context())
    settled, rejected = settle(merged, make_context())
    assert (settled.writes, settled.removals, rejected) == ({"a": text("a\n")}, [], "")


@pytest.mark.tools
def test_what_conflicts_is_kept_and_the_rest_is_taken() -> None:
    lines = [f"{number}\n" for number in range(12)]
    mine = ["mine\n", *lines[1:]]
    now = ["now\n", *lines[1:11], "end\n"]
    merged = merge(
        {"f": text("".join(lines))}, {"f": text("".join(mine))}, {"f": text("".join(now), EXECUTABLE)}, make_context()
    )
    settled, rejected = settle(merged, make_context())
    assert settled.conflicts == {}
    assert settled.writes == {"f": text("".join([*mine[:11], "end\n"]), EXECUTABLE)}
    assert rejected == "--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n-mine\n+now\n 1\n 2\n 3\n"


@pytest.mark.tools
def test_a_file_that_is_kept_as_it_is_is_not_written() -> None:
    settled, rejected = settle(
        merge({"f": text("a\n")}, {"f": text("b\n")}, {"f": text("c")}, make_context()), make_context()
    )
    assert not settled
    assert rejected == "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-b\n+c\n\\ No newline at end of file\n"


@pytest.mark.tools
def test_a_new_file_of_both_sides() -> None:
    settled, rejected = settle(merge({}, {"f": text("b\n")}, {"f": text("c\n")}, make_context()), make_context())
    assert not settled
    assert "-b\n+c\n" in rejected


def test_a_file_that_the_template_deletes_stays() -> None:
    settled, rejected = settle(merge({"f": text("a\n")}, {"f": text("b\n")}, {}, make_context()), make_context())
    assert not settled
    assert rejected == "--- a/f\n+++ /dev/null\n(changed here, deleted by the template)\n"


def test_what_is_no_text_stays() -> None:
    base, ours, theirs = ({"f": File(content), "l": File(content, LINK)} for content in (b"\0a", b"\0b", b"\0c"))
    settled, rejected = settle(merge(base, ours, theirs, make_context()), make_context())
    assert not settled
    assert rejected.count("(not text)") == 2


def test_names_of_files_cannot_steer_a_terminal() -> None:
    _, rejected = settle(merge({"\x1b[2J": text("a\n")}, {"\x1b[2J": text("b\n")}, {}, make_context()), make_context())
    assert rejected.startswith("--- a/?[2J\n")
