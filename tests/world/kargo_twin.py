"""Kargo with Promotions: the admission webhook and the Stage's history, by its documented rules."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from commodore.observe.availability import availability
from commodore.observe.kargo import Freight, Stage, read_object
from commodore.observe.promotion import _ulid as ulid_of

Object = dict[str, Any]
Version = Literal["1.10", "1.11"]
FINISHED = ("Succeeded", "Failed", "Errored", "Aborted")


class Denied(Exception):
    """The webhook refuses, with a code and a text."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


@dataclass
class Kargo:
    """A version of Kargo, and what it can look up. `may_promote` answers its access review."""

    version: Version = "1.10"
    may_promote: Callable[[str], bool] = lambda _user: True
    get: Callable[[str, str, str], Object | None] = lambda _plural, _namespace, _name: None

    def admit(self, promotion: Object, user: str = "observer") -> Object:
        """The object as it is stored.

        Raises:
            Denied: it is refused.
        """
        made = copy.deepcopy(promotion)
        namespace, spec = made["metadata"]["namespace"], made["spec"]
        stage = self.get("stages", namespace, spec["stage"])
        if stage is None:
            raise Denied(403 if self.version == "1.10" else 422, f"Stage {spec['stage']!r} not found")
        template = stage["spec"].get("promotionTemplate", {}).get("spec", {})
        if self.version == "1.11":
            now = datetime.now(UTC)
            rest = int.from_bytes(hashlib.sha256(str(now).encode()).digest()[:10], "big")
            made["metadata"]["name"] = f"{spec['stage']}.{ulid_of(now, rest)}.{spec['freight'][:7]}"
            spec["steps"] = copy.deepcopy(template.get("steps", []))
            spec["vars"] = copy.deepcopy([*stage["spec"].get("vars", []), *template.get("vars", [])])
        if not spec.get("steps"):
            raise Denied(403 if self.version == "1.10" else 422, "no promotion steps")
        if not self.may_promote(user):
            raise Denied(500, f"subject {user!r} is not permitted to create Promotions for Stage {spec['stage']!r}")
        freight = self.get("freights", namespace, spec["freight"])
        if freight is None or not _available(stage, freight):
            raise Denied(422, f"Freight {spec['freight']!r} is not available to Stage {spec['stage']!r}")
        made["metadata"].setdefault("labels", {})["kargo.akuity.io/stage"] = spec["stage"]
        return made


def _available(stage: Object, freight: Object) -> bool:
    kargo = {"apiVersion": "kargo.akuity.io/v1alpha1"}
    read = [read_object({**kargo, "kind": kind, **value}) for kind, value in (("Stage", stage), ("Freight", freight))]
    assert read[0] is not None
    assert read[1] is not None
    assert isinstance(read[0][0], Stage)
    assert isinstance(read[1][0], Freight)
    return availability(read[0][0], read[1][0], datetime.now(UTC)).available


def finish(promotion: Object, phase: str = "Succeeded") -> Object:
    """The Promotion after its steps have run."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {**promotion, "status": {"phase": phase, "startedAt": now, "finishedAt": now}}


def record(stage: Object, promotions: Iterable[Object], freights: Sequence[Object]) -> Object:
    """The Stage after Kargo has looked at its Promotions: the ones that ended, and sort after the last one by name."""
    after = copy.deepcopy(stage)
    status = after.setdefault("status", {})
    by_name = {entry["metadata"]["name"]: entry for entry in freights}
    for promotion in sorted(promotions, key=lambda entry: str(entry["metadata"]["name"])):
        name, phase = promotion["metadata"]["name"], promotion.get("status", {}).get("phase")
        if promotion["spec"]["stage"] != stage["metadata"]["name"] or phase not in FINISHED:
            continue
        if name <= status.get("lastPromotion", {}).get("name", ""):
            continue
        freight = by_name.get(promotion["spec"]["freight"])
        status["lastPromotion"] = {
            "name": name,
            "freight": {"name": promotion["spec"]["freight"]},
            "status": promotion["status"],
            "finishedAt": promotion["status"]["finishedAt"],
        }
        if phase == "Succeeded" and freight is not None:
            history = status.setdefault("freightHistory", [])
            items = dict(history[0]["items"]) if history else {}
            item = {key: freight[key] for key in ("origin", "images", "commits", "charts") if key in freight}
            origin = freight["origin"]
            items[f"{origin['kind']}/{origin['name']}"] = {"name": freight["metadata"]["name"], **item}
            names = ",".join(sorted(item["name"] for item in items.values()))
            history.insert(0, {"id": hashlib.sha1(names.encode(), usedforsecurity=False).hexdigest(), "items": items})
            del history[10:]
    return after
