"""Options that there were, and what takes their place."""

from __future__ import annotations

_FIELDS = {
    "--argocd-values": "values",
    "--argocd-cm": "argocd_cm",
    "--cmd-params": "argocd_cmd_params_cm",
    "--repo-secret": "repository_secrets",
    "--kustomize-build-option": "kustomize_build_options",
    "--controller-namespace": "namespace",
    "--app-namespace": "application_namespaces",
    "--shipped-defaults": "shipped_defaults",
}
_TERMS = {
    "--project": "project=GLOB",
    "--cluster": "cluster=NAME|URL",
    "--destination-namespace": "namespace=GLOB",
    "--selector": "LABELS",
    "-l": "LABELS",
}
_REPORTS = {
    "--html": "--report FILE.html",
    "--json": "--report FILE.json",
    "--markdown": "--report FILE.md",
    "--sarif": "--report FILE.sarif",
    "--summary": "--report markdown=FILE",
}
_NAMES = {
    "argocd": {
        **_REPORTS,
        **{flag: f"the field {name} of --installation FILE" for flag, name in _FIELDS.items()},
        **{flag: f"--select '{term}'" for flag, term in _TERMS.items()},
        "--base-argocd-version": "--argocd-version BASE..TARGET",
        "--events": "--show events",
        "--no-reuse": "--no-cache",
        "--plugins": "--show plugins",
        "--render": "--show rendered",
        "--skip-crds": "--skip-kind CustomResourceDefinition",
        "--skip-secrets": "--skip-kind Secret",
    },
    "catalog": {"--kubernetes-version": "--kube-version"},
    "fleet": {
        **_REPORTS,
        "--changed": "--state changed",
        "--cluster-values": "--values",
        "--clusters": "--cluster-file FOLDER",
        "--failed": "--state failed",
        "--matrix": "-o matrix",
    },
    "hydrate": _REPORTS,
    "observe": {
        "--emit": "--out",
        "--lease-name": "--lease [NAMESPACE/]NAME",
        "--lease-namespace": "--lease NAMESPACE/NAME",
        "--repository": "--path",
        "--sync-period": "--interval",
    },
}
REPLACED = {group: {flag: f"{flag} is now {place}" for flag, place in names.items()} for group, names in _NAMES.items()}
"""Hints for options that there were, by the first word of the command."""
