"""The objects of Kargo and Argo CD, with the fields that decisions need. Missing fields count as empty."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from commodore.base.errors import InputError
from commodore.base.kubernetes.images import ImageReference, InvalidImageError, read_images, read_repository
from commodore.base.limits import DEFAULT_LIMITS
from commodore.base.values.commits import is_commit
from commodore.observe.fields import Fields

KARGO_GROUP = "kargo.akuity.io"
ARGOCD_GROUP = "argoproj.io"
AUTHORIZED_STAGE = "kargo.akuity.io/authorized-stage"
PREFIXES = ("kargo-observer.mkutlak.github.io", "kargo-observer.kutlak.cc", "observe.commodore.dev")
SWITCHES = frozenset(f"{prefix}/{word}" for prefix in PREFIXES for word in ("ignore", "observe"))
FINISHED_PHASES = frozenset({"Succeeded", "Failed", "Errored", "Aborted"})
FINISHED_VERIFICATIONS = frozenset({"Successful", "Failed", "Error", "Aborted", "Inconclusive"})


@dataclass(frozen=True, slots=True)
class Meta:
    """The common metadata of objects."""

    namespace: str
    name: str
    uid: str
    created: datetime | None
    deleting: bool
    labels: Mapping[str, str]
    annotations: Mapping[str, str]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Application:
    """An Application of Argo CD.

    `revisions` are the synced revisions of the sources; `deployed` is the time of the newest deployment;
    `operation_finished` the end of the last operation.
    """

    meta: Meta
    images: tuple[ImageReference, ...]
    invalid_images: tuple[str, ...]
    sync: str
    revisions: tuple[str, ...]
    operation: str
    operation_finished: datetime | None
    deployed: datetime | None
    health: str

    @property
    def ignored(self) -> bool:
        return _annotated(self.meta, "ignore")

    @property
    def opted_in(self) -> bool:
        return _annotated(self.meta, "observe")

    @property
    def synced_at(self) -> datetime | None:
        """The end of the last known successful sync."""
        finished = self.operation_finished if self.operation == "Succeeded" else None
        return max(filter(None, (self.deployed, finished)), default=None)


@dataclass(frozen=True, slots=True)
class Contents:
    """The artifacts of a Freight. `others` are its commits, charts and other artifacts, each by its identity."""

    name: str
    origin: str
    images: tuple[ImageReference, ...]
    others: frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Freight:
    meta: Meta
    alias: str
    contents: Contents
    discovered: datetime | None
    verified_in: Mapping[str, timedelta | None]  # Stage to the longest soak
    current_in: Mapping[str, datetime | None]  # Stage to since when
    approved_for: frozenset[str]

    @property
    def name(self) -> str:
        return self.meta.name

    @property
    def label(self) -> str:
        """The short name and the alias, for messages."""
        return f"{short_name(self.name)} ({self.alias})" if self.alias else short_name(self.name)

    @property
    def since(self) -> datetime | None:
        """The time of its discovery, else of its creation."""
        return self.discovered or self.meta.created


@dataclass(frozen=True, slots=True)
class Request:
    """A source of a Stage's Freight. `soak` is None without a soak time."""

    origin: str
    direct: bool
    stages: tuple[str, ...]
    all_stages: bool
    soak: timedelta | None


@dataclass(frozen=True, slots=True)
class PromotionReference:
    """The last Promotion in a Stage's status, which survives its deletion. `freight` may be empty."""

    name: str
    freight: str
    finished: datetime | None


@dataclass(frozen=True, slots=True)
class Stage:
    """`current` names the running Promotion; `holds` is true if this Kargo supports holds of automatic promotion."""

    meta: Meta
    requests: tuple[Request, ...]
    targets: bool
    steps: tuple[Any, ...]
    variables: tuple[Any, ...]
    history: tuple[Contents, ...]
    verifications: tuple[str, ...]
    last: PromotionReference | None
    current: str
    auto_promotion: bool
    holds: bool


@dataclass(frozen=True, slots=True)
class Subscription:
    repository: str
    by_digest: bool


@dataclass(frozen=True, slots=True)
class Warehouse:
    meta: Meta
    subscriptions: tuple[Subscription, ...]
    manual: bool
    discovered: Mapping[str, frozenset[str]]  # repository to tags

    @property
    def origin(self) -> str:
        return f"Warehouse/{self.meta.name}"


