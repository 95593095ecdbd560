"""The plan of a synthetic set-up, before anything is written: components, instances, clusters."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["jsonnet", "helm", "kustomize"]

TENANT = "t-bench"
MIX: Mapping[Kind, int] = {"jsonnet": 6, "helm": 3, "kustomize": 1}

# Every fifth instance is another one of a component that is there.
_ALIAS_EVERY = 5
# What every cluster has: the component whose library all others import.
_LIBRARY = "argocd"
_CLOUDS = {"cloudscale": ("lpg", "rma"), "exoscale": ("gva", "zrh"), "openstack": ("one", "two")}
_DISTRIBUTIONS = ("k3s", "openshift4")


@dataclass(frozen=True, slots=True)
class Size:
    """The sizes of a set-up.

    `instances`: of each cluster. `inventory`: bytes of a target's parameters as JSON; what instances need at least is
    never cut. `mix`: how many components of each kind, as weights. `clusters`: how many, which differ in facts, some
    parameters and some instances. `seed`: another one gives other contents.
    """

    instances: int = 10
    inventory: int = 400 * 1024
    mix: Mapping[Kind, int] = field(default_factory=lambda: MIX)
    clusters: int = 1
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Component:
    """A component. `number` counts all of them; `personal`: its parameters name the cluster, so no two are alike."""

    name: str
    kind: Kind
    number: int

    @property
    def key(self) -> str:
        """Its key in the parameters."""
        return self.name.replace("-", "_")

    @property
    def personal(self) -> bool:
        return self.number % 3 == 1


@dataclass(frozen=True, slots=True)
class Instance:
    """A use of a component."""

    name: str
    component: Component

    @property
    def application(self) -> str:
        """The name of it in the hierarchy."""
        return self.name if self.name == self.component.name else f"{self.component.name} as {self.name}"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster and what is special about it: `own` are instances that not all have, `tuned` gets parameters."""

    id: str
    facts: Mapping[str, str]
    own: tuple[Instance, ...]
    tuned: tuple[Component, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole set-up. `shared` are the instances of every cluster."""

    size: Size
    components: tuple[Component, ...]
    shared: tuple[Instance, ...]
    clusters: tuple[Cluster, ...]

    def instances(self, cluster: Cluster) -> tuple[Instance, ...]:
        """All instances of a cluster."""
        return self.shared + cluster.own

    @property
    def changed(self) -> Component:
        """The component of which one parameter changes: a chart if there is one, as that is most to render."""
        deployed = [instance.component for instance in self.instances(self.clusters[0])]
        return next((item for item in deployed if item.kind == "helm"), deployed[-1])


def make_plan(size: Size) -> Plan:
    """Decide what a set-up of this size holds.

    Raises:
        ValueError: a size of nothing.
    """
    if size.instances < 1 or size.clusters < 1 or not any(size.mix.values()) or min(size.mix.values()) < 0:
        raise ValueError("at least one cluster with one instance of some kind")
    rng = random.Random(f"plan {size.seed}")
    # A tenth of the instances is not the same everywhere: each cluster takes as many out of twice as many.
    varying = size.instances // 10 if size.clusters > 1 else 0
    instances = _instances(size.instances + varying, size.mix, rng)
    cut = len(instances) - 2 * varying
    shared, pool = instances[:cut], instances[cut:]
    components = {instance.component.name: instance.component for instance in instances}
    clusters = []
    for number in range(size.clusters):
        cloud = rng.choice(sorted(_CLOUDS))
        facts = {"cloud": cloud, "region": rng.choice(_CLOUDS[cloud]), "distribution": rng.choice(_DISTRIBUTIONS)}
        own = sorted(rng.sample(pool, varying), key=lambda instance: instance.name)
        tuned = rng.sample(sorted(components.values(), key=lambda each: each.number), min(3, len(components)))
        clusters.append(Cluster(f"c-bench-{number + 1:03}", facts, tuple(own), tuple(tuned)))
    return Plan(size, tuple(components.values()), tuple(shared), tuple(clusters))


def _instances(count: int, mix: Mapping[Kind, int], rng: random.Random) -> list[Instance]:
    library = Component(_LIBRARY, "jsonnet", 0)
    instances = [Instance(library.name, library)]
    components: list[Component] = []
    shares = dict.fromkeys(mix, 0.0)
    while len(instances) < count:
        if len(instances) % _ALIAS_EVERY == 0:
            component = rng.choice(components)
            instances.append(Instance(f"{component.name}-{len(instances):03}", component))
            continue
        for kind in shares:  # who is furthest behind its share comes next: any number of components has the mix
            shares[kind] += mix[kind]
        kind = max(shares, key=lambda each: shares[each])
        shares[kind] -= sum(mix.values())
        number = len(components) + 1
        components.append(Component(f"{kind}-{number:03}", kind, number))
        instances.append(Instance(components[-1].name, components[-1]))
    return instances
