"""Why an Application is there, where its sources come from, and what they read and give."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from commodore.argocd.acquiring import repository_identity
from commodore.argocd.asking.explaining_objects import Stages
from commodore.argocd.comparing import reads_of
from commodore.argocd.discovery import Listing
from commodore.argocd.finishing import desired, manifests
from commodore.argocd.model.application import Application
from commodore.argocd.model.sources import Source
from commodore.argocd.planning import overridden, source_type
from commodore.argocd.rendering import Opened, Rendered, Trace
from commodore.argocd.rendering.value_layers import Layer
from commodore.argocd.trees import folder_of
from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import CommodoreError
from commodore.base.kubernetes import key_of
from commodore.core.sources.git import redact


@dataclass(frozen=True, slots=True)
class Explained:
    """One Application.

    Attributes:
        data: what it is and where it is from, JSON-ready.
        objects: what Argo CD compares with the cluster; empty if it does not render.
        stages: the objects after each stage, the last ones the same.
        error: why it does not render.
        layers: the values of its charts, those first that count least.
    """

    data: dict[str, Any]
    objects: Sequence[Rendered] = ()
    error: CommodoreError | None = None
    stages: Stages = ()
    layers: Sequence[Layer] = ()


def explain_application(application: Application, listing: Listing, opened: Opened, found: Diagnostics) -> Explained:
    """An Application with the chain that leads to it, and its sources with all that they read of the repository."""
    label = listing.label(application)
    trace = Trace(layers=[])
    error: CommodoreError | None = None
    objects: tuple[Rendered, ...] = ()
    stages: Stages = ()
    try:
        rendered = opened.renderer.render(application, trace)
        first = copy.deepcopy(rendered)  # the stages after it write into the objects
        tracked = manifests(application, rendered, listing.settings, found)
        second = copy.deepcopy(tracked)
        objects = desired(application, tracked, listing.settings, (), found)
        stages = (("rendered", first), ("tracked", second), ("desired", objects))
    except CommodoreError as failure:
        error = failure
    destination = application.destination
    data = {
        "name": label,
        "instance": listing.settings.instance_name(application.namespace, application.name),
        "project": application.project,
        "destination": {
            "server": destination.server,
            "name": destination.name,
            "namespace": destination.namespace,
        },
        "chain": list(_chain(label, application, listing)),
        "sources": [
            {"index": number, **_source(application, one, listing, opened)}
            for number, one in enumerate(application.sources, 1)
        ],
        "commands": trace.commands,
        "reads": _reads(application, listing, opened),
        "objects": [{"source": one.source, "from": one.origin, **key_of(one.data)._asdict()} for one in objects],
    }
    return Explained(data, objects, error, stages, tuple(trace.layers or ()))


def _chain(label: str, application: Application, listing: Listing) -> list[str]:
    """What leads to an Application, the outermost first."""
    known = {listing.label(one): one for one in listing.applications}
    steps: list[str] = []
    seen: set[str] = set()
    while label not in seen and application is not None:
        seen.add(label)
        origin = listing.origins.get(label)
        place = f"{application.place.place}:{application.place.line}"
        if origin is None or origin.kind == "file":
            steps.append(f"{label} is defined in {place}")
            break
        if origin.kind == "set":
            steps.append(f"{label} is made by the ApplicationSet {origin.set} in {place}, by {origin.generator}")
            break
        steps.append(f"{label} is rendered by {origin.parent or 'an entry'}")
        if origin.parent not in known:
            break
        label, application = origin.parent, known[origin.parent]
    return steps[::-1]


def _source(application: Application, source: Source, listing: Listing, opened: Opened) -> dict[str, Any]:
    found: dict[str, Any] = {
        "repoURL": redact(source.repo_url),
        "path": source.path,
        "chart": source.chart,
        "targetRevision": source.revision,
        "ref": source.ref,
        "from": _where(source, listing, opened),
        "type": "",
        "overrides": [],
    }
    if source.chart or not source.path:
        return {**found, "type": "Helm" if source.chart else ""}
    try:
        tree = opened.repositories.of(source, listing.settings.profile)
        folder = folder_of(tree, source.path, source.place, source.repo_url)
        instance = listing.settings.instance_name(application.namespace, application.name)
        given, files = overridden(source, folder, tree.root, instance, opened.renderer.context.limits)
        kind = source_type(given, folder, listing.settings)
    except CommodoreError:
        return found  # rendering says so
    return {**found, "type": kind, "overrides": files, "commit": tree.revision}


def _where(source: Source, listing: Listing, opened: Opened) -> str:
    if source.chart:
        return "its chart repository, or the cache"
    mapped = opened.repositories.repo_map.find(source.repo_url)
    if mapped is not None:
        return f"{mapped.folder}, by --repo-map"
    own = listing.own.get(repository_identity(source.repo_url))
    if own is not None:
        stands = own.stands is None or own.stands.cover(source.revision)
        return "the tree itself" if stands else "the local repository, or its own"
    return "its repository, or the cache"


def _reads(application: Application, listing: Listing, opened: Opened) -> list[str]:
    try:
        return reads_of(application, listing.settings, listing.own, opened.renderer.context.limits).as_lines()
    except CommodoreError:
        return []
