"""Events: stages say when they begin and, only if all went well, when they end."""

from __future__ import annotations

import pytest

from commodore.events import Event, StageFinished, StageStarted, stage


def test_a_stage_is_announced() -> None:
    heard: list[Event] = []
    with stage(heard.append, "compiling", total=3):
        assert heard == [StageStarted("compiling", 3)]
    assert isinstance(heard[1], StageFinished)
    assert heard[1].stage == "compiling"
    assert heard[1].seconds >= 0


def test_a_stage_that_fails_does_not_end() -> None:
    heard: list[Event] = []
    with pytest.raises(KeyError), stage(heard.append, "compiling"):
        raise KeyError
    assert heard == [StageStarted("compiling")]
