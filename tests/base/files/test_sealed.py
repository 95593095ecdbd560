"""Sealed files: damage and other entries do not pass for what was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.base.files.sealed import read_note, read_sealed, seal, unseal, write_note

LABEL = ("result", "subject", "name")


def test_what_was_sealed_comes_back() -> None:
    for content in (b"", b"\n", b"text\n\nmore", bytes(range(256))):
        assert unseal(LABEL, seal(LABEL, content)) == content


@pytest.mark.parametrize("other", [(), ("result",), ("shape", "subject", "name"), ("result", "subject name", "")])
def test_another_label_does_not_fit(other: tuple[str, ...]) -> None:
    assert unseal(other, seal(LABEL, b"text")) is None


def test_no_byte_may_change() -> None:
    whole = seal(LABEL, b"some text")
    for position in range(len(whole)):
        wrong = bytearray(whole)
        wrong[position] ^= 1
        assert unseal(LABEL, bytes(wrong)) is None
        assert unseal(LABEL, whole[:position]) is None
    assert unseal(LABEL, whole + b"\0") is None


def test_what_cannot_be_read_is_missing(tmp_path: Path) -> None:
    assert read_sealed(tmp_path, LABEL) is None
    assert read_sealed(tmp_path / "none", LABEL) is None
    assert read_sealed(tmp_path / "none" / "below", LABEL) is None
    (tmp_path / "file").write_bytes(seal(LABEL, b"text"))
    assert read_sealed(tmp_path / "file", LABEL) == b"text"


def test_notes(tmp_path: Path) -> None:
    """A note counts under its kind and its place; all else is nothing."""
    note, other = tmp_path / "folder" / "note", tmp_path / "folder" / "other"
    assert read_note(note, "kind") == {}
    write_note(note, {"b": 1, "a": "ü\udcff"}, "kind")
    assert read_note(note, "kind") == {"b": 1, "a": "ü\udcff"}
    assert read_note(note, "another") == read_note(note, "kind", "further") == {}
    assert read_note(note, "kind", most=10) == {}
    other.write_bytes(note.read_bytes())
    assert read_note(other, "kind") == {}
    for content in (b"[1]", b"{", b"[" * 100_000):
        note.write_bytes(seal(("kind", "note"), content))
        assert read_note(note, "kind") == {}
    write_note(tmp_path / "folder" / "note" / "below", {}, "kind")  # no folder: the note is lost, and nothing else
