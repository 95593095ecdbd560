"""When groups that have failed are tried again."""

from __future__ import annotations

from dataclasses import replace

from commodore.base.errors import InputError
from commodore.hydrate.model import Group, Outcome, Result
from commodore.hydrate.planning.groups import PlannedGroup
from commodore.hydrate.watching.watched import Backoff
from tests.hydrate.test_planning import application, read

FAILED = InputError("CMD-HYD-020", "no")


def test_a_group_that_fails_is_tried_again_later_and_later() -> None:
    now = [0.0]
    backoff = Backoff(lambda: now[0])
    (member,) = read(application())
    group = Group("dry", "a" * 40, "key", "env/dev", (member,))

    def learn(result: Result, decision: str = "render") -> None:
        backoff.learn([(PlannedGroup(group, decision, "", ""), result)])

    assert backoff.is_ready(group)
    learn(FAILED)
    for pause in (120, 240, 480, 960, 1800, 1800):
        now[0] += pause - 1
        assert not backoff.is_ready(group)
        learn(Outcome("waiting", ""), "waiting")
        now[0] += 1
        assert backoff.is_ready(group)
        learn(FAILED)
    assert backoff.is_ready(replace(group, dry_sha="b" * 40)), "a new dry commit is tried at once"
    learn(Outcome("committed", ""))
    assert backoff.is_ready(group)
