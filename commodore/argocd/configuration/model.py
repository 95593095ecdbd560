"""The settings of an Argo CD installation that affect rendering and comparing."""

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
"""The origin of a value, by precedence: a file given as an option, a ConfigMap of the tree, values of the Argo CD
chart, the defaults of Argo CD.
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
"""The supported keys of `argocd-cm`, with their defaults."""

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
"""The supported keys of `argocd-cmd-params-cm`, with their defaults."""


@dataclass(frozen=True, slots=True)
class LocatedValue:
    """A value with its origin.

    Attributes:
        value: as written.
        level: the kind of origin.
        place: file and line; None for a default.
        overridden: the places of the values of lower levels that it replaces.
    """

    value: str
    level: Level
    place: Location | None = None
    overridden: tuple[Location, ...] = ()


@dataclass(frozen=True)
class ArgoSettings:
    """The settings of an installation.

    Attributes:
        namespace: the namespace of the controller; instances elsewhere are named `<namespace>_<name>`.
        config: `argocd-cm` by key, with the defaults in `DEFAULTS`.
        parameters: `argocd-cmd-params-cm` likewise.
        overrides: `resource.customizations`, by `group/Kind`; `Kind` for the core group.
        profile: the version of Argo CD that is followed.
        plugins: the rules for sources of config management plugins, the highest precedence first.
        repositories: the known repositories, the highest precedence first.
    """

    namespace: str = "argocd"
    config: Mapping[str, LocatedValue] = field(default_factory=lambda: with_defaults({}, DEFAULTS))
    parameters: Mapping[str, LocatedValue] = field(default_factory=lambda: with_defaults({}, PARAMETER_DEFAULTS))
    clusters: tuple[Cluster, ...] = ()
    overrides: Mapping[str, ResourceOverride] = field(default_factory=dict)
    projects: tuple[tuple[Mapping[str, Any], Location], ...] = ()
    profile: Profile = NEWEST
    plugins: tuple[PluginRule, ...] = ()
    repositories: tuple[KnownRepository, ...] = ()

    def __getitem__(self, key: str) -> str:
        """Return a value of `argocd-cm`; empty if it is not set and has no default."""
        setting = self.config.get(key)
        return setting.value if setting is not None else ""

    def parameter(self, key: str) -> str:
        """Return a value of `argocd-cmd-params-cm`; empty if it is not set and has no default."""
        setting = self.parameters.get(key)
        return setting.value if setting is not None else ""

    def enabled(self, tool: str) -> bool:
        """Check if `kustomize`, `helm` or `jsonnet` is enabled."""
        return self[f"{tool}.enable"] == "true"

    @property
    def tracking_method(self) -> str:
        """`annotation`, `label` or `annotation+label`; other values count as `annotation`."""
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
        """The allowed URL schemes of value files."""
        return frozenset(part.strip() for part in self["helm.valuesFileSchemes"].split(",") if part.strip())

    @property
    def new_git_file_globbing(self) -> bool:
        """True if git generators match files by `**` and `*` instead of git's pathspecs."""
        return self.parameter("applicationsetcontroller.enable.new.git.file.globbing") == "true"

    def chart_repository(self, name: str) -> str:
        """Return the URL, with scheme, of the chart repository with a name; empty if it is unknown."""
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
        """Return the versions of kustomize that are registered in addition to the built-in version."""
        prefixes = ("kustomize.version.", "kustomize.path.")
        return tuple(
            sorted({key.removeprefix(prefix) for key in self.config for prefix in prefixes if key.startswith(prefix)})
        )

    def build_options(self, version: str = "") -> str:
        """Return the options of `kustomize build`, for a registered version or the built-in version."""
        return self[f"kustomize.buildOptions.{version}"] or self["kustomize.buildOptions"]

    def label(self, namespace: str, name: str) -> str:
        """Return `namespace/name` of an Application; the default is the namespace of the controller."""
        return f"{namespace or self.namespace}/{name}"

    def instance_name(self, namespace: str, name: str) -> str:
        """Return the instance name of an Application, as used for tracking."""
        return name if namespace in ("", self.namespace) else f"{namespace}_{name}"

    def rows(self) -> Iterator[tuple[str, str, LocatedValue]]:
        """Yield ConfigMap, key and value of the supported settings. Others may be secrets of logins."""
        for key in sorted(self.config):
            if key in DEFAULTS or key.startswith(("kustomize.", "resource.customizations")):
                yield "argocd-cm", key, self.config[key]
        for key in sorted(PARAMETER_DEFAULTS):
            yield "argocd-cmd-params-cm", key, self.parameters[key]


def with_defaults(given: Mapping[str, LocatedValue], defaults: Mapping[str, str]) -> dict[str, LocatedValue]:
    """Return values with defaults for missing keys."""
    return {**{key: LocatedValue(value, "default") for key, value in defaults.items()}, **given}
