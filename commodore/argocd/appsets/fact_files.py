"""Facts files: the answers of forges, clusters and plugins to generators, read from files instead of the network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from commodore.argocd.configuration import read_file
from commodore.argocd.model import Cluster, Fields
from commodore.base.errors import InputError, Location
from commodore.base.limits import Limits
from commodore.base.yaml.kube_yaml import read_placed_documents

Fact = Mapping[str, Any]

_KNOWN: Final[Mapping[str, str]] = {
    "clusters": "name server project labels annotations values namespaces clusterResources kubeVersion apiVersions",
    "clusterDecisions": "configMapRef resourceName labels matchKey statusListKey decisions values",
    "scmRepositories": "provider organization repository repositoryID branch sha url labels paths values project "
    "region tags",
    "pullRequests": "provider organization repository number title branch targetBranch headSHA author labels values "
    "project state",
    "plugins": "configMapRef input outputs values",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """The entries of facts files, by section.

    Attributes:
        moment: the time that `now` returns in templates; None if they must not call it.
    """

    sections: Mapping[str, tuple[Fact, ...]] = field(default_factory=dict)
    clusters: tuple[Cluster, ...] = ()
    moment: datetime | None = None

    def of(self, section: str) -> tuple[Fact, ...]:
        """Return the entries of a section."""
        return self.sections.get(section, ())


def read_facts(files: Iterable[Path], limits: Limits) -> Facts:
    """Read facts files; their sections are concatenated.

    Raises:
        InputError: CMD-ARGO-101, a file cannot be read; CMD-ARGO-203, it does not hold facts.
    """
    sections: dict[str, list[Fact]] = {}
    clusters: list[Cluster] = []
    for file in files:
        for value, line in read_placed_documents(read_file(file, limits), place=str(file)):
            try:
                _read(value, Location(str(file), line), sections, clusters)
            except InputError as error:
                raise InputError("CMD-ARGO-203", error.message, hint=error.hint, locations=error.locations) from error
    return Facts({key: tuple(value) for key, value in sections.items()}, tuple(clusters))


def _read(value: Any, place: Location, sections: dict[str, list[Fact]], clusters: list[Cluster]) -> None:
    fields = Fields.of(value, "", place)
    _refuse_unknown(fields, frozenset(_KNOWN))
    for section, known in _KNOWN.items():
        for entry in fields.items(section):
            _refuse_unknown(entry, frozenset(known.split()))
            sections.setdefault(section, []).append(entry.data)
            if section == "clusters":
                clusters.append(_cluster(entry))


def _refuse_unknown(fields: Fields, known: frozenset[str]) -> None:
    for path, hint in fields.unknown(known):
        raise InputError(
            "CMD-ARGO-203",
            f"unknown field {path} in a facts file",
            hint=hint or f"fields are {', '.join(sorted(known))}",
            locations=[fields.place],
        )


def _cluster(entry: Fields) -> Cluster:
    return Cluster(
        name=entry.required("name"),
        server=entry.required("server").rstrip("/"),
        project=entry.text("project"),
        labels=entry.text_map("labels"),
        annotations=entry.text_map("annotations"),
        namespaces=entry.texts("namespaces"),
        place=entry.place,
        kube_version=entry.text("kubeVersion"),
        api_versions=entry.texts("apiVersions"),
    )
