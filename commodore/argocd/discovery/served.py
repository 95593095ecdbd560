"""The APIs of CustomResourceDefinitions in the files of a tree, for charts that check the APIs of a cluster."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.argocd.acquiring import repository_identity
from commodore.argocd.discovery.scan import ENDINGS, objects_of
from commodore.argocd.model import Cluster
from commodore.argocd.model.application import Application
from commodore.argocd.trees import Tree, is_git
from commodore.base.errors import InputError
from commodore.base.files.tree import walk
from commodore.base.limits import Limits
from commodore.base.yaml.kube_yaml import read_documents

_CRD = "CustomResourceDefinition"
_GROUP = "apiextensions.k8s.io/"


@dataclass
class ServedApis:
    """The APIs that clusters serve, by the CustomResourceDefinitions in the files of a tree.

    Those below the folder of a source are for the clusters of its Applications, others for all. The files are scanned
    on first use.

    Args:
        own: the tree, by the repositories that it replaces.
        clusters: the known clusters.
    """

    own: Mapping[str, Tree]
    applications: Sequence[Application]
    clusters: tuple[Cluster, ...]
    limits: Limits
    _served: dict[str, tuple[str, ...]] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, address: str) -> tuple[str, ...]:
        """Return the APIs of a cluster, `GROUP/VERSION` and `GROUP/VERSION/KIND`, sorted.

        Args:
            address: the address of the cluster.
        """
        with self._lock:
            if self._served is None:
                self._served = self._scan()
            apis: set[str] = set()
            for path, served in self._served.items():
                addresses = self._addresses(path)
                if not addresses or address in addresses:
                    apis |= set(served)
            return tuple(sorted(apis))

    def _scan(self) -> dict[str, tuple[str, ...]]:
        roots = {tree.root for tree in self.own.values()}
        return {str(path): served for root in sorted(roots) for path, served in _files(root, self.limits)}

    def _addresses(self, path: str) -> set[str]:
        """Return the destination clusters of Applications with a source whose folder contains a file."""
        addresses = set()
        for application in self.applications:
            for source in application.sources:
                tree = self.own.get(repository_identity(source.repo_url)) if source.path else None
                if tree is not None and Path(path).is_relative_to(os.path.normpath(tree.root / source.path)):
                    addresses.add(application.destination.address(self.clusters))
        return addresses


def _files(root: Path, limits: Limits) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield the files below a folder with CustomResourceDefinitions, and their APIs."""
    for _, entry in walk(root, skip=is_git):
        if entry.is_file() and not entry.is_symlink() and (served := served_by(Path(entry.path), limits)):
            yield Path(entry.path), served


def served_by(file: Path, limits: Limits) -> tuple[str, ...]:
    """Return the APIs of the CustomResourceDefinitions of a file; none for templates and unreadable files."""
    try:
        if not file.name.endswith(ENDINGS) or file.stat().st_size > limits.argocd_scanned_bytes:
            return ()
        content = file.read_bytes()
        if _CRD.encode() not in content or _GROUP.encode() not in content:
            return ()
        objects = [item for value in read_documents(content, place=file.name) for item in objects_of(value)]
    except (OSError, InputError):
        return ()
    return tuple(dict.fromkeys(api for item in objects for api in _apis(item)))


def _apis(value: Mapping[str, Any]) -> Iterable[str]:
    spec = value.get("spec")
    if value["kind"] != _CRD or not str(value.get("apiVersion")).startswith(_GROUP) or not isinstance(spec, Mapping):
        return
    names = spec.get("names")
    group, kind = spec.get("group"), names.get("kind") if isinstance(names, Mapping) else None
    versions = spec.get("versions")
    listed = versions if isinstance(versions, list) else [{"name": spec.get("version"), "served": True}]
    for version in listed:
        if (
            isinstance(version, Mapping)
            and version.get("served")
            and all(map(_is_name, (group, kind, version.get("name"))))
        ):
            yield f"{group}/{version['name']}"
            yield f"{group}/{version['name']}/{kind}"


def _is_name(text: Any) -> bool:
    return isinstance(text, str) and text.replace(".", "").replace("-", "").isalnum() and text.isascii()
