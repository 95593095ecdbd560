"""Fake cluster for which single components and packages are compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commodore.base.errors import InputError
from commodore.base.files.workspace import Workspace, link_relative, write_atomically
from commodore.core.inventory import cluster_parameters


def link_values(folder: Path, values: Sequence[Path]) -> list[str]:
    """Link value files into a class folder. Returns their class names, in order; a repeated file is used once, like any
    class.

    Raises:
        InputError: two files have the same class name, or a name is not a valid class name.
    """
    classes: dict[str, Path] = {}
    for path in values:
        if path.suffix not in (".yml", ".yaml"):
            raise InputError(
                "CMD-AUT-002",
                f"the values file {path} cannot be used as a class",
                hint="its name must end in .yml or .yaml",
            )
        if path.stem in classes and classes[path.stem].resolve() == path.resolve():
            continue
        if path.stem in classes:
            raise InputError(
                "CMD-AUT-003",
                f"the values files {classes[path.stem]} and {path} have the same class name",
                hint="rename the file",
            )
        classes[path.stem] = path
        link_relative(folder / path.name, path.resolve())
    return list(classes)


TENANT_CLASSES = "t-fake"
"""The class folder of value files in `package compile`."""

_ARGOCD_STUB = b"""// Stands in for the library that component argocd publishes on a real cluster.
local App(component, namespace, project='', secrets=true, base=null) = {};
local Project(name) = {};

{
  App: App,
  Project: Project,
}
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of the author, merged over the fake ones key by key."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    dynamic_facts: Mapping[str, Any] = field(default_factory=dict)


def component_parameters(component: str, instance: str, facts: Facts) -> dict[str, Any]:
    """Return the content of `params.cluster` for compiling a single component."""
    parameters = {
        "cluster": _cluster(),
        "facts": {
            "distribution": "test-distribution",
            "cloud": "cloudscale",
            "region": "rma1",
            **facts.facts,
        },
        "argocd": {"namespace": "test"},
        "components": {component: {"url": f"https://example.com/{component}.git", "version": "master"}},
        "kapitan": {"vars": {"target": instance}, "namespace": "test"},
    }
    return parameters | _dynamic(facts)


def package_parameters(facts: Facts) -> dict[str, Any]:
    """Return the content of `params.cluster` for compiling a single package."""
    parameters = {
        "cluster": _cluster(),
        "facts": {
            "distribution": "x-fake-distribution",
            "cloud": "x-fake-cloud",
            "region": "x-fake-region",
            **facts.facts,
        },
        "argocd": {"namespace": "syn"},
        "kapitan": {
            "secrets": {
                "vaultkv": {
                    "VAULT_ADDR": "https://vault.syn.example.com",
                    "VAULT_SKIP_VERIFY": "false",
                    "VAULT_CAPATH": "/etc/ssl/certs/",
                    "auth": "token",
                    "engine": "kv-v2",
                    "mount": "clusters/kv",
                }
            }
        },
    }
    return parameters | _dynamic(facts)


def write_argocd_stub(workspace: Workspace) -> None:
    """Write a stub of `lib/argocd.libjsonnet`, which nearly all components import, unless a component publishes it."""
    path = workspace.libraries / "argocd.libjsonnet"
    if not path.exists():
        write_atomically(path, _ARGOCD_STUB)


def _cluster() -> dict[str, Any]:
    return cluster_parameters(
        name="c-green-test-1234",
        display_name="Test Cluster 1234",
        catalog_url="ssh://git@git.example.com/org/repo.git",
        tenant="t-silent-test-1234",
        tenant_display_name="Test Tenant 1234",
    )


def _dynamic(facts: Facts) -> dict[str, Any]:
    return {"dynamic_facts": dict(facts.dynamic_facts)} if facts.dynamic_facts else {}
