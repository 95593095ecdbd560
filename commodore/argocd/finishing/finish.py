"""From rendered objects to the desired objects on the cluster."""

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
    application: Application, objects: Iterable[Rendered], settings: ArgoSettings, diagnostics: Diagnostics
) -> tuple[Rendered, ...]:
    """Return the objects of an Application with its tracking: lists expanded, order and duplicates kept.

    Raises:
        InputError: CMD-ARGO-503, labels or annotations are not strings; CMD-ARGO-417, an item of a list is not an
            object.
    """
    tracker = _tracker(application, settings)
    result = expand_lists(objects, _label(application, settings), diagnostics)
    for rendered in result:
        tracker.mark(rendered.data)
    return result


def desired(
    application: Application,
    tracked: Sequence[Rendered],
    settings: ArgoSettings,
    named: Iterable[str],
    diagnostics: Diagnostics,
) -> tuple[Rendered, ...]:
    """Return the objects that Argo CD compares with the cluster: namespaces set or removed, the last of duplicates,
    kinds filtered.

    Args:
        tracked: the objects of `manifests`; they are changed in place.
        named: cluster-wide kinds in addition to those of Kubernetes and of CRDs among the objects.
    """
    tracker = _tracker(application, settings)
    scopes = Scopes(named, (rendered.data for rendered in tracked))
    for rendered in tracked:
        _place(rendered.data, scopes, tracker)
    unique = _last_of_duplicates(tracked, _label(application, settings), diagnostics)
    cluster = application.destination.address(settings.clusters)
    return tuple(_not_excluded(unique, cluster, settings, _label(application, settings), diagnostics))


def _tracker(application: Application, settings: ArgoSettings) -> Tracker:
    instance = settings.instance_name(application.namespace, application.name)
    return Tracker(settings, instance, application.destination.namespace)


def _label(application: Application, settings: ArgoSettings) -> str:
    return settings.label(application.namespace, application.name)


def expand_lists(objects: Iterable[Rendered], application: str, diagnostics: Diagnostics) -> tuple[Rendered, ...]:
    """Replace lists by their items.

    Args:
        application: its name in diagnostics.

    Raises:
        InputError: CMD-ARGO-417, an item of a list is not an object.
    """
    return tuple(_items(objects, application, diagnostics))


def _items(objects: Iterable[Rendered], application: str, diagnostics: Diagnostics) -> Iterator[Rendered]:
    for rendered in objects:
        kind = rendered.data["kind"]
        items = rendered.data.get("items")
        if isinstance(items, list):
            for item in items:
                if not isinstance(item, dict) or not isinstance(item.get("kind"), str):
                    raise InputError(
                        "CMD-ARGO-417",
                        f"an item of a {kind} must be an object with a kind",
                        hint="every item of a list is a Kubernetes object",
                        locations=[rendered.origin] if rendered.origin else [],
                    )
                yield replace(rendered, data=item)
        elif (
            kind.endswith("List")
            and "items" in rendered.data
            and items is None
            and not {"spec", "status"} & {*rendered.data}
        ):
            diagnostics.add(Diagnostic("CMD-ARGO-509", f"a {kind} has no items", "info", subject=Subject(application)))
        else:
            yield rendered


def in_namespace(objects: Sequence[dict[str, Any]], namespace: str) -> list[dict[str, Any]]:
    """Return objects as Argo CD applies them: cluster-wide ones without a namespace, others with one.

    Args:
        namespace: for objects without one; empty to leave them unchanged.
    """
    scopes, placed = Scopes((), objects), []
    for data in objects:
        key, metadata = key_of(data), {**(data.get("metadata") or {})}
        if scopes.is_cluster_wide(key.group, key.kind):
            metadata.pop("namespace", None)
        elif not metadata.get("namespace") and namespace:
            metadata["namespace"] = namespace
        placed.append({**data, "metadata": metadata})
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


def _last_of_duplicates(objects: Sequence[Rendered], application: str, diagnostics: Diagnostics) -> list[Rendered]:
    """Keep the last of the objects with the same key, at its position."""
    last: dict[ObjectKey, list[Rendered]] = {}
    result: list[tuple[ObjectKey, Rendered]] = []
    generated = 0
    for rendered in objects:
        key = key_of(rendered.data)
        if not key.name and (prefix := metadata_of(rendered.data).get("generateName")):
            generated += 1
            key = key._replace(name=f"{prefix}\0{generated}")
        last.setdefault(key, []).append(rendered)
        result.append((key, rendered))
    for key, several in last.items():
        if len(several) > 1:
            sources = ", ".join(str(rendered.source) for rendered in several)
            diagnostics.add(
                Diagnostic(
                    "CMD-ARGO-501",
                    f"{key} is given {len(several)} times (by the sources {sources}); the last one counts",
                    "warning",
                    "keep one of them",
                    subject=Subject(application=application, object=str(key)),
                )
            )
    return [rendered for key, rendered in result if last[key][-1] is rendered]


def _not_excluded(
    objects: Iterable[Rendered], cluster: str, settings: ArgoSettings, application: str, diagnostics: Diagnostics
) -> Iterator[Rendered]:
    filters = ResourceFilter(settings)
    for rendered in objects:
        key = key_of(rendered.data)
        if not filters.excludes(key.group, key.kind, cluster):
            yield rendered
            continue
        diagnostics.add(
            Diagnostic(
                "CMD-ARGO-502",
                f"{key} is left out: the settings exclude its kind",
                "info",
                subject=Subject(application=application, object=str(key)),
            )
        )


@dataclass(frozen=True, slots=True)
class _Entry:
    """Kinds of groups on clusters; an empty tuple means all."""

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
    """The kinds that the settings exclude.

    Raises:
        InputError: CMD-ARGO-103, CMD-YAML-001, the settings cannot be read.
    """

    def __init__(self, settings: ArgoSettings) -> None:
        self._excluded = (*_ALWAYS, *_entries(settings, "resource.exclusions"))
        self._included = _entries(settings, "resource.inclusions")

    def excludes(self, group: str, kind: str, cluster: str) -> bool:
        """Check if objects of a kind are excluded on a cluster, given by its address."""
        if any(entry.fits(group, kind, cluster) for entry in self._excluded):
            return True
        included = [entry for entry in self._included if entry.fits_cluster(cluster)]
        return bool(included) and not any(entry.fits(group, kind, cluster) for entry in included)


def _entries(settings: ArgoSettings, key: str) -> tuple[_Entry, ...]:
    setting = settings.config.get(key)
    if setting is None or not setting.value:
        return ()
    place = setting.place or Location(key)
    documents = list(read_documents(setting.value, place=key))
    fields = Fields({key: documents[0] if documents else None}, "", place)
    return tuple(
        _Entry(entry.texts("apiGroups"), entry.texts("kinds"), entry.texts("clusters")) for entry in fields.items(key)
    )
