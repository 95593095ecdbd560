"""The Freight that a Stage may have, by Kargo's rules."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from commodore.observe.availability import availability
from commodore.observe.kargo import Freight, Stage
from tests.observe.conftest import read
from tests.world.kargo import NOW, Object, at, freight, request, stage


def judge(requests: list[Object], **status: Any) -> tuple[bool, str, timedelta | None]:
    """Return True if it is available, what is missing, and how long until it has soaked."""
    (asked,) = read([stage(requests=requests)])
    (given,) = read([freight("2", status=status)])
    assert isinstance(asked, Stage)
    assert isinstance(given, Freight)
    result = availability(asked, given, NOW)
    return result.available, result.missing, result.soaked_at - NOW if result.soaked_at else None


UP = ["test", "load"]
VERIFIED: Object = {"verifiedIn": {"test": {"verifiedAt": at(60)}}}
BOTH: Object = {"verifiedIn": {"test": {"longestSoak": "2h"}, "load": {"longestSoak": "30m"}}}


@pytest.mark.requirement("O30")
@pytest.mark.parametrize(
    ("requests", "status", "available"),
    [
        ([request()], {}, True),
        ([request("other")], {}, False),
        ([request(stages=UP)], {}, False),
        ([request(stages=UP)], {"approvedFor": {"prod": {"approvedAt": at(1)}}}, True),
        ([request(stages=UP)], {"approvedFor": {"other": {}}}, False),
        ([request(stages=UP)], VERIFIED, True),
        ([request(stages=UP, availabilityStrategy="OneOf")], VERIFIED, True),
        ([request(stages=UP, availabilityStrategy="All")], VERIFIED, False),
        ([request(stages=UP, availabilityStrategy="All")], BOTH, True),
        ([request(stages=UP, requiredSoakTime="1h")], BOTH, True),
        ([request(stages=UP, requiredSoakTime="1h", availabilityStrategy="All")], BOTH, False),
        ([request(stages=UP, requiredSoakTime="30m", availabilityStrategy="All")], BOTH, True),
        ([request(stages=["test"], requiredSoakTime="1h")], {"currentlyIn": {"test": {"since": at(90)}}}, False),
        (
            [request(stages=["test"], requiredSoakTime="1h")],
            {**VERIFIED, "currentlyIn": {"test": {"since": at(60)}}},
            True,
        ),
        (
            [request(stages=["test"], requiredSoakTime="1h")],
            {**VERIFIED, "currentlyIn": {"test": {"since": at(59)}}},
            False,
        ),
        ([request(stages=["load"]), request()], {}, True),
        ([request(stages=["load"], availabilityStrategy="All"), request()], {}, False),
    ],
)
def test_availability(requests: list[Object], status: Object, available: bool) -> None:
    assert judge(requests, **status)[0] is available


def test_what_is_missing_is_named() -> None:
    asked = [request(stages=UP, requiredSoakTime="1h30m", availabilityStrategy="All")]
    soaking = {"verifiedIn": {"test": {}}, "currentlyIn": {"test": {"since": at(30)}}}
    _, missing, rest = judge(asked, **soaking)
    assert missing == "soaked 30m of 1h30m in Stage test; not verified in Stage load"
    assert rest is None  # the end of soaking alone would not do
    _, missing, rest = judge([request(stages=["test"], requiredSoakTime="1h30m")], **soaking)
    assert (missing, rest) == ("soaked 30m of 1h30m in Stage test", timedelta(hours=1))
