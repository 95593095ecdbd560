"""Applications as written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from commodore.argocd.model.cluster import IN_CLUSTER, IN_CLUSTER_SERVER, Cluster
from commodore.argocd.model.fields import Fields
from commodore.argocd.model.sources import SOURCE_FIELDS, Source, read_source
from commodore.base.errors import InputError, Location

GROUP = "argoproj.io"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_NAME = 253
_REF = re.compile(r"[a-zA-Z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Destination:
    """The destination of an Application: `server` or `name`, and a namespace."""

    server: str = ""
    name: str = ""
    namespace: str = ""

    def address(self, clusters: tuple[Cluster, ...]) -> str:
        """Return the address of its API server, empty if it is unknown; `in-cluster` is the cluster of Argo CD."""
        if self.server:
            return self.server
        known = {cluster.name: cluster.server for cluster in clusters}
        return known.get(self.name, IN_CLUSTER_SERVER if self.name == IN_CLUSTER else "")


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """An entry of `ignoreDifferences`. An empty name or namespace matches all."""

    group: str
    kind: str
    name: str = ""
    namespace: str = ""
    pointers: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()
    managers: tuple[str, ...] = ()
    place: Location | None = None


@dataclass(frozen=True, slots=True)
class Application:
    """An Application.

    Attributes:
        several: True if it has `sources`, to which further rules apply.
        data: the object as written.
    """

    name: str
    namespace: str
    project: str
    destination: Destination
    sources: tuple[Source, ...]
    several: bool
    ignored: tuple[IgnoreRule, ...]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    data: Mapping[str, Any]
    place: Location


def read_application(value: Any, place: Location, *, dry: bool = False, any_name: bool = False) -> Application:
    """Read an Application from its object.

    Args:
        dry: use the dry source of a hydrated Application, instead of the hydrated branch.
        any_name: accept names that Kubernetes refuses, except names that are unsafe as a part of a path.

    Raises:
        InputError: CMD-ARGO-103, a field is missing or has a wrong type.
    """
    fields = Fields.of(value, "", place)
    metadata, spec = fields.fields("metadata"), fields.fields("spec")
    name = metadata.required("name")
    for text, what in ((name, "metadata.name"), (metadata.text("namespace"), "metadata.namespace")):
        is_path = text in (".", "..") or not text.isprintable() or "/" in text
        if text and not is_name(text) and (is_path or not any_name or len(text) > _LONGEST_NAME):
            raise InputError("CMD-ARGO-103", misnamed(text, what), hint=NAME_FORM, locations=[place])
    sources, several = _sources(spec, dry=dry)
    return Application(
        name=name,
        namespace=metadata.text("namespace"),
        project=spec.text("project") or "default",
        destination=_destination(spec.fields("destination")),
        sources=sources,
        several=several,
        ignored=tuple(map(_rule, spec.items("ignoreDifferences"))),
        labels=metadata.text_map("labels"),
        annotations=metadata.text_map("annotations"),
        data=fields.data,
        place=place,
    )


NAME_FORM = "names are lower case letters, digits, '-' and '.', at most 253 of them"


def is_name(text: str) -> bool:
    """Check if Kubernetes accepts a text as the name of an object."""
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None


def misnamed(text: str, what: str) -> str:
    """Return the message for a name that Kubernetes refuses."""
    return f"{what} is {text[:80]!r}, which Kubernetes refuses as a name"


def check_application(application: Application) -> None:
    """Check the fields of an Application that rendering needs.

    Raises:
        InputError: CMD-ARGO-301, 303, 304, a source is incomplete or has an invalid ref; CMD-ARGO-606, the
            destination is invalid.
    """
    server, name = application.destination.server, application.destination.name
    if bool(server) == bool(name):
        given = "both server and name" if server else "neither server nor name"
        raise InputError(
            "CMD-ARGO-606",
            f"spec.destination has {given}",
            hint="a destination has exactly one of them",
            locations=[application.place],
        )
    for source in application.sources:
        _check_source(source, several=application.several)
    _check_refs(application.sources)


def _destination(fields: Fields) -> Destination:
    return Destination(fields.text("server").rstrip("/"), fields.text("name"), fields.text("namespace"))


def _sources(spec: Fields, *, dry: bool) -> tuple[tuple[Source, ...], bool]:
    hydrator = spec.optional("sourceHydrator")
    if hydrator is not None:
        return (_hydrated(hydrator, dry=dry),), False
    listed = tuple(read_source(source) for source in spec.items("sources"))
    if listed:
        return listed, True
    return (read_source(spec.fields("source")),), False


def _hydrated(fields: Fields, *, dry: bool) -> Source:
    source = fields.fields("drySource")
    if dry:
        return read_source(source)
    sync = fields.fields("syncSource")
    data = {
        "repoURL": sync.text("repoURL") or source.required("repoURL"),
        "targetRevision": sync.required("targetBranch"),
        "path": sync.text("path") or ".",
    }
    return read_source(Fields(data, sync.path, fields.place))


def _check_source(source: Source, *, several: bool) -> None:
    if not source.repo_url or not (source.path or source.chart or (several and source.ref)):
        choices = "path, chart or ref" if several else "path or chart"
        raise InputError(
            "CMD-ARGO-301",
            f"{source.field} needs repoURL and one of {choices}",
            hint=f"the fields of a source are {', '.join(sorted(SOURCE_FIELDS))}",
            locations=[source.place],
        )
    if source.chart and not source.revision:
        raise InputError(
            "CMD-ARGO-303",
            f"{source.field} names the chart {source.chart} without targetRevision",
            hint="write the version of the chart, or a range of versions, as targetRevision",
            locations=[source.place],
        )


def _check_refs(sources: tuple[Source, ...]) -> None:
    seen: set[str] = set()
    for source in sources:
        if not source.ref:
            continue
        if not _REF.fullmatch(source.ref):
            raise _bad_ref(source, "holds other characters than letters, digits, '-' and '_'")
        if source.ref in seen:
            raise _bad_ref(source, "is that of several sources")
        seen.add(source.ref)


def _bad_ref(source: Source, what: str) -> InputError:
    return InputError(
        "CMD-ARGO-304",
        f"the ref {source.ref!r} of {source.field} {what}",
        hint="give each source that others refer to a name of its own",
        locations=[source.place],
    )


def _rule(fields: Fields) -> IgnoreRule:
    return IgnoreRule(
        group=fields.text("group"),
        kind=fields.text("kind"),
        name=fields.text("name"),
        namespace=fields.text("namespace"),
        pointers=fields.texts("jsonPointers"),
        expressions=fields.texts("jqPathExpressions"),
        managers=fields.texts("managedFieldsManagers"),
        place=fields.place,
    )
