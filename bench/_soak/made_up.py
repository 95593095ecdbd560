"""Small made-up worlds: few cheap components that together have every kind of input and read from each other."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from _soak.changes import State
from _soak.parts import CLASS_OF, FILES_OF, Traits, data_files
from _soak.world import CATALOG_URL, GIT_URL, World, commit, write_files

CLUSTER, TENANT = "c-soak", "t-soak"

# Components that read each other are always there. Of the others a world has some: helm and kustomize take long.
_ALWAYS = ("alpha", "beta", "gamma")
_OTHERS = {"delta": 0.3, "epsilon": 0.3, "zeta": 0.5, "eta": 0.5, "theta": 0.5}


def make(folder: Path, seed: str) -> World:
    """Make the world of this seed in a new folder."""
    rng = random.Random(f"world {seed}")
    components = [*_ALWAYS, *(name for name, share in _OTHERS.items() if rng.random() < share)]
    traits = Traits(rng, crossing=rng.random() < float(__import__("os").environ.get("SOAK_CROSS", "0.6")))
    repositories: dict[str, dict[str, Any]] = {
        "global-defaults": _global(components, rng),
        "tenant": _tenant(components, rng),
        "package-base": _package(rng),
    }
    for name in components:
        repositories[f"component-{name}"] = {**FILES_OF[name](traits), **_class(name, traits)}
    repositories |= data_files(components, rng)
    sources = {}
    for name, files in repositories.items():
        sources[name] = folder / "sources" / name
        write_files(sources[name], files)
        commit(sources[name])
    return World(
        sources,
        {name: f"{GIT_URL}/{name}.git" for name in sources},
        cluster=_cluster(rng),
        tenant={
            "id": TENANT,
            "displayName": "Soak",
            "gitRepo": {"url": f"{GIT_URL}/tenant.git"},
            "globalGitRepoURL": f"{GIT_URL}/global-defaults.git",
        },
        facts={"cloud": ["here", "there"], "region": ["r1", "r2"]},
        weights={name: 2 for name in sources if name.startswith(("component-", "data-"))},
    )


def _cluster(rng: random.Random) -> dict[str, Any]:
    return {
        "id": CLUSTER,
        "displayName": "Soak",
        "tenant": TENANT,
        "facts": {"cloud": rng.choice(["here", "there"]), "distribution": "plain", "region": "r1"},
        "dynamicFacts": {"kubernetesVersion": {"major": "1", "minor": "31"}},
        "gitRepo": {"url": CATALOG_URL},
    }


def _global(components: list[str], rng: random.Random) -> dict[str, Any]:
    vault = {"VAULT_ADDR": "https://vault.example.com", "auth": "token", "engine": "kv-v2", "mount": "clusters/kv"}
    return {
        "commodore.yml": {
            "classes": [
                "global.common",
                "global.cloud.${facts:cloud}",
                "${cluster:tenant}.common",
                "${cluster:tenant}.${cluster:name}",
            ]
        },
        "common.yml": {
            "applications": [name for name in components if name not in ("gamma", "theta")],
            "parameters": {
                "components": {
                    name: {"url": f"{GIT_URL}/component-{name}.git", "version": "main"} for name in components
                },
                "packages": {"base": {"url": f"{GIT_URL}/package-base.git", "version": "main"}},
                "kapitan": {"secrets": {"vaultkv": vault}},
                "shared": {"number": rng.randrange(100), "words": ["one", "two", "three"]},
            },
        },
        "cloud/here.yml": {"parameters": {"shared": {"cloud": "here", "number": 1}}},
        "cloud/there.yml": {"parameters": {"shared": {"cloud": "there"}, "alpha": {"replicas": 9}}},
    }


def _tenant(components: list[str], rng: random.Random) -> dict[str, Any]:
    return {
        "common.yml": {
            "classes": ["base.main"],
            "applications": ["pkg.base", "gamma as gamma-one", "gamma as gamma-two"],
            "parameters": {"gamma_one": {"size": rng.randrange(10)}, "gamma_two": {"size": rng.randrange(10)}},
        },
        f"{CLUSTER}.yml": {
            "applications": ["theta"] if "theta" in components else [],
            "parameters": {"alpha": {"replicas": rng.randrange(5), "note": "version ${shared:number}"}},
        },
    }


def _package(rng: random.Random) -> dict[str, Any]:
    return {
        "main.yml": {"classes": [".more"], "parameters": {"beta": {"weight": rng.randrange(100)}}},
        "more.yml": {"parameters": {"packed": {"number": rng.randrange(100), "list": [1, 2, 3]}}},
    }


def _class(name: str, traits: Traits) -> dict[str, Any]:
    parameters, kapitan, filters = CLASS_OF[name](traits)
    processing = {"commodore": {"postprocess": {"filters": filters}}} if filters else {}
    return {
        "class/defaults.yml": {"parameters": {name: parameters}},
        f"class/{name}.yml": {"parameters": {"kapitan": kapitan, **processing}},
        ".gitignore": State(b"/fetched/\n/made/\n"),
    }
