"""Leader election by a Lease: only one of several replicas writes."""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime

from commodore.observe.cluster.client import LEASES, ApiError, Client, Object

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """Seconds: the duration of a lease, the deadline of renewal, and the interval of attempts."""

    duration: float = 15.0
    renew: float = 10.0
    retry: float = 2.0


class LeaseLostError(Exception):
    """Another replica has the lease, or it could not be renewed in time."""


class Lease:
    """A replica's view of the lease. It uses only its own clock, so clocks may differ."""

    def __init__(self, client: Client, namespace: str, name: str, holder: str, times: LeaseTimes | None = None) -> None:
        self.holder = f"{holder}_{secrets.token_hex(4)}"
        self.times = times or LeaseTimes()
        self._client = client
        self._namespace = namespace
        self._name = name
        self._seen: tuple[str, str] | None = None  # the last seen holder and renewal time
        self._seen_at = 0.0
        self._renewed_by_another = False
        self._renewed_at: float | None = None
        self._error: ApiError | None = None

    def remaining(self) -> float:
        """Return the seconds for which no other replica can take the lease; 0 if it is not ours."""
        if self._renewed_at is None:
            return 0.0
        return max(self._renewed_at + self.times.duration - _now(), 0.0)

    async def acquire(self, *, patient: bool = True) -> None:
        """Wait until the lease is ours.

        Args:
            patient: wait without limit, or only until its holder renews it or the server refuses.

        Raises:
            LeaseLostError: another replica holds and renews it.
            ApiError: the server refuses to give or take it.
        """
        while not await self._attempt():
            if self._renewed_by_another and not patient:
                raise LeaseLostError(f"the lease {self._namespace}/{self._name} is held")
            if self._error is not None and not patient:
                raise self._error
            await asyncio.sleep(self.times.retry * random.uniform(1.0, 1.2))  # noqa: S311

    async def hold(self) -> None:
        """Renew the lease until that fails.

        Raises:
            LeaseLostError: it is not ours any more, or could not be renewed in time.
        """
        while True:
            await asyncio.sleep(self.times.retry)
            if await self._attempt():
                continue
            late = self._renewed_at is None or _now() - self._renewed_at >= self.times.renew
            if late or (self._seen is not None and self._seen[0] != self.holder):
                self._renewed_at = None
                raise LeaseLostError(f"the lease {self._namespace}/{self._name} was lost")

    async def release(self) -> None:
        """Release the lease at once."""
        if self._renewed_at is None:
            return
        self._renewed_at = None
        try:
            lease = await self._client.get(LEASES, self._namespace, self._name)
            if lease["spec"].get("holderIdentity") == self.holder:
                lease["spec"].update(holderIdentity="", renewTime=_timestamp())
                await self._client.replace(LEASES, self._namespace, self._name, lease)
        except ApiError as error:
            _LOG.info("the lease was not released: %s", error.message[:200])

    async def _attempt(self) -> bool:
        """Take or renew the lease, if it is free, ours, or expired."""
        before = _now()
        self._error = None
        try:
            async with asyncio.timeout(self.times.renew):
                ours = await self._write()
        except ApiError as error:
            if error.code != 409:  # a conflict with a write of another replica
                self._error = error
            if error.code == 403:
                _LOG.warning("the lease cannot be written: %s", error.message[:500])
            return False
        except TimeoutError:
            return False
        if ours:
            self._renewed_at = before
        return ours

    async def _write(self) -> bool:
        try:
            lease = await self._client.get(LEASES, self._namespace, self._name)
        except ApiError as error:
            if error.code != 404:
                raise
            body: Object = {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": self._name, "namespace": self._namespace},
                "spec": {**self._spec(), "acquireTime": _timestamp(), "leaseTransitions": 0},
            }
            await self._client.create(LEASES, self._namespace, body)
            return True
        spec = lease.setdefault("spec", {})
        holder, renewed = str(spec.get("holderIdentity") or ""), str(spec.get("renewTime") or "")
        if (holder, renewed) != self._seen:
            self._renewed_by_another = self._seen is not None and self._seen[0] == holder != self.holder
            self._seen, self._seen_at = (holder, renewed), _now()
        if holder and holder != self.holder and _now() - self._seen_at < self.times.duration:
            return False
        if holder != self.holder:
            spec.update(acquireTime=_timestamp(), leaseTransitions=int(spec.get("leaseTransitions") or 0) + 1)
        spec.update(self._spec())
        await self._client.replace(LEASES, self._namespace, self._name, lease)
        self._seen, self._seen_at = (self.holder, spec["renewTime"]), _now()
        return True

    def _spec(self) -> Object:
        return {
            "holderIdentity": self.holder,
            "leaseDurationSeconds": max(int(self.times.duration), 1),
            "renewTime": _timestamp(),
        }


def _now() -> float:
    return asyncio.get_running_loop().time()


def _timestamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