@dataclass(frozen=True, slots=True)
class Promotion:
    meta: Meta
    stage: str
    freight: str
    phase: str
    started: datetime | None
    finished: datetime | None

    @property
    def name(self) -> str:
        return self.meta.name

    @property
    def is_finished(self) -> bool:
        return self.phase in FINISHED_PHASES


KargoObject = Application | Stage | Freight | Warehouse | Promotion


def short_name(freight: str) -> str:
    """Return the first seven digits of a Freight's name, as Kargo prints it; other names unchanged."""
    return freight[:7] if is_commit(freight) else freight


class UnreadableError(ValueError):
    """The object is unreadable: it has no name, or an essential field has the wrong type."""


def read_object(value: Mapping[str, Any]) -> tuple[KargoObject, list[str]] | None:
    """Parse an object of the five kinds. Returns it with its ignored fields; None for other kinds.

    Raises:
        UnreadableError: it is unusable for decisions.
    """
    group, _, _ = str(value.get("apiVersion", "")).partition("/")
    reader = _READERS.get((group, str(value.get("kind", ""))))
    if reader is None:
        return None
    noted: list[InputError] = []
    parsed = reader(Fields(value, noted=noted))
    if not parsed.meta.name:
        raise UnreadableError("it has no name")
    problems = [error.message for error in noted]
    if problems and isinstance(parsed, Stage | Freight):
        # An incomplete history or Freight would look like a drift.
        raise UnreadableError("; ".join(problems))
    return parsed, problems


def _meta(fields: Fields) -> Meta:
    meta = fields.fields("metadata")
    return Meta(
        namespace=meta.text("namespace") or "default",
        name=meta.text("name"),
        uid=meta.text("uid"),
        created=meta.time("creationTimestamp"),
        deleting="deletionTimestamp" in meta,
        labels=_pairs(meta, "labels"),
        annotations=_pairs(meta, "annotations"),
    )


def _pairs(fields: Fields, key: str) -> Mapping[str, str]:
    pairs = fields.fields(key)
    return {str(name): pairs.text(name) for name in pairs.data}


def _annotated(meta: Meta, word: str) -> bool:
    return any(meta.annotations.get(f"{prefix}/{word}") == "true" for prefix in PREFIXES)


def _application(fields: Fields) -> Application:
    status = fields.fields("status")
    summary = status.fields("summary")
    texts = list(summary.texts("images"))
    if len(texts) > (most := DEFAULT_LIMITS.observed_images):
        summary.complain("images", f"has more than {most} images: the others are ignored")
    images, invalid = read_images(texts[:most])
    operation = status.fields("operationState")
    sync = status.fields("sync")
    return Application(
        meta=_meta(fields),
        images=images,
        invalid_images=invalid,
        sync=sync.text("status"),
        revisions=tuple(filter(None, (sync.text("revision"), *sync.texts("revisions")))),
        operation=operation.text("phase"),
        operation_finished=operation.time("finishedAt"),
        deployed=max(
            filter(None, (deployment.time("deployedAt") for deployment in status.items("history"))), default=None
        ),
        health=status.fields("health").text("status"),
    )


def _freight(fields: Fields) -> Freight:
    status = fields.fields("status")
    return Freight(
        meta=_meta(fields),
        alias=fields.text("alias") or fields.fields("metadata").fields("labels").text(f"{KARGO_GROUP}/alias"),
        contents=_contents(fields, fields.fields("metadata").text("name")),
        discovered=fields.time("discoveredAt"),
        verified_in={stage: record.duration("longestSoak") for stage, record in status.entries("verifiedIn")},
        current_in={stage: record.time("since") for stage, record in status.entries("currentlyIn")},
        approved_for=frozenset(stage for stage, _ in status.entries("approvedFor")),
    )


def _contents(fields: Fields, name: str, origin: str = "") -> Contents:
    if not origin:
        old = fields.text("warehouse")  # Kargo before origins
        origin = f"Warehouse/{old}" if old else _origin(fields)
    return Contents(name=name, origin=origin, images=tuple(sorted(set(_images(fields)))), others=_others(fields))


def _origin(fields: Fields) -> str:
    origin = fields.fields("origin")
    name = origin.text("name")
    return f"{origin.text('kind') or 'Warehouse'}/{name}" if name else ""


def _images(fields: Fields) -> Iterator[ImageReference]:
    for entry in fields.items("images"):
        try:
            repository = read_repository(entry.text("repoURL"))
        except InvalidImageError:
            continue
        yield replace(repository, tag=entry.text("tag"), digest=entry.text("digest").lower())


