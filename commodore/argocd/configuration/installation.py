"""The description of an installation: files with objects or ConfigMaps, and single keys."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commodore.argocd.configuration.keys import CONFIG, PARAMETERS
from commodore.argocd.configuration.profiles import Profile
from commodore.argocd.configuration.read import Candidates, lines_of, read_candidates, read_file, take_values
from commodore.argocd.model.cluster import SECRET_TYPE
from commodore.argocd.model.fields import Fields
from commodore.argocd.model.plugins import PluginRule
from commodore.argocd.model.repository import REPOSITORY_TYPES
from commodore.base.diagnostics import Diagnostics
from commodore.base.errors import InputError, Location
from commodore.base.limits import Limits
from commodore.base.yaml import dump
from commodore.base.yaml.kube_scalars import Problem
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
    (_KYVERNO, (*(name for report in _REPORTS for name in (report, f"Cluster{report}")), "UpdateRequest")),
)
"""The kinds that the ConfigMap in the manifests of Argo CD 3 excludes."""


@dataclass(frozen=True, slots=True)
class Installation:
    """The description of an installation. It takes precedence over the tree.

    Attributes:
        namespace: the namespace of Argo CD.
        application_namespaces: patterns of further namespaces for Applications.
        objects: YAML files with objects: ConfigMaps, an ArgoCD of the operator, cluster Secrets, AppProjects.
        values: files with values of the Argo CD chart.
        argocd_cm, argocd_cmd_params_cm: files with these ConfigMaps, or with their data only.
        repository_secrets: files with Secrets of repositories; credentials are not read.
        kustomize_build_options: options of `kustomize build`.
        shipped_defaults: True to exclude the kinds that the manifests of Argo CD exclude, unless a setting is given.
        place: its name in reports.
    """

    namespace: str = ""
    application_namespaces: tuple[str, ...] = ()
    objects: tuple[Path, ...] = ()
    values: tuple[Path, ...] = ()
    argocd_cm: tuple[Path, ...] = ()
    argocd_cmd_params_cm: tuple[Path, ...] = ()
    repository_secrets: tuple[Path, ...] = ()
    kustomize_build_options: tuple[str, ...] = ()
    shipped_defaults: bool = False
    place: str = "the installation"

    def candidates(
        self, profile: Profile, plugins: Sequence[PluginRule], limits: Limits, diagnostics: Diagnostics
    ) -> Candidates:
        """Return the settings as the first candidates, which take precedence.

        Args:
            plugins: the rules for sources of plugins, which take precedence over definitions in files.

        Raises:
            InputError: CMD-ARGO-101, a file cannot be read; CMD-ARGO-103, it holds another object; see
                `read_candidates` and `take_values`.
        """
        candidates = Candidates(diagnostics, profile=profile, namespace=self.namespace, defaults=self._defaults())
        if self.application_namespaces:
            self._take(candidates, PARAMETERS, "application.namespaces", ",".join(self.application_namespaces))
        if self.kustomize_build_options:
            self._take(candidates, CONFIG, "kustomize.buildOptions", " ".join(self.kustomize_build_options))
        for files, name in ((self.argocd_cm, CONFIG), (self.argocd_cmd_params_cm, PARAMETERS)):
            for file in files:
                content = read_file(file, limits)
                for value, line in read_placed_documents(content, place=str(file)):
                    place = Location(str(file), line)
                    whole = _config_map(value, name, place)
                    candidates.lines[place] = lines_of(content, whole, line)
                    candidates.config_map(Fields.of(whole, "", place), "option")
        for file in self.repository_secrets:
            for value, line in read_placed_documents(read_file(file, limits), place=str(file)):
                candidates.secret(_secret(value, Location(str(file), line)))
        read_candidates(self.objects, limits, diagnostics, candidates)
        candidates.plugins += plugins
        take_values(candidates, self.values, limits)
        return candidates

    def _take(self, candidates: Candidates, name: str, key: str, value: str) -> None:
        config_map = {"kind": "ConfigMap", "metadata": {"name": name}, "data": {key: value}}
        candidates.config_map(Fields.of(config_map, "", Location(self.place)), "option")

    def _defaults(self) -> dict[str, str]:
        """Return defaults of keys of `argocd-cm`, in addition to those of Argo CD."""
        if not self.shipped_defaults:
            return {}
        entries = [{"apiGroups": [*groups], "kinds": [*kinds], "clusters": ["*"]} for groups, kinds in _SHIPPED]
        return {"resource.exclusions": dump(entries)}


def read_installation(file: Path, limits: Limits) -> Installation:
    """Read the description of an installation, see docs/reference/installation-schema.json.

    Paths in it are relative to its folder. In a git repository, which others may write to, they must not leave it.

    Raises:
        InputError: CMD-ARGO-101, it cannot be read; CMD-ARGO-112, it is not a description of an installation.
    """
    place = Location(str(file))
    problems: list[Problem] = []
    try:
        documents = list(read_placed_documents(read_file(file, limits), place=str(file), problems=problems))
        if problems:
            message, line = problems[0]
            raise _invalid(message, "write each key once", Location(str(file), line))
        if len(documents) != 1:
            raise _invalid(f"{file} has {len(documents)} documents", "an installation is one document", place)
        value, line = documents[0]
        fields = Fields.of(value, "", Location(str(file), line))

        def paths(name: str) -> tuple[Path, ...]:
            return tuple(_in_repository(file, text, fields.place_of(name)) for text in fields.texts(name))

        for path, hint in fields.unknown(
            [option.name for option in dataclasses.fields(Installation) if option.name != "place"]
        ):
            raise _invalid(f"unknown field {path}", hint or _OBJECTS, fields.place_of(path))
        return Installation(
            namespace=fields.text("namespace"),
            shipped_defaults=fields.flag("shipped_defaults"),
            place=str(file),
            application_namespaces=fields.texts("application_namespaces"),
            kustomize_build_options=fields.texts("kustomize_build_options"),
            objects=paths("objects"),
            values=paths("values"),
            argocd_cm=paths("argocd_cm"),
            argocd_cmd_params_cm=paths("argocd_cmd_params_cm"),
            repository_secrets=paths("repository_secrets"),
        )
    except InputError as error:
        if error.code in ("CMD-ARGO-101", "CMD-ARGO-112"):
            raise
        raise _invalid(error.message, error.hint, *error.locations) from error


def _in_repository(file: Path, text: str, place: Location) -> Path:
    path, real = file.parent / text, os.path.realpath(file)
    root = next((parent for parent in Path(real).parents if (parent / ".git").exists()), None)
    if root is not None and not Path(os.path.realpath(path)).is_relative_to(root):
        raise _invalid(
            f"the path {text!r} is outside of the repository", "name files elsewhere with --argocd-settings", place
        )
    return path


_OBJECTS = "files with Kubernetes objects of the installation are listed below objects"


def _invalid(message: str, hint: str, *places: Location) -> InputError:
    return InputError("CMD-ARGO-112", message, hint=hint, locations=places)


def _config_map(value: Any, name: str, place: Location) -> dict[str, Any]:
    """Return the ConfigMap of a file that holds the ConfigMap, or only its data."""
    fields = Fields.of(value, "", place)
    metadata = fields.fields("metadata")
    if not fields.text("kind"):
        return {"kind": "ConfigMap", "metadata": {"name": name}, "data": fields.data}
    if fields.text("kind") != "ConfigMap" or metadata.text("name") not in ("", name):
        raise InputError(
            "CMD-ARGO-103",
            f"the file must hold the ConfigMap {name}",
            hint="write that ConfigMap, or its data",
            locations=[place],
        )
    return {**fields.data, "metadata": {**metadata.data, "name": name}}


def _secret(value: Any, place: Location) -> Fields:
    fields = Fields.of(value, "", place)
    kind = fields.fields("metadata").text_map("labels").get(SECRET_TYPE)
    if fields.text("kind") != "Secret" or kind not in REPOSITORY_TYPES:
        raise InputError(
            "CMD-ARGO-103",
            "the file must hold only Secrets of repositories",
            hint=f"they have the label {SECRET_TYPE}: repository, or repo-creds",
            locations=[place],
        )
    return fields
