"""A world of real public components, set up by the script `world` of a folder outside of this repository."""

from __future__ import annotations

import random
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from _tools import BenchError

from _soak.rounds import MakeWorld
from _soak.world import CATALOG_URL, World, commit, git

# What the folder's env.sh sets and a run needs.
_NEEDED = ("PATH", "HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy", "NO_PROXY", "no_proxy")
_NEEDED_TOO = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "REAL")
_GITHUB = "https://github.com/projectsyn/component-{}.git"
_GIT_URL = "https://git.example.com/syn/{}.git"
_CLUSTER = "c-real-01"


def maker(real: Path) -> MakeWorld:
    """Return the maker of worlds that uses the script of this folder."""

    def make(folder: Path, seed: str) -> World:
        environment = _environment(real)
        setup = folder / "setup"
        _script(real, ["--commodore", "true", "--out", str(setup), "--setup-only"])
        names = ("global-defaults", "package-base", "tenant-config")
        sources = {name: setup / "src" / name for name in names}
        urls = {name: _GIT_URL.format(name) for name in names}
        _choose_applications(list(sources.values()), random.Random(f"real {seed}"))
        for name, version in _to_branches(sources["global-defaults"]).items():
            sources[name] = setup / "src" / name
            urls[name] = _GITHUB.format(name.removeprefix("component-"))
            _fork(environment["REAL"], name, version, sources[name])
        return World(
            sources,
            urls,
            cluster=_cluster(),
            tenant={
                "id": "t-real",
                "displayName": "Real Tenant",
                "gitRepo": {"url": _GIT_URL.format("tenant-config")},
                "globalGitRepoURL": _GIT_URL.format("global-defaults"),
                "globalGitRepoRevision": "master",
            },
            git=(setup / "home" / ".gitconfig").read_text().partition(f'[url "file://{setup}')[0],
            environment=environment,
            facts={"region": ["rma1", "lpg1"]},
            weights={"global-defaults": 3, "package-base": 3, "tenant-config": 6},
        )

    return make


def _environment(real: Path) -> Mapping[str, str]:
    names = [*_NEEDED, *_NEEDED_TOO]
    script = ". ./env.sh; " + "; ".join(f'printf "%s\\0" "${name}"' for name in names)
    ended = subprocess.run(["bash", "-c", script], cwd=real, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if ended.returncode != 0:
        raise BenchError(f"{real / 'env.sh'} failed:\n{ended.stderr}")
    return dict(zip(names, ended.stdout.split("\0"), strict=False))


def _script(real: Path, arguments: list[str]) -> None:
    command = f". ./env.sh; exec {shlex.quote(sys.executable)} ./world {shlex.join(arguments)}"
    ended = subprocess.run(["bash", "-c", command], cwd=real, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if ended.returncode != 0:
        raise BenchError(f"{real / 'world'} failed:\n{ended.stderr}")


def _choose_applications(folders: list[Path], rng: random.Random) -> None:
    """Keep some of the applications only: all of them take long, and another seed keeps others."""
    paths = [path for folder in folders for path in sorted(folder.rglob("*.yml"))]
    classes: dict[Path, dict[str, Any]] = {path: yaml.safe_load(path.read_text()) for path in paths}
    listed = {path: content["applications"] for path, content in classes.items() if content.get("applications")}
    every = sorted({name for names in listed.values() for name in names if not name.startswith("pkg.")})
    # The one without which there is nothing to deploy with is always there.
    kept = {"argocd", "pkg.base", *rng.sample(every, rng.choice([4, 5, 6, len(every)]))}
    for path, names in listed.items():
        classes[path]["applications"] = [name for name in names if name in kept]
        path.write_text(yaml.safe_dump(classes[path], sort_keys=False))
    for folder in folders:
        commit(folder)


def _to_branches(folder: Path) -> dict[str, str]:
    """Let the hierarchy name a branch of each component and package, so that it can move; gives their versions."""
    path = folder / "params.yml"
    values: dict[str, Any] = yaml.safe_load(path.read_text())
    versions = {}
    for name, component in values["parameters"]["components"].items():
        versions[f"component-{name}"] = component["version"]
        component["version"] = "soak"
    values["parameters"]["packages"]["base"]["version"] = "master"
    path.write_text(yaml.safe_dump(values, sort_keys=False))
    commit(folder)
    return versions


def _fork(real: str, name: str, version: str, folder: Path) -> None:
    git(folder.parent, "clone", "--quiet", "--no-checkout", f"file://{real}/mirror/projectsyn/{name}.git", str(folder))
    git(folder, "checkout", "--quiet", "-b", "soak", version)


def _cluster() -> dict[str, Any]:
    return {
        "id": _CLUSTER,
        "displayName": "Real cluster 1",
        "tenant": "t-real",
        "facts": {"cloud": "cloudscale", "distribution": "k3s", "region": "rma1", "lieutenant-instance": "real"},
        "dynamicFacts": {"kubernetesVersion": {"major": "1", "minor": "30"}},
        "gitRepo": {"url": CATALOG_URL},
    }
