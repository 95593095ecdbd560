"""The hierarchy of the clusters: global defaults and the tenant's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from _synthetic.components import GIT_URL, VERSION, defaults, dump
from _synthetic.padding import measure, pad
from _synthetic.plan import TENANT, Cluster, Plan

# How much of the padding the components' own parameters hold; the rest is in the global defaults.
_OWN_SHARE = 0.5


def component_padding(plan: Plan) -> int:
    """The bytes of padding of each component."""
    return int(_missing(plan) * _OWN_SHARE / len(plan.components))


def global_files(plan: Plan) -> dict[str, str]:
    """The repository of the global defaults."""
    classes = [
        "global.common",
        "global.catalogue",
        "global.distribution.${facts:distribution}",
        "global.cloud.${facts:cloud}",
        f"{TENANT}.${{cluster:name}}",
    ]
    common = {
        "applications": [instance.application for instance in plan.shared],
        "parameters": _common_parameters(plan),
    }
    files = {
        "commodore.yml": dump({"classes": classes}),
        "common.yml": dump(common),
        "catalogue.yml": dump({"parameters": {"catalogue": pad("catalogue", int(_missing(plan) * (1 - _OWN_SHARE)))}}),
    }
    facts = {(fact, cluster.facts[fact]) for cluster in plan.clusters for fact in ("distribution", "cloud")}
    for fact, value in sorted(facts):
        # What depends on a fact is set for two components, as it is for ingress and storage.
        tuned = [each for each in plan.components if each.kind == "jsonnet"][1:3]
        parameters = {each.key: {"config": {f"option_{fact}": {"value": value}}} for each in tuned}
        files[f"{fact}/{value}.yml"] = dump({"parameters": parameters})
    return files


def tenant_files(plan: Plan, *, generation: str = "first") -> dict[str, str]:
    """The repository of the tenant: what its clusters share, and a class for each.

    Args:
        plan: the plan.
        generation: the value of a parameter that every instance reads.
    """
    files = {"common.yml": dump({"parameters": {"bench": {"team": "bench", "generation": generation}}})}
    return files | {f"{cluster.id}.yml": cluster_class(plan, cluster) for cluster in plan.clusters}


def cluster_class(plan: Plan, cluster: Cluster, *, changed: int = 0) -> str:
    """A cluster's own class.

    Args:
        plan: the plan.
        cluster: one of its clusters.
        changed: not zero: the value of the one parameter of one component that is changed.
    """
    parameters: dict[str, Any] = {
        each.key: {"workloads": {"extra": {"replicas": 2, "image": f"{each.name}-extra:v1.0.0"}}}
        for each in cluster.tuned
    }
    if changed:
        own = parameters.setdefault(plan.changed.key, {})
        if plan.changed.kind == "helm":
            own["helm_values"] = {"replicas": changed}
        else:
            own.setdefault("config", {})["option_0"] = {"value": changed}
    return dump(
        {
            "classes": [f"{TENANT}.common"],
            "applications": [instance.application for instance in cluster.own],
            "parameters": parameters,
        }
    )


def _common_parameters(plan: Plan) -> dict[str, Any]:
    components = {each.name: {"url": _url(each.name), "version": VERSION} for each in plan.components}
    vault = {"VAULT_ADDR": "https://vault.example.com", "auth": "token", "engine": "kv-v2", "mount": "clusters/kv"}
    return {
        "components": components,
        "packages": {},
        "global": {"registry": "registry.example.com"},
        "kapitan": {"secrets": {"vaultkv": vault}},
    }


def _url(name: str) -> str:
    return f"{GIT_URL}/components/{name}.git"


def _missing(plan: Plan) -> int:
    """The bytes that are missing from the size that the inventory should have."""
    known: Mapping[str, Any] = _common_parameters(plan)
    own = {each.key: defaults(each, 0) for each in plan.components}
    return max(0, plan.size.inventory - measure(known) - measure(own))
