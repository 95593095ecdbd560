"""Metrics in the Prometheus text format. The first three have the predecessor's names."""

from __future__ import annotations

import contextlib

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from commodore.observe.cluster.creator import CreationOutcome
from commodore.observe.planning import Decision
from commodore.observe.worlds import StageName
from commodore.version import __version__

_STAGE = ("namespace", "stage")


class Metrics:
    """All metrics of a controller. The series of a Stage are removed with it."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()

        def name(text: str) -> str:
            return f"kargo_observer_{text}"

        self.created = Counter(name("promotions_created"), "Promotions made.", _STAGE, registry=registry)
        self.freight_missing = Gauge(
            name("freight_missing"), "1 if no Freight has what runs.", _STAGE, registry=registry
        )
        self.create_errors = Counter(
            name("promotion_create_errors"), "Promotions that could not be made.", _STAGE, registry=registry
        )
        self.state = Gauge(
            name("stage_state"), "1 for the reason of the Stage's decision.", (*_STAGE, "reason"), registry=registry
        )
        self.drift = Gauge(
            name("drift_seconds"), "Seconds since the drift was first seen; 0 without.", _STAGE, registry=registry
        )
        self.reconciles = Counter(name("reconcile"), "Decisions by their kind.", ("kind",), registry=registry)
        self.reconcile_seconds = Histogram(
            name("reconcile_seconds"), "Seconds that one decision took, with its write.", registry=registry
        )
        self.restarts = Gauge(
            name("watch_restarts_total"), "Watches that ended with an error.", ("resource",), registry=registry
        )
        self.synced = Gauge(name("watch_synced"), "1 once all objects are known.", ("resource",), registry=registry)
        self.objects = Gauge(name("objects"), "Objects that are known.", ("resource",), registry=registry)
        self.queue_depth = Gauge(name("queue_depth"), "Stages that wait to be looked at.", registry=registry)
        self.leader = Gauge(name("leader"), "1 if this replica writes.", registry=registry)
        self.requests = Counter(
            name("api_requests"),
            "Requests to API servers; code 0 means no answer.",
            ("verb", "resource", "code"),
            registry=registry,
        )
        Gauge(name("build_info"), "1, with the version.", ("version",), registry=registry).labels(__version__).set(1)
        self._reasons: dict[StageName, str] = {}
        self._since: dict[StageName, float] = {}
        self._refused: set[StageName] = set()

    def count_request(self, verb: str, resource: str, code: str) -> None:
        self.requests.labels(verb, resource, code).inc()

    def decided(self, decision: Decision, now: float) -> None:
        """Record a decision; `now` is monotonic, in seconds."""
        stage = decision.stage
        where = (stage.namespace, stage.name)
        self.reconciles.labels(decision.kind).inc()
        if decision.kind != "promote":
            self._refused.discard(stage)
        if stage not in self._refused:
            self._state(stage, decision.reason)
        self.freight_missing.labels(*where).set(decision.reason == "FreightMissing")
        if decision.drift:
            self._since.setdefault(stage, now)
        else:
            self._since.pop(stage, None)
        self.drift.labels(*where).set(now - self._since.get(stage, now))

    def tried(self, stage: StageName, outcome: CreationOutcome) -> None:
        """Count an attempt to promote. A Stage with a refused Promotion stays in that state until one is created."""
        where = (stage.namespace, stage.name)
        if outcome.kind == "created":
            self.created.labels(*where).inc()
        if outcome.failure:
            self.create_errors.labels(*where).inc()
            self._refused.add(stage)
            self._state(stage, outcome.failure)
        elif outcome.kind in ("created", "exists"):
            self._refused.discard(stage)
            self._state(stage, "Promote")

    def _state(self, stage: StageName, reason: str) -> None:
        before = self._reasons.get(stage)
        if before not in (None, reason):
            self.state.remove(stage.namespace, stage.name, before)
        self._reasons[stage] = reason
        self.state.labels(stage.namespace, stage.name, reason).set(1)

    def forget(self, stage: StageName) -> None:
        """Remove the series of a Stage."""
        reason = self._reasons.pop(stage, None)
        self._since.pop(stage, None)
        self._refused.discard(stage)
        if reason is None:
            return
        where = (stage.namespace, stage.name)
        self.state.remove(*where, reason)
        for metric in (self.freight_missing, self.drift, self.created, self.create_errors):
            with contextlib.suppress(KeyError):
                metric.remove(*where)

    def text(self) -> bytes:
        return generate_latest(self.registry)
