"""The settings of an `ArgoCD` object, as the ConfigMaps that the Argo CD operator creates from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from commodore.argocd.configuration.customisations import PREFIX
from commodore.argocd.model.fields import Fields
from commodore.base.errors import Location
from commodore.base.yaml import dump

KIND = "ArgoCD"
_TEXTS = {
    "applicationInstanceLabelKey": "application.instanceLabelKey",
    "installationID": "installationID",
    "kustomizeBuildOptions": "kustomize.buildOptions",
    "resourceExclusions": "resource.exclusions",
    "resourceInclusions": "resource.inclusions",
    "resourceTrackingMethod": "application.resourceTrackingMethod",
}
"""Fields of the specification, and their keys in `argocd-cm`."""
_IGNORED = ("jsonPointers", "jqPathExpressions", "managedFieldsManagers")


def config_maps_of(value: Any, place: Location) -> Iterator[dict[str, Any]]:
    """Yield the ConfigMaps `argocd-cm` and `argocd-cmd-params-cm`, with the supported settings.

    Raises:
        InputError: CMD-ARGO-103, a field has a wrong type.
    """
    fields = Fields.of(value, "", place)
    metadata, spec = fields.fields("metadata"), fields.fields("spec")
    data = {key: spec.text(name) for name, key in _TEXTS.items() if spec.text(name)}
    for entry in spec.items("kustomizeVersions"):
        data[f"kustomize.version.{entry.required('version')}"] = entry.text("path")
    data |= _customisations(spec)
    data |= spec.text_map("extraConfig")
    yield _config_map("argocd-cm", metadata, data)
    yield _config_map("argocd-cmd-params-cm", metadata, _parameters(spec))


def _customisations(spec: Fields) -> dict[str, str]:
    settings: dict[str, str] = {}
    for entry in spec.items("resourceHealthChecks"):
        settings[_key("health", entry)] = entry.text("check")
    for entry in spec.items("resourceActions"):
        settings[_key("actions", entry)] = entry.text("action")
    ignored = spec.fields("resourceIgnoreDifferences")
    if (everywhere := ignored.optional("all")) is not None:
        settings[f"{PREFIX}.ignoreDifferences.all"] = _ignored(everywhere)
    for entry in ignored.items("resourceIdentifiers"):
        settings[_key("ignoreDifferences", entry)] = _ignored(entry.fields("customization"))
    return settings


def _key(what: str, entry: Fields) -> str:
    group, kind = entry.text("group"), entry.required("kind")
    return f"{PREFIX}.{what}.{f'{group}_{kind}' if group else kind}"


def _ignored(fields: Fields) -> str:
    return dump({name: list(fields.texts(name)) for name in _IGNORED if name in fields})


def _parameters(spec: Fields) -> dict[str, str]:
    sets = spec.fields("applicationSet")
    settings = {
        "application.namespaces": ",".join(spec.texts("sourceNamespaces")),
        "applicationsetcontroller.namespaces": ",".join(sets.texts("sourceNamespaces")),
        "applicationsetcontroller.allowed.scm.providers": ",".join(sets.texts("scmProviders")),
    }
    return {key: value for key, value in settings.items() if value} | spec.text_map("cmdParams")


def _config_map(name: str, metadata: Fields, data: Mapping[str, str]) -> dict[str, Any]:
    return {
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": metadata.text("namespace")},
        "data": dict(data),
    }
