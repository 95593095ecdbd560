"""The list of repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.authoring.sync.list_file import read_list
from commodore.authoring.sync.model import Item
from commodore.base.errors import CommodoreError
from commodore.base.events import Event, Warned
from commodore.base.limits import Limits
from tests.world.context import make_context


def read(
    path: Path,
    content: str | bytes,
    expression: str = "",
    collected: list[Event] | None = None,
    limits: Limits | None = None,
) -> list[Item]:
    path = path / "list.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_list(
        path,
        expression,
        make_context(announce=(collected if collected is not None else []).append, limits=limits or Limits()),
    )


def test_entries_keep_their_order(tmp_path: Path) -> None:
    items = read(tmp_path, "- b/two\n- a/one.x\n- a_b/-three_\n")
    assert items == [Item(1, "b/two"), Item(2, "a/one.x"), Item(3, "a_b/-three_")]


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("a: 1", "CMD-SYNC-003", "a dict"),
        ("text", "CMD-SYNC-003", "a str"),
        ("", "CMD-SYNC-003", "a nonetype"),
        ("- a/b\n---\n- c/d\n", "CMD-YAML-001", ""),
        ("- [", "CMD-YAML-001", ""),
        (b"\xff\xfe\xff", "CMD-YAML-001", ""),
    ],
)
def test_what_is_no_list(tmp_path: Path, content: str | bytes, code: str, words: str) -> None:
    with pytest.raises(CommodoreError) as caught:
        read(tmp_path, content)
    assert caught.value.code == code
    assert words in caught.value.message
    assert caught.value.exit_code == 1


def test_a_list_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CommodoreError) as caught:
        read_list(tmp_path / "none.yaml", "", make_context(announce=print))
    assert caught.value.code == "CMD-SYNC-002"
    with pytest.raises(CommodoreError) as caught:
        read(tmp_path, "- a/b\n", limits=Limits(sync_list_bytes=5))
    assert caught.value.code == "CMD-SYNC-002"


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ("name", "'name'"),
        ("a/b/c", "'a/b/c'"),
        ("/b", "'/b'"),
        ("a/", "'a/'"),
        ("a/..", "'a/..'"),
        ("-a/b", "'-a/b'"),
        ("a/b c", "'a/b c'"),
        ("'a/b\\n'", "'a/b"),
        ("https://github.com/a/b", "'https://github.com/a/b'"),
        ("3", "'3' (a int)"),
        ("null", "'None' (a nonetype)"),
        ("{a: b}", "a dict"),
        ("[a]", "a list"),
    ],
)
def test_a_bad_entry_is_an_item_with_an_error(tmp_path: Path, entry: str, shown: str) -> None:
    first, second = read(tmp_path, f"- good/one\n- {entry}\n")
    assert first.error is None
    assert second.error is not None
    assert second.error.code == "CMD-SYNC-004"
    assert f"entry 2 of {tmp_path}/list.yaml, {shown}" in second.error.message
    assert second.error.message.isprintable()


def test_repositories_that_are_listed_twice_are_looked_at_once(tmp_path: Path) -> None:
    collected: list[Event] = []
    assert read(tmp_path, "- a/b\n- c/d\n- A/B\n", collected=collected) == [Item(1, "a/b"), Item(2, "c/d")]
    [warning] = collected
    assert isinstance(warning, Warned)
    assert warning.code == "CMD-SYNC-008"
    assert "entry 3" in warning.message


def test_the_filter_is_searched(tmp_path: Path) -> None:
    items = read(tmp_path, "- acme/component-a\n- acme/component-b\n- other/x\n- odd\n", "e/.*-b|^other")
    assert items == [Item(2, "acme/component-b"), Item(3, "other/x")]


@pytest.mark.parametrize("expression", ["(", "*", "a{2,1}"])
def test_a_filter_that_is_no_regular_expression(tmp_path: Path, expression: str) -> None:
    with pytest.raises(CommodoreError) as caught:
        read(tmp_path, "[]", expression)
    assert (caught.value.code, caught.value.exit_code) == ("CMD-SYNC-005", 2)
    assert repr(expression) in caught.value.message
