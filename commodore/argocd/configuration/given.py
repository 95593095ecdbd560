"""What options say of an installation, beside files with its objects: single ConfigMaps, single keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.argocd.configuration.keys import CONFIG, PARAMETERS
from commodore.argocd.configuration.read import Candidates, lines_of, read_file
from commodore.argocd.model.cluster import SECRET_TYPE
from commodore.argocd.model.fields import Fields
from commodore.argocd.model.repository import REPOSITORY_TYPES
from commodore.base.errors import InputError, Location
from commodore.base.limits import Limits
from commodore.base.yaml import dump
from commodore.base.yaml.kube_yaml import read_placed_documents

_ALL = ("*",)
_KYVERNO = ("kyverno.io", "reports.kyverno.io", "wgpolicyk8s.io")
_CILIUM = ("CiliumIdentity", "CiliumEndpoint", "CiliumEndpointSlice")
_REPORTS = ("PolicyReport", "EphemeralReport", "AdmissionReport", "BackgroundScanReport")
_SHIPPED: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("", "discovery.k8s.io"), ("Endpoints", "EndpointSlice")),
    (("coordination.k8s.io",), ("Lease",)),
    (("authentication.k8s.io", "authorization.k8s.io"), _ALL),
    (("certificates.k8s.io",), ("CertificateSigningRequest",)),
    (("cert-manager.io",), ("CertificateRequest",)),
    (("cilium.io",), _CILIUM),
    (_KYVERNO, (*(name for one in _REPORTS for name in (one, f"Cluster{one}")), "UpdateRequest")),
)
"""The kinds that the manifests of Argo CD 3 exclude in the ConfigMap that they come with."""


@dataclass(frozen=True, slots=True)
class Given:
    """What counts more than all that files say.

    Attributes:
        namespace: that of Argo CD.
        config, parameters: files with `argocd-cm` and `argocd-cmd-params-cm`: the ConfigMaps, or their data alone.
        namespaces: patterns of the namespaces in which Applications count.
        build_options: words for `kustomize build`.
        secrets: files with Secrets of repositories, of which no credentials are read.
        shipped: whether kinds are excluded that the manifests of Argo CD exclude, unless something else says which.
    """

    namespace: str = ""
    config: tuple[Path, ...] = ()
    parameters: tuple[Path, ...] = ()
    namespaces: tuple[str, ...] = ()
    build_options: tuple[str, ...] = ()
    shipped: bool = False
    secrets: tuple[Path, ...] = ()

    def take_into(self, candidates: Candidates, limits: Limits) -> None:
        """Say it first: candidates keep what they have.

        Raises:
            InputError: CMD-ARGO-101, a file cannot be read; CMD-ARGO-103, it holds something else.
        """
        candidates.namespace = self.namespace
        if self.namespaces:
            _take(candidates, PARAMETERS, {"application.namespaces": ",".join(self.namespaces)}, "--app-namespace")
        if self.build_options:
            options = " ".join(self.build_options)
            _take(candidates, CONFIG, {"kustomize.buildOptions": options}, "--kustomize-build-option")
        for files, name in ((self.config, CONFIG), (self.parameters, PARAMETERS)):
            for file in files:
                content = read_file(file, limits)
                for value, line in read_placed_documents(content, place=str(file)):
                    place = Location(str(file), line)
                    whole = _config_map(value, name, place)
                    candidates.lines[place] = lines_of(content, whole, line)
                    candidates.config_map(Fields.of(whole, "", place), "option")
        for file in self.secrets:
            for value, line in read_placed_documents(read_file(file, limits), place=str(file)):
                candidates.secret(_secret(value, Location(str(file), line)))

    def defaults(self) -> dict[str, str]:
        """What keys of `argocd-cm` are where nothing says it."""
        if not self.shipped:
            return {}
        entries = [{"apiGroups": [*groups], "kinds": [*kinds], "clusters": ["*"]} for groups, kinds in _SHIPPED]
        return {"resource.exclusions": dump(entries)}


def _config_map(value: Any, name: str, place: Location) -> dict[str, Any]:
    """The ConfigMap that a file holds, or of which it holds the data alone."""
    fields = Fields.of(value, "", place)
    metadata = fields.fields("metadata")
    if not fields.text("kind"):
        return {"kind": "ConfigMap", "metadata": {"name": name}, "data": fields.data}
    if fields.text("kind") != "ConfigMap" or metadata.text("name") not in ("", name):
        raise InputError(
            "CMD-ARGO-103",
            f"the file holds no ConfigMap {name}",
            hint="it is that ConfigMap, or its data",
            locations=[place],
        )
    return {**fields.data, "metadata": {**metadata.data, "name": name}}


def _secret(value: Any, place: Location) -> Fields:
    fields = Fields.of(value, "", place)
    kind = fields.fields("metadata").text_map("labels").get(SECRET_TYPE)
    if fields.text("kind") != "Secret" or kind not in REPOSITORY_TYPES:
        raise InputError(
            "CMD-ARGO-103",
            "the file holds something else than Secrets of repositories",
            hint=f"they have the label {SECRET_TYPE}: repository, or repo-creds",
            locations=[place],
        )
    return fields


def _take(candidates: Candidates, name: str, data: Mapping[str, str], place: str) -> None:
    value = {"kind": "ConfigMap", "metadata": {"name": name}, "data": data}
    candidates.config_map(Fields.of(value, "", Location(place)), "option")
