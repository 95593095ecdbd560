"""Sources of config management plugins that are rendered without the plugin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from commodore.argocd.acquiring import repository_identity
from commodore.argocd.configuration import ArgoSettings, LocatedValue
from commodore.argocd.model.plugins import Base, PluginRule
from commodore.argocd.model.sources import DirectoryOptions, HelmOptions, KustomizeOptions, Source
from commodore.argocd.planning.kinds import detected_type
from commodore.base.errors import PolicyError
from commodore.base.values.globs import matches

_AVP_BASES: dict[str, Base] = {"-helm": "helm", "-kustomize": "kustomize", "": ""}
AVP = tuple(
    PluginRule(f"{name}{end}", "avp", base=base)
    for name in ("argocd-vault-plugin", "avp")
    for end, base in _AVP_BASES.items()
)
"""Rules for the usual names of argocd-vault-plugin. Secrets stay placeholders."""


def rule_for(source: Source, settings: ArgoSettings) -> PluginRule | None:
    """Return the rule for a source of a plugin, or None.

    Raises:
        PolicyError: CMD-ARGO-423, the rule is not allowed.
    """
    name = source.plugin.name if source.plugin is not None else ""
    url = repository_identity(source.repo_url)
    for rule in settings.plugins:
        fits = [matches(repository_identity(repository), url, separator="/") for repository in rule.repositories]
        if rule.name != name or (fits and not any(fits)):
            continue
        if rule.refusal:
            raise PolicyError(
                "CMD-ARGO-423",
                f"the plugin {name} is not run: {rule.refusal}",
                hint="render it as native-kustomize, native-helm or avp if the result is the same",
                locations=[source.place],
            )
        return rule
    return None


def as_native(source: Source, rule: PluginRule, folder: Path, settings: ArgoSettings) -> tuple[Source, ArgoSettings]:
    """Convert a source of a plugin to one of a native type; return it with the settings for its rendering."""
    plain = replace(source, plugin=None)
    kinds = {"native-kustomize": "Kustomize", "native-helm": "Helm"}
    kind = kinds.get(rule.engine) or rule.base.capitalize() or detected_type(folder)
    if kind == "Kustomize":
        config = {**settings.config}
        if rule.engine == "native-kustomize":
            config["kustomize.buildOptions"] = LocatedValue(" ".join(rule.options), "option", rule.place)
        return replace(plain, kustomize=KustomizeOptions()), replace(settings, config=config)
    if kind == "Helm":
        return replace(plain, helm=HelmOptions(skip_crds=not rule.crds)), settings
    return replace(plain, directory=DirectoryOptions()), settings
