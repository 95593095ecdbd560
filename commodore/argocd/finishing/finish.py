"""From what sources gave to what Argo CD wants on the cluster."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.finishing.scopes import Scopes
from commodore.argocd.finishing.tracking import Tracker, metadata_of
from commodore.argocd.model.application import Application
from commodore.argocd.model.fields import Fields
from commodore.argocd.rendering import Rendered
from commodore.base.diagnostics import Diagnostic, Diagnostics, Subject
from commodore.base.errors import InputError, Location
from commodore.base.kubernetes import ObjectKey, key_of
from commodore.base.yaml.kube_yaml import read_documents


def manifests(
    application: Application, objects: Iterable[Rendered], settings: ArgoSettings, found: Diagnostics
) -> tuple[Rendered, ...]:
    """The objects of an Application with its tracking: lists opened, in order, what stands twice kept.

    Raises:
        InputError: CMD-ARGO-503, labels or annotations of one are no texts; CMD-ARGO-417, an item of a list is no
            object.
    """
    tracker = _tracker(application, settings)
    result = opened(objects, _label(application, settings), found)
    for one in result:
        tracker.mark(one.data)
    return result


def desired(
    application: Application,
    tracked: Sequence[Rendered],
    settings: ArgoSettings,
    named: Iterable[str],
    found: Diagnostics,
) -> tuple[Rendered, ...]:
    """What Argo CD compares with the cluster: namespaces set or taken away, later duplicates alone, kinds filtered.

    Args:
        tracked: the objects as `manifests` gives them; they are changed.
        named: kinds that are cluster-wide beside those of Kubernetes and of CRDs among the objects.
    """
    tracker = _tracker(application, settings)
    scopes = Scopes(named, (one.data for one in tracked))
    for one in tracked:
        _place(one.data, scopes, tracker)
    unique = _later_ones(tracked, _label(application, settings), found)
    cluster = application.destination.address(settings.clusters)
    return tuple(_kept(unique, cluster, settings, _label(application, settings), found))


def _tracker(application: Application, settings: ArgoSettings) -> Tracker:
    instance = settings.instance_name(application.namespace, application.name)
    return Tracker(settings, instance, application.destination.namespace)


def _label(application: Application, settings: ArgoSettings) -> str:
    return settings.label(application.namespace, application.name)


def opened(objects: Iterable[Rendered], application: str, found: Diagnostics) -> tuple[Rendered, ...]:
    """The objects with the items of lists in place of these.

    Args:
        application: what diagnostics call it.

    Raises:
        InputError: CMD-ARGO-417, an item of a list is no object.
    """
    return tuple(_items(objects, application, found))


def _items(objects: Iterable[Rendered], application: str, found: Diagnostics) -> Iterator[Rendered]:
    for one in objects:
        kind = one.data["kind"]
        items = one.data.get("items")
        if isinstance(items, list):
            for item in items:
                if not isinstance(item, dict) or not isinstance(item.get("kind"), str):
                    raise InputError(
                        "CMD-ARGO-417",
                        f"an item of a {kind} is no object with a kind",
                        hint="every item of a list is a Kubernetes object",
                        locations=[one.origin] if one.origin else [],
                    )
                yield replace(one, data=item)
        elif kind.endswith("List") and "items" in one.data and items is None and not {"spec", "status"} & {*one.data}:
            found.add(Diagnostic("CMD-ARGO-509", f"a {kind} has no items", "info", subject=Subject(application)))
        else:
            yield one


def in_namespace(objects: Sequence[dict[str, Any]], namespace: str) -> list[dict[str, Any]]:
    """Objects as Argo CD applies them: those of cluster-wide kinds without a namespace, others with one.

    Args:
        namespace: for objects that have none; empty to leave them so.
    """
    scopes, placed = Scopes((), objects), []
    for one in objects:
        key, metadata = key_of(one), {**(one.get("metadata") or {})}
        if scopes.is_cluster_wide(key.group, key.kind):
            metadata.pop("namespace", None)
        elif not metadata.get("namespace") and namespace:
            metadata["namespace"] = namespace
        placed.append({**one, "metadata": metadata})
    return placed


def _place(data: dict[str, Any], scopes: Scopes, tracker: Tracker) -> None:
    key, metadata = key_of(data), metadata_of(data)
    if scopes.is_cluster_wide(key.group, key.kind):
        if metadata.get("namespace"):
            del metadata["namespace"]
            tracker.mark(data, definitions=True)  # as Argo CD does: here it makes no difference between kinds
    elif not metadata.get("namespace") and tracker.namespace:
        metadata["namespace"] = tracker.namespace
        tracker.mark(data)


def _later_ones(objects: Sequence[Rendered], application: str, found: Diagnostics) -> list[Rendered]:
    """Of objects with one key the last, at its place."""
    last: dict[ObjectKey, list[Rendered]] = {}
    result: list[tuple[ObjectKey, Rendered]] = []
    generated = 0
    for one in objects:
        key = key_of(one.data)
        if not key.name and (prefix := metadata_of(one.data).get("generateName")):
            generated += 1
            key = key._replace(name=f"{prefix}\0{generated}")
        last.setdefault(key, []).append(one)
        result.append((key, one))
    for key, several in last.items():
        if len(several) > 1:
            sources = ", ".join(str(one.source) for one in several)
            found.add(
                Diagnostic(
                    "CMD-ARGO-501",
                    f"{key} is given {len(several)} times (by the sources {sources}); the last one counts",
                    "warning",
                    "keep one of them",
                    subject=Subject(application=application, object=str(key)),
                )
            )
    return [one for key, one in result if last[key][-1] is one]


def _kept(
    objects: Iterable[Rendered], cluster: str, settings: ArgoSettings, application: str, found: Diagnostics
) -> Iterator[Rendered]:
    filters = ResourceFilter(settings)
    for one in objects:
        key = key_of(one.data)
        if not filters.leaves_out(key.group, key.kind, cluster):
            yield one
            continue
        found.add(
            Diagnostic(
                "CMD-ARGO-502",
                f"{key} is left out: the settings exclude its kind",
                "info",
                subject=Subject(application=application, object=str(key)),
            )
        )


@dataclass(frozen=True, slots=True)
class _Entry:
    """Kinds of groups on clusters; an empty tuple stands for all."""

    groups: tuple[str, ...]
    kinds: tuple[str, ...]
    clusters: tuple[str, ...] = ()

    def fits(self, group: str, kind: str, cluster: str) -> bool:
        return (
            _any(self.groups, group)
            and (not self.kinds or kind in self.kinds or "*" in self.kinds)
            and _any(self.clusters, cluster)
        )

    def fits_cluster(self, cluster: str) -> bool:
        return _any(self.clusters, cluster)


_ALWAYS = (
    _Entry(("events.k8s.io", "metrics.k8s.io"), ()),
    _Entry(("",), ("Event",)),
    _Entry(("coordination.k8s.io",), ("Lease",)),
)


def _any(patterns: Iterable[str], text: str) -> bool:
    given = tuple(patterns)
    return not given or any(fnmatch.fnmatchcase(text, pattern) for pattern in given)


class ResourceFilter:
    """Says which kinds are left out.

    Raises:
        InputError: CMD-ARGO-103, CMD-YAML-001, the settings cannot be read.
    """

    def __init__(self, settings: ArgoSettings) -> None:
        self._excluded = (*_ALWAYS, *_entries(settings, "resource.exclusions"))
        self._included = _entries(settings, "resource.inclusions")

    def leaves_out(self, group: str, kind: str, cluster: str) -> bool:
        """Whether objects of a kind on a cluster, by its address, are left out."""
        if any(one.fits(group, kind, cluster) for one in self._excluded):
            return True
        included = [one for one in self._included if one.fits_cluster(cluster)]
        return bool(included) and not any(one.fits(group, kind, cluster) for one in included)


def _entries(settings: ArgoSettings, key: str) -> tuple[_Entry, ...]:
    found = settings.config.get(key)
    if found is None or not found.value:
        return ()
    place = found.place or Location(key)
    documents = list(read_documents(found.value, place=key))
    fields = Fields({key: documents[0] if documents else None}, "", place)
    return tuple(_Entry(one.texts("apiGroups"), one.texts("kinds"), one.texts("clusters")) for one in fields.items(key))
