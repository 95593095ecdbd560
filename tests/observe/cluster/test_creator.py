"""Everything that an error of the create call means: each row of the table of answers."""

from __future__ import annotations

import pytest

from commodore.observe.cluster.client import ApiError
from commodore.observe.cluster.creator import judge

DENIED = 'admission webhook "promotion.kargo.akuity.io" denied the request: '


@pytest.mark.requirement("O14")
@pytest.mark.parametrize(
    ("code", "message", "kind", "retry_after"),
    [
        (500, f"{DENIED}subject is not permitted to promote", "forbidden", 600),
        (403, f"{DENIED}is not permitted", "forbidden", 600),
        (422, f"{DENIED}Freight is not available", "refused", 300),
        (403, f"{DENIED}no steps", "refused", 300),
        (403, 'promotions is forbidden: User "x" cannot create', "forbidden", 600),
        (401, "Unauthorized", "forbidden", 600),
        (500, "Internal error occurred: failed calling webhook: refused", "unreachable", None),
        (400, "strict decoding error", "failed", 600),
        (422, "spec.steps in body must have at least 1 item", "failed", 600),
        (429, "too many requests", "unreachable", None),
        (500, "etcdserver: request timed out", "unknown", None),
        (502, "bad gateway", "unknown", None),
        (503, "unavailable", "unknown", None),
        (504, "timeout", "unknown", None),
        (0, "ReadTimeout", "unknown", None),
    ],
)
def test_answers(code: int, message: str, kind: str, retry_after: float | None) -> None:
    outcome = judge(ApiError(code, message))
    assert (outcome.kind, outcome.retry_after) == (kind, retry_after)
    assert message in outcome.message


def test_the_server_may_say_when_to_come_back() -> None:
    assert judge(ApiError(429, "later", retry_after=7)).retry_after == 7
