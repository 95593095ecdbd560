"""AppProjects as written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from commodore.argocd.model.fields import Fields
from commodore.base.errors import Location

_RUNTIME = ("roles", "syncWindows", "orphanedResources", "signatureKeys", "destinationServiceAccounts")


@dataclass(frozen=True, slots=True)
class AllowedDestination:
    """An entry of `destinations`: patterns, which may begin with `!`."""

    server: str
    name: str
    namespace: str


@dataclass(frozen=True, slots=True)
class KindRule:
    """An entry of a list of kinds: patterns. An empty name matches all."""

    group: str
    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Project:
    """An AppProject.

    Attributes:
        cluster_kinds, namespaced_kinds: the allowed kinds; None if they are not set.
        scoped: True if only clusters of the project are allowed destinations.
        runtime: fields that have an effect only in a running Argo CD.
    """

    name: str
    repositories: tuple[str, ...]
    destinations: tuple[AllowedDestination, ...]
    namespaces: tuple[str, ...]
    cluster_kinds: tuple[KindRule, ...] | None
    cluster_kinds_denied: tuple[KindRule, ...]
    namespaced_kinds: tuple[KindRule, ...] | None
    namespaced_kinds_denied: tuple[KindRule, ...]
    scoped: bool
    labels: Mapping[str, str]
    runtime: tuple[str, ...]
    place: Location

    def joined(self, other: Project) -> Project:
        """Return the project with the lists of a global project added."""
        return replace(
            self,
            repositories=self.repositories + other.repositories,
            destinations=self.destinations + other.destinations,
            cluster_kinds=_both(self.cluster_kinds, other.cluster_kinds),
            cluster_kinds_denied=self.cluster_kinds_denied + other.cluster_kinds_denied,
            namespaced_kinds=_both(self.namespaced_kinds, other.namespaced_kinds),
            namespaced_kinds_denied=self.namespaced_kinds_denied + other.namespaced_kinds_denied,
        )


def read_project(value: Any, place: Location) -> Project:
    """Read an AppProject from its object.

    Raises:
        InputError: CMD-ARGO-103, a field is missing or has a wrong type.
    """
    fields = Fields.of(value, "", place)
    metadata, spec = fields.fields("metadata"), fields.fields("spec")
    return Project(
        name=metadata.required("name"),
        repositories=spec.texts("sourceRepos"),
        destinations=tuple(
            AllowedDestination(entry.text("server"), entry.text("name"), entry.text("namespace"))
            for entry in spec.items("destinations")
        ),
        namespaces=spec.texts("sourceNamespaces"),
        cluster_kinds=_kinds(spec, "clusterResourceWhitelist"),
        cluster_kinds_denied=_kinds(spec, "clusterResourceBlacklist") or (),
        namespaced_kinds=_kinds(spec, "namespaceResourceWhitelist"),
        namespaced_kinds_denied=_kinds(spec, "namespaceResourceBlacklist") or (),
        scoped=spec.flag("permitOnlyProjectScopedClusters"),
        labels=metadata.text_map("labels"),
        runtime=tuple(key for key in _RUNTIME if spec.raw(key)),
        place=place,
    )


def _kinds(spec: Fields, key: str) -> tuple[KindRule, ...] | None:
    if key not in spec:
        return None
    return tuple(KindRule(entry.text("group"), entry.text("kind"), entry.text("name")) for entry in spec.items(key))


def _both(first: tuple[KindRule, ...] | None, second: tuple[KindRule, ...] | None) -> tuple[KindRule, ...] | None:
    return first if second is None else second if first is None else first + second
