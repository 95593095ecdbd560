"""Events: stages say when they begin and, only if all went well, when they end."""

from __future__ import annotations

import pytest

from commodore.base.events import Event, StageFinished, StageStarted, stage


def test_a_stage_is_announced() -> None:
    collected: list[Event] = []
    with stage(collected.append, "compiling", total=3):
        assert collected == [StageStarted("compiling", 3)]
    assert isinstance(collected[1], StageFinished)
    assert collected[1].stage == "compiling"
    assert collected[1].seconds >= 0


def test_a_stage_that_fails_does_not_end() -> None:
    collected: list[Event] = []
    with pytest.raises(KeyError), stage(collected.append, "compiling"):
        raise KeyError
    assert collected == [StageStarted("compiling")]
