"""Repositories of Argo CD as folders, and Applications that use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from commodore.argocd import ArgoSettings, Diagnostics
from commodore.argocd.acquiring import MappedRepository, RepoMap
from commodore.argocd.configuration import NEWEST, Profile
from commodore.argocd.configuration.model import DEFAULTS, PARAMETER_DEFAULTS, LocatedValue, with_defaults
from commodore.argocd.finishing import desired, manifests
from commodore.argocd.model.application import Application, read_application
from commodore.argocd.model.plugins import PluginRule
from commodore.argocd.model.repository import KnownRepository
from commodore.argocd.rendering import Capabilities, Rendered, open_sources
from commodore.base.context import Access, Context
from commodore.base.errors import Location
from commodore.base.events import ignore
from commodore.base.limits import DEFAULT_LIMITS, Limits
from tests.world.folders import write_files

URL = "https://git.example.com/shop.git"
OTHER = "https://git.example.com/other.git"

Object = dict[str, Any]


def config_map(name: str, **data: str) -> str:
    """The text of a ConfigMap."""
    lines = "".join(f'  {key}: "{value}"\n' for key, value in data.items())
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n{lines or '  {}'}"


def chart(name: str = "web", **files: str) -> dict[str, str]:
    """The files of a chart with one template, a ConfigMap with values; further files by their paths."""
    template = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n"
        "  namespace: {{ .Release.Namespace }}\ndata:\n  values: {{ .Values | toJson | quote }}\n"
        "  kube: {{ .Capabilities.KubeVersion.Version | quote }}\n"
        '  has: {{ .Capabilities.APIVersions.Has "example.com/v1/Thing" | quote }}\n'
    )
    return {
        "Chart.yaml": f"apiVersion: v2\nname: {name}\nversion: 1.2.3\n",
        "values.yaml": "a: chart\n",
        "templates/all.yaml": template,
        **files,
    }


@dataclass
class Argo:
    """A machine with repositories, and the objects that Argo CD renders from Applications.

    `source` and `sources` are merged with the URL of the repository; `config` is `argocd-cm`.
    """

    root: Path
    config: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    capabilities: Capabilities = field(default_factory=Capabilities)
    limits: Limits = DEFAULT_LIMITS
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    offline: bool = True
    namespace: str = "argocd"
    profile: Profile = NEWEST
    plugins: tuple[PluginRule, ...] = ()
    access: Access | None = None
    repositories: tuple[KnownRepository, ...] = ()

    def files(self, files: Mapping[str, str | bytes], *, url: str = URL, below: str = "") -> Path:
        """Write files of a repository. Return its folder."""
        folder = self.folder(url)
        write_files(folder / below, files)
        return folder

    def folder(self, url: str = URL) -> Path:
        folder = self.root / url.rpartition("/")[2].removesuffix(".git")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def settings(self) -> ArgoSettings:
        def table(given: dict[str, str], defaults: Mapping[str, str]) -> dict[str, LocatedValue]:
            return with_defaults({key: LocatedValue(value, "option") for key, value in given.items()}, defaults)

        return ArgoSettings(
            namespace=self.namespace,
            config=table(self.config, DEFAULTS),
            parameters=table(self.parameters, PARAMETER_DEFAULTS),
            profile=self.profile,
            plugins=self.plugins,
            repositories=self.repositories,
        )

    def application(self, *sources: Mapping[str, Any], **spec: Any) -> Application:
        """Return an Application with one `source`, or with several `sources`."""
        whole = [{"repoURL": URL, **source} for source in sources]
        value = {
            "metadata": {"name": "shop", "namespace": "argocd", **spec.pop("metadata", {})},
            "spec": {
                "destination": {"server": "https://kubernetes.default.svc", "namespace": "web"},
                **({"source": whole[0]} if len(whole) == 1 else {"sources": whole}),
                **spec,
            },
        }
        return read_application(value, Location("app.yaml", 1))

    def render(self, *sources: Mapping[str, Any], **spec: Any) -> tuple[Rendered, ...]:
        """Return the rendered objects of the sources, without tracking."""
        application = self.application(*sources, **spec)
        context = Context(ignore, self.limits, self.offline, access=self.access)
        names = [URL, *(source["repoURL"] for source in sources if source.get("repoURL") == OTHER)]
        urls = list(dict.fromkeys(names))
        repo_map = RepoMap([MappedRepository(url, self.folder(url)) for url in urls])
        with open_sources(self.settings, repo_map, self.capabilities, context, self.diagnostics) as run:
            return run.renderer.render(application)

    def objects(self, *sources: Mapping[str, Any], **spec: Any) -> list[Object]:
        return [item.data for item in self.render(*sources, **spec)]

    def values(self, *sources: Mapping[str, Any], **spec: Any) -> Any:
        """Return the values that the chart of `chart` got."""
        import json

        return json.loads(self.objects(*sources, **spec)[0]["data"]["values"])

    def tracked(self, *sources: Mapping[str, Any], **spec: Any) -> list[Object]:
        """Return the objects of the stage `manifests`."""
        application = self.application(*sources, **spec)
        rendered = self.render(*sources, **spec)
        return [item.data for item in manifests(application, rendered, self.settings, self.diagnostics)]

    def desired(self, *sources: Mapping[str, Any], cluster_scoped: tuple[str, ...] = (), **spec: Any) -> list[Object]:
        """Return the objects of the stage `desired`."""
        application = self.application(*sources, **spec)
        tracked = manifests(application, self.render(*sources, **spec), self.settings, self.diagnostics)
        return [item.data for item in desired(application, tracked, self.settings, cluster_scoped, self.diagnostics)]

    def codes(self) -> list[str]:
        """Return the codes of the diagnostics, except infos."""
        return [diagnostic.code for diagnostic in self.diagnostics.collected() if diagnostic.severity != "info"]


def but_the_version(diagnostics: Diagnostics) -> Diagnostics:
    """Return the diagnostics, except the one of the assumed version of Argo CD."""
    others = Diagnostics()
    for diagnostic in diagnostics.collected():
        if (diagnostic.code, diagnostic.severity) != ("CMD-ARGO-910", "info"):
            others.add(diagnostic)
    return others


@pytest.fixture
def argo(tmp_path: Path) -> Argo:
    return Argo(tmp_path / "repositories")
