"""Objects of Kargo and Argo CD as an API server gives them: a Stage `shop/prod` that has drifted, and its surroundings.

Everything can be changed by keywords; `drifted()` is the smallest world in which a Promotion is due.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from commodore.observe.promotion import _ulid as ulid_of

Object = dict[str, Any]

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
REPOSITORY = "registry.example.com/shop/web"
STEPS = [{"uses": "git-clone", "config": {"repoURL": "https://git.example.com/shop.git"}}, {"uses": "git-push"}]


def at(minutes: float) -> str:
    """The time so many minutes before now."""
    return (NOW - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def freight_name(word: str) -> str:
    """A name of Kargo's form: 40 hexadecimal digits."""
    return hashlib.sha1(word.encode(), usedforsecurity=False).hexdigest()


def digest(word: str) -> str:
    return f"sha256:{hashlib.sha256(word.encode()).hexdigest()}"


def promotion_name(stage: str, minutes: float, freight: str) -> str:
    """A name as Kargo gives it, with the time so many minutes before now."""
    rest = int.from_bytes(hashlib.sha256(freight.encode()).digest()[:10], "big")
    return f"{stage}.{ulid_of(NOW - timedelta(minutes=minutes), rest)}.{freight_name(freight)[:7]}"


def application(
    name: str = "web",
    *,
    namespace: str = "argocd",
    stage: str | None = "shop:prod",
    images: Sequence[str] = (f"{REPOSITORY}:2",),
    sync: str = "Synced",
    health: str = "Healthy",
    synced: float | None = 10,
    annotations: dict[str, str] | None = None,
    labels: dict[str, str] | None = None,
    **status: Any,
) -> Object:
    """An Application; `synced` is how many minutes ago its last sync ended."""
    authorized = {"kargo.akuity.io/authorized-stage": stage} if stage is not None else {}
    history = [{"id": 1, "deployedAt": at(synced), "revision": "abc"}] if synced is not None else []
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {**authorized, **(annotations or {})},
            "labels": labels or {},
        },
        "spec": {"project": "default", "destination": {"namespace": "shop"}},
        "status": {
            "summary": {"images": list(images)},
            "sync": {"status": sync},
            "health": {"status": health},
            "history": history,
            **status,
        },
    }


def images_of(**tags: str) -> list[Object]:
    """Images of a Freight by the last part of their repository: `web="2"`, or `web="2@sha256:..."`."""
    results = []
    for name, text in tags.items():
        tag, _, sha = text.partition("@")
        results.append({"repoURL": f"registry.example.com/shop/{name}", "tag": tag, **({"digest": sha} if sha else {})})
    return results


def freight(
    word: str, *, warehouse: str = "web", discovered: float = 60, status: Object | None = None, **fields: Any
) -> Object:
    """A Freight; `images` as `images_of` makes them, by default the word as the tag of the image `web`."""
    return {
        "apiVersion": "kargo.akuity.io/v1alpha1",
        "kind": "Freight",
        "metadata": {"name": freight_name(word), "namespace": "shop", "creationTimestamp": at(discovered)},
        "alias": f"alias-{word}",
        "origin": {"kind": "Warehouse", "name": warehouse},
        "images": images_of(web=word),
        "discoveredAt": at(discovered),
        "status": status or {},
        **fields,
    }


def recorded(word: str, *, warehouse: str = "web", **fields: Any) -> Object:
    """Everything that a Stage's history has of a Freight."""
    return {
        "name": freight_name(word),
        "origin": {"kind": "Warehouse", "name": warehouse},
        "images": images_of(web=word),
        **fields,
    }


def warehouse(
    name: str = "web", *, repositories: Sequence[str] = ("web",), strategy: str = "SemVer", **spec: Any
) -> Object:
    return {
        "apiVersion": "kargo.akuity.io/v1alpha1",
        "kind": "Warehouse",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "subscriptions": [
                {"image": {"repoURL": f"registry.example.com/shop/{repository}", "imageSelectionStrategy": strategy}}
                for repository in repositories
            ],
            **spec,
        },
    }


def request(warehouse: str = "web", **sources: Any) -> Object:
    return {"origin": {"kind": "Warehouse", "name": warehouse}, "sources": sources or {"direct": True}}


def stage(
    name: str = "prod",
    *,
    requests: Sequence[Object] | None = None,
    history: Sequence[Object] | None = None,
    last: tuple[float, str] | None = (30, "1"),
    steps: Sequence[Object] = STEPS,
    spec: Object | None = None,
    verifications: Sequence[str] = (),
    **status: Any,
) -> Object:
    """A Stage; `history` is what its newest entry has, `last` how many minutes ago which Freight was promoted."""
    items = [recorded("1")] if history is None else history
    entry = {
        "id": "1",
        "items": {f"Warehouse/{item['origin']['name']}": item for item in items},
        "verificationHistory": [{"id": str(number), "phase": phase} for number, phase in enumerate(verifications)],
    }
    reference = (
        {"lastPromotion": {"name": promotion_name(name, *last), "finishedAt": at(last[0])}} if last is not None else {}
    )
    return {
        "apiVersion": "kargo.akuity.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "creationTimestamp": at(10_000)},
        "spec": {
            "requestedFreight": list(requests if requests is not None else [request()]),
            "promotionTemplate": {"spec": {"steps": list(steps)}},
            **(spec or {}),
        },
        "status": {**({"freightHistory": [entry]} if items else {}), **reference, **status},
    }


OURS = {"app.kubernetes.io/managed-by": "kargo-argocd-observer"}


def promotion(
    word: str,
    phase: str = "Succeeded",
    *,
    ago: float = 30,
    ours: bool = False,
    stage: str = "prod",
    name: str | None = None,
    finished: float | None = None,
) -> Object:
    """A Promotion of a Freight, made so many minutes ago; finished then too, if its phase says so."""
    over = phase in ("Succeeded", "Failed", "Errored", "Aborted")
    return {
        "apiVersion": "kargo.akuity.io/v1alpha1",
        "kind": "Promotion",
        "metadata": {
            "name": name or promotion_name(stage, ago, word),
            "namespace": "shop",
            "creationTimestamp": at(ago),
            "labels": dict(OURS) if ours else {},
        },
        "spec": {"stage": stage, "freight": freight_name(word), "steps": STEPS},
        "status": {"phase": phase, **({"finishedAt": at(ago if finished is None else finished)} if over else {})},
    }


def drifted(*more: Object, without: str = "") -> list[Object]:
    """Image 2 runs, 1 is recorded, and a Freight with 2 is there. An object replaces the one of its name."""
    objects = [application(), stage(), warehouse(), freight("1", discovered=120), freight("2")]
    given = {
        (item["kind"], item["metadata"]["namespace"], item["metadata"]["name"]): item for item in (*objects, *more)
    }
    return [item for item in given.values() if item["kind"] != without]
