"""`resource.exclusions` and `resource.inclusions`: kinds that Argo CD does not touch."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass

from commodore.argocd.configuration import ArgoSettings
from commodore.argocd.model.fields import Fields
from commodore.base.errors import Location
from commodore.base.yaml.kube_yaml import read_documents


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
