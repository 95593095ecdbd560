"""Build the Promotion, the only object that the observer creates, as Kargo's own tools do."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from commodore.base import documents
from commodore.observe.kargo import KARGO_GROUP, PREFIXES, Promotion, Stage
from commodore.observe.matching import Drift
from commodore.observe.quantities import LATEST
from commodore.version import __version__

MANAGED_BY = "app.kubernetes.io/managed-by"
MANAGER = "kargo-argocd-observer"
_MANAGERS = frozenset({MANAGER, "commodore-observe"})
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32
_REST = re.compile(rf"(?P<ulid>[0-7][{_ALPHABET}]{{25}})\.[a-z0-9.-]{{1,7}}")
_STAGE_LENGTH = 218  # so that stage, ULID and a part of the Freight's name fit into 253 characters
_LABEL_VALUE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_LATEST = (LATEST - _EPOCH) // _MILLISECOND


@dataclass(frozen=True, slots=True)
class PromotionPlan:
    """The input of a Promotion."""

    stage: Stage
    freight: str
    applications: Sequence[str]
    drift: Sequence[Drift]
    tries: int
    label_prefix: str


def is_ours(promotion: Promotion, label_prefix: str) -> bool:
    """Return True for a Promotion created by an observer: this one, with any prefix, or its predecessor."""
    labels = promotion.meta.labels
    return labels.get(MANAGED_BY) in _MANAGERS or any(
        f"{prefix}/freight" in labels for prefix in {label_prefix, *PREFIXES}
    )


def name_time(name: str, stage: str) -> datetime | None:
    """Return the time in the name of a Promotion to this Stage; None if the name is not in Kargo's form."""
    match = _REST.fullmatch(name.removeprefix(f"{_short_stage(stage)}."))
    if match is None or not name.startswith(f"{_short_stage(stage)}."):
        return None
    ulid = match["ulid"]
    milliseconds = 0
    for letter in ulid[:10]:
        milliseconds = milliseconds * 32 + _ALPHABET.index(letter)
    return _EPOCH + timedelta(milliseconds=min(milliseconds, _LATEST))


def ulid_time(promotion: Promotion) -> datetime | None:
    return name_time(promotion.name, promotion.stage)


def new_time(stage: Stage) -> datetime:
    """Return the time for the name of the next Promotion: just after the last one, so that Kargo records it.

    It is not a clock's time. Two observers with the same input create the same name, and later Promotions of others
    have a later time.
    """
    last = name_time(stage.last.name, stage.meta.name) if stage.last else None
    if last is None:
        return max(stage.meta.created or _EPOCH, _EPOCH)
    return last + _MILLISECOND


def promotion_name(stage: Stage, freight: str, tries: int) -> str:
    """Return `<stage>.<ulid>.<part of the Freight's name>`, always the same for the same input."""
    last = stage.last.name if stage.last else ""
    facts = json.dumps([stage.meta.uid, freight, last, tries])
    rest = int.from_bytes(hashlib.sha256(facts.encode()).digest()[:10], "big")
    return f"{_short_stage(stage.meta.name)}.{_ulid(new_time(stage), rest)}.{freight[:7]}".lower()


def can_be_recorded(stage: Stage) -> bool:
    """Return True if a new name sorts after that of the last Promotion: Kargo ignores earlier ones."""
    highest = f"{_short_stage(stage.meta.name)}.{_ulid(new_time(stage), (1 << 80) - 1)}."
    return stage.last is None or stage.last.name < highest


def build_promotion(plan: PromotionPlan) -> dict[str, Any]:
    """Return the Promotion, complete for Kargo before 1.11; later versions set their own name, steps and variables."""
    stage = plan.stage
    observed = {
        "applications": list(plan.applications),
        "drift": documents.plain(plan.drift),
        "version": __version__,
    }
    prefix = plan.label_prefix
    return {
        "apiVersion": f"{KARGO_GROUP}/v1alpha1",
        "kind": "Promotion",
        "metadata": {
            "name": promotion_name(stage, plan.freight, plan.tries),
            "namespace": stage.meta.namespace,
            "labels": {
                MANAGED_BY: MANAGER,
                f"{prefix}/stage": label_value(stage.meta.name),
                f"{prefix}/freight": label_value(plan.freight),
            },
            "annotations": {
                f"{prefix}/stage": stage.meta.name,
                f"{prefix}/freight": plan.freight,
                "observe.commodore.dev/observed": json.dumps(observed, separators=(",", ":"), sort_keys=True),
            },
        },
        "spec": {
            "stage": stage.meta.name,
            "freight": plan.freight,
            **({"vars": list(stage.variables)} if stage.variables else {}),
            "steps": list(stage.steps),
        },
    }


def label_value(text: str) -> str:
    """Return the text, or a shortened form with a digest if it is invalid as a label's value."""
    if _LABEL_VALUE.fullmatch(text):
        return text
    return f"{text[:54]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def newest_first(promotions: Iterable[Promotion]) -> list[Promotion]:
    """Sort Promotions by creation, newest first."""
    return sorted(promotions, key=lambda promotion: (made_at(promotion), promotion.name), reverse=True)


def made_at(promotion: Promotion) -> datetime:
    """Return the time of its creation, or the best known approximation."""
    return promotion.meta.created or promotion.started or promotion.finished or ulid_time(promotion) or _EPOCH


def _ulid(time: datetime, rest: int) -> str:
    number = ((time - _EPOCH) // _MILLISECOND << 80) | rest
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def _short_stage(stage: str) -> str:
    return stage if len(stage) <= _STAGE_LENGTH else stage[:_STAGE_LENGTH].rstrip(".-")