def _others(fields: Fields) -> frozenset[tuple[str, ...]]:
    keys = {
        "commits": ("repoURL", "id"),
        "charts": ("repoURL", "name", "version"),
        "artifacts": ("artifactType", "subscriptionName", "version"),
    }
    return frozenset(
        (kind, *(artifact.text(key) for key in parts))
        for kind, parts in keys.items()
        for artifact in fields.items(kind)
    )


def _stage(fields: Fields) -> Stage:
    spec, status = fields.fields("spec"), fields.fields("status")
    template = spec.fields("promotionTemplate").fields("spec")
    newest = next(status.items("freightHistory"), Fields({}))
    last = status.fields("lastPromotion")
    current = status.fields("currentPromotion").text("name") if "currentPromotion" in status else ""
    request = status.fields("currentPromotionRequest").text("name") if "currentPromotionRequest" in status else ""
    return Stage(
        meta=_meta(fields),
        requests=tuple(_request(request) for request in spec.items("requestedFreight")),
        targets="targets" in spec,
        steps=tuple(template.values("steps")),
        variables=(*spec.values("vars"), *template.values("vars")),
        history=tuple(
            _contents(contents, contents.text("name"), origin) for origin, contents in newest.entries("items")
        ),
        verifications=tuple(verification.text("phase") for verification in newest.items("verificationHistory")),
        last=_last_promotion(last) if last.text("name") else None,
        current=current or request or ("unnamed" if _is_promoting(status) else ""),
        auto_promotion=status.flag("autoPromotionEnabled"),
        holds="autoPromotionHolds" in status,
    )


def _last_promotion(last: Fields) -> PromotionReference:
    freight = last.fields("freight").text("name") or last.fields("status").fields("freight").text("name")
    return PromotionReference(last.text("name"), freight, last.time("finishedAt"))


def _is_promoting(status: Fields) -> bool:
    return bool(status.fields("currentPromotion").data or status.fields("currentPromotionRequest").data)


def _request(fields: Fields) -> Request:
    sources = fields.fields("sources")
    return Request(
        origin=_origin(fields),
        direct=sources.flag("direct"),
        stages=tuple(sources.texts("stages")),
        all_stages=sources.text("availabilityStrategy") == "All",
        soak=sources.duration("requiredSoakTime"),
    )


def _warehouse(fields: Fields) -> Warehouse:
    spec = fields.fields("spec")
    return Warehouse(
        meta=_meta(fields),
        subscriptions=tuple(_subscriptions(spec)),
        manual=spec.text("freightCreationPolicy") == "Manual",
        discovered=_discovered(fields.fields("status").fields("discoveredArtifacts")),
    )


def _subscriptions(spec: Fields) -> Iterator[Subscription]:
    for entry in spec.items("subscriptions"):
        image = entry.fields("image")
        if not image.data:
            continue
        try:
            repository = read_repository(image.text("repoURL")).name
        except InvalidImageError as error:
            image.complain("repoURL", f"names no repository: {error}")
            continue
        yield Subscription(repository, image.text("imageSelectionStrategy") == "Digest")


def _discovered(artifacts: Fields) -> Mapping[str, frozenset[str]]:
    tags: dict[str, frozenset[str]] = {}
    for entry in artifacts.items("images"):
        try:
            repository = read_repository(entry.text("repoURL")).name
        except InvalidImageError:
            continue
        tags[repository] = tags.get(repository, frozenset()) | {
            reference.text("tag") for reference in entry.items("references")
        }
    return tags


def _promotion(fields: Fields) -> Promotion:
    spec, status = fields.fields("spec"), fields.fields("status")
    return Promotion(
        meta=_meta(fields),
        stage=spec.text("stage"),
        freight=spec.text("freight") or status.fields("freight").text("name"),
        phase=status.text("phase"),
        started=status.time("startedAt"),
        finished=status.time("finishedAt"),
    )


_READERS: Mapping[tuple[str, str], Callable[[Fields], KargoObject]] = {
    (ARGOCD_GROUP, "Application"): _application,
    (KARGO_GROUP, "Freight"): _freight,
    (KARGO_GROUP, "Promotion"): _promotion,
    (KARGO_GROUP, "Stage"): _stage,
    (KARGO_GROUP, "Warehouse"): _warehouse,
}
