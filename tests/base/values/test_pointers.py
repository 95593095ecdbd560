"""JSON pointers, and ids of commits."""

from __future__ import annotations

import pytest

from commodore.base.values.commits import is_commit
from commodore.base.values.pointers import pointer_steps, pointer_text


@pytest.mark.parametrize(("pointer", "steps"), [("/a/b", ["a", "b"]), ("/a~1b/~01", ["a/b", "~1"]), ("/", [""])])
def test_pointers_lead_back_to_their_steps(pointer: str, steps: list[str]) -> None:
    assert pointer_steps(pointer) == steps
    assert pointer_steps(pointer.removeprefix("/")) == steps
    assert pointer_text(steps) == pointer


def test_whole_ids_of_commits() -> None:
    assert is_commit("0f" * 20)
    assert is_commit("0f" * 32)
    assert not any(map(is_commit, ["", "0f" * 19, "0F" * 20, "0f" * 20 + "\n", "0f" * 26, "HEAD"]))
