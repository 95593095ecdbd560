"""Compare running images with those recorded by Kargo."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from commodore.base.kubernetes.images import ImageReference, ImageVersion
from commodore.observe.kargo import Application, Contents, Freight, Stage, Subscription, Warehouse


@dataclass(frozen=True, slots=True, order=True)
class Drift:
    """A running version that is not recorded, with the recorded ones."""

    repository: str
    deployed: ImageVersion
    recorded: tuple[ImageVersion, ...]

    def __str__(self) -> str:
        recorded = ", ".join(map(str, self.recorded)) or "nothing"
        return f"{self.repository} runs {self.deployed}, recorded is {recorded}"


@dataclass(frozen=True, slots=True)
class Deployed:
    """The running versions of a repository with their Applications, and the Applications with unversioned images."""

    versions: Mapping[ImageVersion, frozenset[str]]
    unversioned: frozenset[str]


@dataclass(frozen=True, slots=True)
class FreightOrigin:
    """A Warehouse that a Stage takes Freight from, and its number of subscriptions to each repository."""

    key: str
    warehouse: Warehouse | None
    subscriptions: Mapping[str, tuple[Subscription, ...]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The running and the recorded versions. `drift` has an entry for each origin that differs, in the order
    of names.
    """

    origins: tuple[FreightOrigin, ...]
    deployed: Mapping[str, Deployed]
    recorded: Mapping[str, tuple[ImageVersion, ...]]
    drift: Mapping[str, tuple[Drift, ...]]

    @property
    def subscribed(self) -> frozenset[str]:
        return frozenset(repository for origin in self.origins for repository in origin.subscriptions)

    def all_drift(self) -> tuple[Drift, ...]:
        return tuple(sorted({entry for drift in self.drift.values() for entry in drift}))

    def origin(self, key: str) -> FreightOrigin:
        return next(origin for origin in self.origins if origin.key == key)


def compare(stage: Stage, warehouses: Iterable[Warehouse], applications: Sequence[Application]) -> Comparison:
    """Compare the images of the Applications with the newest history of the Stage, for each origin of its Freight."""
    known = {warehouse.origin: warehouse for warehouse in warehouses}
    origins = tuple(
        FreightOrigin(key, known.get(key), _subscriptions(known.get(key)))
        for key in sorted({request.origin for request in stage.requests})
    )
    deployed = _deployed(applications)
    recorded = _recorded(stage.history)
    drift = {origin.key: tuple(_drift(origin, deployed, recorded)) for origin in origins}
    return Comparison(origins, deployed, recorded, {key: entries for key, entries in drift.items() if entries})


def contains(contents: Contents, drift: Iterable[Drift]) -> bool:
    """Return True if a Freight has everything that runs and is not recorded."""
    return all(
        any(image.name == entry.repository and entry.deployed.matches(image.version) for image in contents.images)
        for entry in drift
    )


def moved_images(contents: Contents, deployed: Mapping[str, Deployed]) -> Iterator[ImageReference]:
    """Yield the images of a Freight with other running versions: promoting it would change git."""
    carried = Counter(image.name for image in contents.images)
    for image in contents.images:
        running = deployed[image.name].versions if image.name in deployed else {}
        if not running:
            continue
        if not any(version.matches(image.version) for version in running):
            yield image
        elif carried[image.name] < len(running):
            yield image  # replaces several versions


def same_tag_twice(repository: str, tag: str, freights: Iterable[Freight]) -> bool:
    """Return True if the tag was used for several images."""
    digests = {
        image.version.digest
        for freight in freights
        for image in freight.contents.images
        if image.name == repository and image.version.tag == tag and image.version.digest
    }
    return len(digests) > 1


def _subscriptions(warehouse: Warehouse | None) -> Mapping[str, tuple[Subscription, ...]]:
    subscriptions: dict[str, tuple[Subscription, ...]] = {}
    for subscription in warehouse.subscriptions if warehouse else ():
        subscriptions[subscription.repository] = (*subscriptions.get(subscription.repository, ()), subscription)
    return subscriptions


def _deployed(applications: Iterable[Application]) -> Mapping[str, Deployed]:
    """Group images by repository. Spellings of the same version are joined: a digest decides, a bare tag joins its
    digest.
    """
    seen: dict[str, dict[ImageVersion, set[str]]] = defaultdict(lambda: defaultdict(set))
    for application in applications:
        for image in application.images:
            seen[image.name][image.version].add(str(application.meta))
    return {repository: _joined(seen[repository]) for repository in sorted(seen)}


def _joined(seen: Mapping[ImageVersion, set[str]]) -> Deployed:
    by_digest: dict[str, ImageVersion] = {}
    for version in sorted(seen, reverse=True):
        if version.digest and (version.tag or version.digest not in by_digest):
            by_digest[version.digest] = version
    versions: dict[ImageVersion, frozenset[str]] = {}
    for version, applications in seen.items():
        if version.digest:
            joined = [by_digest[version.digest]]
        else:
            tags = {other.digest for other in seen if other.digest and other.tag == version.tag}
            joined = sorted(by_digest[digest] for digest in tags) or [version]
        for part in joined if version else ():
            versions[part] = versions.get(part, frozenset()) | applications
    return Deployed(dict(sorted(versions.items())), frozenset(seen.get(ImageVersion(), ())))


def _recorded(history: Iterable[Contents]) -> Mapping[str, tuple[ImageVersion, ...]]:
    by_repository: dict[str, set[ImageVersion]] = defaultdict(set)
    for item in history:
        for image in item.images:
            by_repository[image.name].add(image.version)
    return {repository: tuple(sorted(versions)) for repository, versions in by_repository.items()}


def _drift(
    origin: FreightOrigin, deployed: Mapping[str, Deployed], recorded: Mapping[str, tuple[ImageVersion, ...]]
) -> Iterator[Drift]:
    for repository in sorted(origin.subscriptions):
        known = recorded.get(repository, ())
        for version in deployed[repository].versions if repository in deployed else ():
            if not any(version.matches(recorded_version) for recorded_version in known):
                yield Drift(repository, version, known)
