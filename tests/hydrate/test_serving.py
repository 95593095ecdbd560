"""Probes, metrics and requests for a look, over HTTP."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from commodore.base.events import StageFinished
from commodore.core.serving import serving
from commodore.core.sources.git import repository_key
from commodore.hydrate.watching.metrics import GroupStatus, Metrics
from commodore.hydrate.watching.watched import Wakeup, WatchState

URL = "https://git.example.com/shop.git"


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Place:
    """A watcher that is served."""

    watched: WatchState
    clock: Clock
    port: int = 0

    def ask(self, method: str, path: str, body: bytes = b"", token: str = "") -> tuple[int, str]:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            connection.request(method, path, body, {"Authorization": f"Bearer {token}"} if token else {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def hydrate(self, body: dict[str, Any] | bytes, token: str = "s3cret") -> int:
        return self.ask("POST", "/hydrate", body if isinstance(body, bytes) else json.dumps(body).encode(), token)[0]


@pytest.fixture
def place() -> Iterator[Place]:
    clock, wakeup = Clock(), Wakeup()
    watched = WatchState(60.0, clock, "s3cret", wakeup)
    with serving(":0", watched.pages()) as port:
        yield Place(watched, clock, port)
    wakeup.close()


def test_probes(place: Place) -> None:
    """Alive as long as looks begin; ready from the first one that ended well."""
    assert [place.ask("GET", path)[0] for path in ("/healthz", "/readyz", "/other")] == [503, 503, 404]
    place.watched.begin()
    assert [place.ask("GET", path)[0] for path in ("/healthz", "/readyz")] == [200, 503]
    place.watched.end(frozenset())
    place.clock.now = 180
    assert [place.ask("GET", path)[0] for path in ("/healthz", "/readyz")] == [200, 200]
    place.clock.now = 181
    assert place.ask("GET", "/healthz")[0] == 503


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 202),
        ({"repository": URL}, 202),
        ({"repository": {"clone_url": URL.removesuffix(".git")}, "ref": "x"}, 202),
        ({"repository": {"git_ssh_url": "git@git.example.com:shop.git", "url": "::"}}, 202),
        ({"repository": {"url": "::"}}, 200),
        ({"repository": "https://git.example.com/other"}, 200),
        (b"[1]", 400),
        (b"{", 400),
    ],
)
def test_requests_for_a_look(place: Place, body: dict[str, Any] | bytes, status: int) -> None:
    """Of what a forge sends, the URL of the repository counts alone."""
    place.watched.end(frozenset({repository_key(URL)}))
    assert place.hydrate(body) == status
    place.watched.wakeup.wait(0 if status != 202 else 60)
    assert not place.watched.begin()


def test_a_hard_look(place: Place) -> None:
    assert place.hydrate({"hard": True}) == 202
    assert [place.watched.begin(), place.watched.begin()] == [True, False]


def test_metrics() -> None:
    """Series of groups that are gone go, too."""
    metrics = Metrics()
    metrics.on_event(StageFinished("render", 0.4))
    metrics.looked([GroupStatus("a", 'b"', "committed", 0, 2), GroupStatus("a", "c", "failed", 3)], 1700000000)
    metrics.looked([GroupStatus("a", 'b"', "hydrated", 0), GroupStatus("a", "c", "failed", 4)], 1700000060)
    lines = metrics.text().splitlines()
    expected = [
        'groups{outcome="failed"} 1',
        'runs_total{repository="a",outcome="failed"} 2',
        'push_retries_total{repository="a"} 2',
        'seconds_bucket{stage="render",le="0.1"} 0',
        'seconds_bucket{stage="render",le="+Inf"} 1',
        'seconds_sum{stage="render"} 0.4',
        'behind_commits{repository="a",branch="c"} 4',
        'last_success_timestamp_seconds{repository="a",branch="b\\""} 1700000060',
    ]
    assert {f"commodore_hydrate_{item}" for item in expected} <= set(lines)
    metrics.looked([], 1700000120)
    assert 'repository="a"' not in metrics.text()
