"""The settings of an Argo CD installation as far as they change what is rendered or compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from commodore.argocd.configuration.customisations import ResourceOverride
from commodore.argocd.configuration.profiles import NEWEST, Profile
from commodore.argocd.model.cluster import Cluster
from commodore.argocd.model.plugins import PluginRule
from commodore.argocd.model.repository import KnownRepository
from commodore.base.errors import Location

Level = Literal["option", "tree", "chart", "default"]
"""What a value comes from, the strongest first: a file given as an option, a ConfigMap of the tree, values of the
Argo CD chart, the defaults of Argo CD.
"""

DEFAULTS: Mapping[str, str] = {
    "application.instanceLabelKey": "app.kubernetes.io/instance",
    "application.resourceTrackingMethod": "annotation",
    "installationID": "",
    "kustomize.buildOptions": "",
    "kustomize.enable": "true",
    "helm.enable": "true",
    "jsonnet.enable": "true",
    "helm.valuesFileSchemes": "https, http",
    "resource.exclusions": "",
    "resource.inclusions": "",
    "resource.compareoptions": "",
    "resource.sensitive.mask.annotations": "",
    "globalProjects": "",
}
"""The keys of `argocd-cm` that are honoured, with their defaults."""

PARAMETER_DEFAULTS: Mapping[str, str] = {
    "application.namespaces": "",
    "controller.ignore.normalizer.jq.timeout": "1s",
    "controller.diff.server.side": "false",
    "reposerver.max.combined.directory.manifests.size": "10M",
    "reposerver.allow.oob.symlinks": "false",
    "reposerver.include.hidden.directories": "false",
    "applicationsetcontroller.enable.new.git.file.globbing": "false",
    "applicationsetcontroller.enable.scm.providers": "true",
    "applicationsetcontroller.allowed.scm.providers": "",
    "applicationsetcontroller.namespaces": "",
}
"""The same of `argocd-cmd-params-cm`."""


@dataclass(frozen=True, slots=True)
class Provenanced:
    """A value, and where it comes from.

    Attributes:
        value: as written.
        level: what kind of place that is.
        place: file and line; None for a default.
        overridden: the places of values of lower levels that it replaces.
    """

    value: str
    level: Level
    place: Location | None = None
    overridden: tuple[Location, ...] = ()


@dataclass(frozen=True)
class ArgoSettings:
    """One installation.

    Attributes:
        namespace: of the controller; Applications elsewhere are called `<namespace>_<name>`.
        config: `argocd-cm` by key, with the defaults of those in `DEFAULTS`.
        parameters: `argocd-cmd-params-cm` likewise.
        overrides: `resource.customizations`, by `group/Kind`; of the core group just `Kind`.
        profile: the version of Argo CD that is followed.
        plugins: what becomes of the sources of config management plugins, the strongest first.
        repositories: those that are known, the strongest first.
    """

    namespace: str = "argocd"
    config: Mapping[str, Provenanced] = field(default_factory=lambda: with_defaults({}, DEFAULTS))
    parameters: Mapping[str, Provenanced] = field(default_factory=lambda: with_defaults({}, PARAMETER_DEFAULTS))
    clusters: tuple[Cluster, ...] = ()
    overrides: Mapping[str, ResourceOverride] = field(default_factory=dict)
    projects: tuple[tuple[Mapping[str, Any], Location], ...] = ()
    profile: Profile = NEWEST
    plugins: tuple[PluginRule, ...] = ()
    repositories: tuple[KnownRepository, ...] = ()

    def __getitem__(self, key: str) -> str:
        """A value of `argocd-cm`; empty if it is not set and has no default."""
        setting = self.config.get(key)
        return setting.value if setting is not None else ""

    def parameter(self, key: str) -> str:
        """A value of `argocd-cmd-params-cm`, as `[]` of `argocd-cm`."""
        setting = self.parameters.get(key)
        return setting.value if setting is not None else ""

    def enabled(self, tool: str) -> bool:
        """Whether `kustomize`, `helm` or `jsonnet` is switched on."""
        return self[f"{tool}.enable"] == "true"

    @property
    def tracking_method(self) -> str:
        """`annotation`, `label` or `annotation+label`; what is none of these counts as `annotation`."""
        method = self["application.resourceTrackingMethod"]
        return method if method in ("label", "annotation+label") else "annotation"

    @property
    def label_key(self) -> str:
        return self["application.instanceLabelKey"] or DEFAULTS["application.instanceLabelKey"]

    @property
    def installation(self) -> str:
        return self["installationID"]

    @property
    def value_file_schemes(self) -> frozenset[str]:
        """The URL schemes of value files that may be fetched."""
        return frozenset(part.strip() for part in self["helm.valuesFileSchemes"].split(",") if part.strip())

    @property
    def new_git_file_globbing(self) -> bool:
        """Whether git generators match files by `**` and `*` instead of git's pathspecs."""
        return self.parameter("applicationsetcontroller.enable.new.git.file.globbing") == "true"

    def chart_repository(self, name: str) -> str:
        """The URL of the repository of charts with a name, with its scheme; empty if none is known."""
        known = (
            repository
            for repository in self.repositories
            if repository.name == name and repository.type in ("helm", "oci")
        )
        match = next((repository for repository in known if not repository.template), None)
        if match is None:
            return ""
        return match.url if "://" in match.url else f"oci://{match.url}"

    def kustomize_versions(self) -> tuple[str, ...]:
        """The versions of kustomize that are registered beside the built-in one."""
        prefixes = ("kustomize.version.", "kustomize.path.")
        return tuple(
            sorted({key.removeprefix(prefix) for key in self.config for prefix in prefixes if key.startswith(prefix)})
        )

    def build_options(self, version: str = "") -> str:
        """The options of `kustomize build`, of a registered version or the built-in one."""
        return self[f"kustomize.buildOptions.{version}"] or self["kustomize.buildOptions"]

    def label(self, namespace: str, name: str) -> str:
        """`namespace/name` of an Application, in the controller's namespace if it names none."""
        return f"{namespace or self.namespace}/{name}"

    def instance_name(self, namespace: str, name: str) -> str:
        """What an Application is called in tracking and as instance."""
        return name if namespace in ("", self.namespace) else f"{namespace}_{name}"

    def rows(self) -> Iterator[tuple[str, str, Provenanced]]:
        """Every value that counts here: ConfigMap, key, value. Others may be secrets of logins."""
        for key in sorted(self.config):
            if key in DEFAULTS or key.startswith(("kustomize.", "resource.customizations")):
                yield "argocd-cm", key, self.config[key]
        for key in sorted(PARAMETER_DEFAULTS):
            yield "argocd-cmd-params-cm", key, self.parameters[key]


def with_defaults(given: Mapping[str, Provenanced], defaults: Mapping[str, str]) -> dict[str, Provenanced]:
    """The values with the defaults of those that are not given."""
    return {**{key: Provenanced(value, "default") for key, value in defaults.items()}, **given}
