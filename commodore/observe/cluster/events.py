"""Events on Stages and Applications, which explain decisions to users of kubectl."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from commodore.base.printable import only_printable
from commodore.observe.cluster.client import EVENTS, ApiError, Client, Object
from commodore.observe.kargo import Meta
from commodore.version import __version__

COMPONENT = "commodore-observe"
_SAME = 600.0  # within this time, an equal event increments the count of the existing one
_SILENT = 3600.0  # for this time an unchanged state causes no further event
_RATE, _BURST = 1.0, 25.0
_LENGTH = 500

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Subject:
    """The object of an event."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str

    @classmethod
    def stage(cls, meta: Meta) -> Subject:
        return cls("kargo.akuity.io/v1alpha1", "Stage", meta.namespace, meta.name, meta.uid)

    @classmethod
    def application(cls, meta: Meta) -> Subject:
        return cls("argoproj.io/v1alpha1", "Application", meta.namespace, meta.name, meta.uid)


@dataclass(slots=True)
class _Written:
    name: str
    count: int
    at: float
    about: str


class Recorder:
    """Writes events at a limited rate. Failures are only logged: events never interrupt the work.

    Args:
        clock: a monotonic clock in seconds.
        instance: the name of the process in events.
        period: the current hour, for passes that do not know each other. Names of events are derived from it, so that
            an event of an earlier pass in the hour is not written again.
    """

    def __init__(self, client: Client, clock: Callable[[], float], instance: str, period: str = "") -> None:
        self._client = client
        self._period = period
        self._clock = clock
        self._instance = instance
        self._written: dict[tuple[Subject, str], _Written] = {}
        self._tokens = _BURST
        self._filled = clock()

    async def record(
        self,
        subject: Subject,
        reason: str,
        message: str,
        *,
        warning: bool,
        about: str | None = None,
        again: bool = False,
    ) -> None:
        """Record an event on an object.

        Args:
            about: the identity of the state, if the message has changing times; the same state is reported once an
                hour.
            again: it has happened again, so it counts even shortly after the last event.
        """
        message = only_printable(message)[:_LENGTH]
        about = message if about is None else about
        key = (subject, reason)
        before = self._written.get(key)
        since = self._clock() - before.at if before else _SILENT
        same = before is not None and before.about == about
        if (same and not again and since < _SILENT) or not (self._period or self._allowed()):
            return
        try:
            if before is not None and same and since < _SAME:
                before.count += 1
                before.at = self._clock()
                patch = {"count": before.count, "lastTimestamp": _now()}
                await self._client.merge(EVENTS, subject.namespace, before.name, patch)
                return
            name = self._name(subject, reason, message if again else about)
            self._written[key] = _Written(name, 1, self._clock(), about)
            body = self._event(name, subject, reason, message, warning)
            await self._client.create(EVENTS, subject.namespace, body)
        except ApiError as error:
            if self._period and error.code == 409:
                return  # written by an earlier pass of this period
            _LOG.info("an event was not written: %s", error.message[:200])

    def forget(self, namespace: str, name: str) -> None:
        """Forget a deleted object."""
        for key in [key for key in self._written if (key[0].namespace, key[0].name) == (namespace, name)]:
            del self._written[key]

    def _name(self, subject: Subject, reason: str, about: str) -> str:
        state = f"{self._period} {about}" if self._period else f"{self._instance} {self._clock()}"
        digest = hashlib.sha256(f"{subject.kind} {reason} {state}".encode()).hexdigest()[:16]
        return f"{subject.name[:200].rstrip('.-')}.{digest}"

    def _allowed(self) -> bool:
        now = self._clock()
        self._tokens = min(self._tokens + (now - self._filled) * _RATE, _BURST)
        self._filled = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def _event(self, name: str, subject: Subject, reason: str, message: str, warning: bool) -> Object:
        now = _now()
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": name,
                "namespace": subject.namespace,
                "annotations": {"observe.commodore.dev/version": __version__},
            },
            "involvedObject": {
                "apiVersion": subject.api_version,
                "kind": subject.kind,
                "namespace": subject.namespace,
                "name": subject.name,
                "uid": subject.uid,
            },
            "type": "Warning" if warning else "Normal",
            "reason": reason,
            "message": message,
            "count": 1,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "source": {"component": COMPONENT},
            "reportingComponent": COMPONENT,
            "reportingInstance": self._instance,
        }


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
