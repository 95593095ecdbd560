"""Create Promotions, after reading the objects again, and interpret the server's answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from commodore.observe.cases import PlanOptions
from commodore.observe.cluster.client import FREIGHTS, PROMOTIONS, STAGES, ApiError, Client, Object, Resource
from commodore.observe.kargo import Freight, KargoObject, Promotion, Stage, UnreadableError, read_object
from commodore.observe.planning import Decision, plan_stage
from commodore.observe.promotion import is_ours
from commodore.observe.worlds import StageWorld

Kind = Literal[
    "created", "exists", "changed", "left", "refused", "forbidden", "failed", "unreachable", "unknown", "no time"
]

_SHORT, _LONG = 300.0, 600.0
_SOON = 60.0
_LEAST = 5.0  # the least remaining seconds of the lease for a write
_MARGIN = 1.0  # seconds of it that remain after a write


@dataclass(frozen=True, slots=True)
class CreationOutcome:
    """The result of an attempt. `retry_after` in seconds; None: with growing pauses."""

    kind: Kind
    message: str = ""
    promotion: str = ""
    retry_after: float | None = None

    @property
    def failure(self) -> str:
        """The reason of events and metrics if the server did not create the Promotion, else empty."""
        if self.kind == "forbidden":
            return "PromotionForbidden"
        return "PromotionCreateFailed" if self.kind in ("failed", "refused", "unknown") else ""

    def __str__(self) -> str:
        return ": ".join(filter(None, (f"{self.kind} {self.promotion}".strip(), self.message)))


class Creator:
    """Creates Promotions on a server. `remaining` returns the seconds for which this process may write."""

    def __init__(self, client: Client, options: PlanOptions, remaining: Callable[[], float], timeout: float) -> None:
        self._client = client
        self._options = options
        self._remaining = remaining
        self._timeout = timeout

    async def create(self, world: StageWorld, decision: Decision, now: datetime) -> CreationOutcome:
        """Read the objects again without cache, and create the Promotion if the decision is the same."""
        refused = ""
        for _ in range(2):
            try:
                world = await self._fresh(world, decision.verdict.freight)
            except ApiError as error:
                return CreationOutcome("unreachable", error.message, retry_after=error.retry_after)
            again = plan_stage(world, self._options, now)
            if again.kind != "promote" or again.verdict.freight != decision.verdict.freight:
                return CreationOutcome("changed", f"meanwhile: {again.reason}: {again.message}", retry_after=1.0)
            assert again.verdict.promotion is not None
            outcome = await self._post(world, again.verdict.promotion)
            if outcome.kind != "refused" or outcome.message == refused:
                return outcome
            refused = outcome.message
        return replace(outcome, retry_after=_SHORT)

    async def try_out(self, promotion: Object) -> str:
        """Validate the Promotion on the server (dry run). Returns the reason of a refusal, empty if it is accepted."""
        try:
            await self._client.create(PROMOTIONS, promotion["metadata"]["namespace"], promotion, dry_run=True)
        except ApiError as error:
            return f"refused ({error.code}): {error.message}"
        return ""

    async def _fresh(self, world: StageWorld, freight: str) -> StageWorld:
        namespace = world.name.namespace
        stage = await self._read(STAGES, namespace, world.name.name)
        newest = await self._read(FREIGHTS, namespace, freight)
        promotions, _ = await self._client.list_all(PROMOTIONS, namespace)
        read = [_object(promotion) for promotion in promotions]
        others = [other for other in world.freights if other.name != freight]
        return replace(
            world,
            stage=stage if isinstance(stage, Stage) else None,
            freights=(*others, newest) if isinstance(newest, Freight) else tuple(others),
            promotions=tuple(item for item in read if isinstance(item, Promotion) and item.stage == world.name.name),
        )

    async def _read(self, resource: Resource, namespace: str, name: str) -> KargoObject | None:
        try:
            return _object(await self._client.get(resource, namespace, name))
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    async def _post(self, world: StageWorld, promotion: Object) -> CreationOutcome:
        left = self._remaining()
        if left < _LEAST:
            return CreationOutcome("no time", "the lease ends too soon", retry_after=1.0)
        name = promotion["metadata"]["name"]
        try:
            made = await self._client.create(
                PROMOTIONS, world.name.namespace, promotion, timeout=min(self._timeout, left - _MARGIN)
            )
        except ApiError as error:
            if error.code == 409:
                return await self._exists(world, name)
            return judge(error)
        # Kargo from 1.11 chooses the name itself.
        return CreationOutcome("created", promotion=str(made["metadata"]["name"]), retry_after=_SOON)

    async def _exists(self, world: StageWorld, name: str) -> CreationOutcome:
        try:
            there = await self._read(PROMOTIONS, world.name.namespace, name)
        except ApiError as error:
            return CreationOutcome("unreachable", error.message)
        if isinstance(there, Promotion) and is_ours(there, self._options.label_prefix):
            return CreationOutcome("exists", promotion=name, retry_after=_SOON)
        return CreationOutcome("changed", f"a Promotion {name} of another maker is there", retry_after=1.0)


def judge(error: ApiError) -> CreationOutcome:
    """Interpret an error of the create call."""
    text = error.message
    if "denied the request" in text:
        if "is not permitted" in text:
            return CreationOutcome("forbidden", text, retry_after=_LONG)
        return CreationOutcome("refused", text, retry_after=_SHORT)
    if "failed calling webhook" in text:
        return CreationOutcome("unreachable", text)
    if error.code in (401, 403):
        return CreationOutcome(
            "forbidden", f"{text}; needed is the right to create promotions.kargo.akuity.io", retry_after=_LONG
        )
    if error.code == 429:
        return CreationOutcome("unreachable", text, retry_after=error.retry_after)
    if error.is_unknown:
        return CreationOutcome("unknown", text)
    return CreationOutcome("failed", text, retry_after=_LONG)


def _object(body: Object) -> KargoObject | None:
    try:
        read = read_object(body)
    except UnreadableError:
        return None
    return read[0] if read else None
