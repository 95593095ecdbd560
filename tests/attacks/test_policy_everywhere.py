"""A trust policy counts in every stage, and what was made under another one is not used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.core.confinement import TrustPolicy
from tests.attacks.conftest import Witness
from tests.core.engine.conftest import keeping, kept
from tests.core.engine.world import Kept
from tests.world.cluster import ClusterWorld
from tests.world.loopback import LoopbackHandler, LoopbackServer
from tests.world.repos import Script, git

__all__ = ["keeping", "kept"]

NOT_ALLOWED, NEAR, OTHER = "CMD-CONF-004", "CMD-CONF-011", "CMD-CONF-012"
STRICT = "external = []\nkadet = []\nhosts = []\n"
LIBRARY = "https://libraries.example.com/library.git"
TARGET = "\\${compiled_target_dir}"
REFUSED = {
    "c-external": NOT_ALLOWED,
    "c-kadet": NOT_ALLOWED,
    "c-filters": NOT_ALLOWED,
    "c-helm": NOT_ALLOWED,
    "c-options": NOT_ALLOWED,
    "c-base": OTHER,
    "c-file": OTHER,
    "c-chart": OTHER,
    "c-repository": OTHER,
}


def component(world: ClusterWorld, name: str, entry: dict[str, Any], **more: Any) -> None:
    """A component with one compile entry."""
    files = more.pop("files", {})
    entries = [{"output_path": ".", **entry}] if entry else []
    text = yaml.safe_dump({"parameters": {"kapitan": {"compile": entries, **more}}})
    world.component(name, {f"class/{name}.yml": text, **files})


def everything(world: ClusterWorld, witness: Witness) -> None:
    """A component for each thing that a policy judges."""
    base = "${_base_directory}"
    wrapper = {"input_type": "external", "input_paths": ["${_kustomize_wrapper}"]}
    script = {"run": Script(f"#!/bin/sh\n{witness.shell}\n")}
    chart = {"chart/Chart.yaml": "{apiVersion: v2, name: x, version: '1'}", "chart/templates/x.yaml": ""}
    component(world, "c-external", {"input_type": "external", "input_paths": [f"{base}/run"]}, files=script)
    kadet = {"kadet/__init__.py": f"{witness.python}\ndef main():\n    return {{}}\n"}
    component(world, "c-kadet", {"input_type": "kadet", "input_paths": [f"{base}/kadet"]}, files=kadet)
    component(world, "c-filters", {"input_type": "jinja2", "input_paths": [f"{base}/t"]}, files={"t/x.txt": "x"})
    (world.work / "lib").mkdir(parents=True)
    (world.work / "lib" / "jinja2_filters.py").write_text(witness.python)
    options = {"helm_params": {"name": "x", "post_renderer": "./run"}}
    component(
        world, "c-helm", {"input_type": "helm", "input_paths": [f"{base}/chart"], **options}, files=chart | script
    )
    kustomization = {"k/kustomization.yaml": "resources: []\n"}
    arguments = {"env_vars": {"INPUT_DIR": f"{base}/k"}, "args": [TARGET, "--enable-exec"]}
    component(world, "c-options", {**wrapper, **arguments}, files=kustomization)
    remote = {"env_vars": {"INPUT_DIR": "https://bases.example.com/x"}, "args": [TARGET]}
    component(world, "c-base", {**wrapper, **remote})
    file = {"type": "https", "source": "https://files.example.com/x", "output_path": "fetched/file"}
    component(world, "c-file", {}, dependencies=[file])
    pulled = {"type": "helm", "source": "https://charts.example.com", "chart_name": "x", "version": "1"}
    component(world, "c-chart", {}, dependencies=[{**pulled, "output_path": "fetched/chart"}])
    cloned = {"type": "git", "source": "https://git.example.com/x.git", "output_path": "fetched/git"}
    component(world, "c-repository", {}, dependencies=[cloned])


def give(world: ClusterWorld, how: str, text: str) -> list[str]:
    """Let a policy count. Returns the arguments for that."""
    if how == "global":
        world.defaults.commit({"trust.toml": text})
        return []
    file = world.root / "trust.toml"
    file.write_text(text)
    return ["--trust-policy", str(file)]


@pytest.mark.parametrize("how", ["option", "global"])
def test_what_a_policy_forbids_in_every_stage(world: ClusterWorld, witness: Witness, how: str) -> None:
    everything(world, witness)
    result = world.compile(*give(world, how, STRICT))
    assert result.code == 4, result.stderr
    results = {name: error["code"] for error in result.errors for name in REFUSED if repr(name) in str(error)}
    assert results == REFUSED
    assert not witness.was_written
    assert world.local_tree() == {}


def library(world: ClusterWorld) -> str:
    """A component that needs a library of another host."""
    remote = world.git.remote("library", {"x.libsonnet": "{ x: 1 }"})
    git(world.root, "config", "--global", f"url.{remote.url}.insteadOf", LIBRARY)
    return (
        '{"version": 1, "dependencies": [{"source": {"git": {"remote": "'
        + LIBRARY
        + '"}}, "version": "master"}], "legacyImports": true}'
    )


@pytest.mark.parametrize("how", ["option", "global"])
def test_a_library_that_a_laxer_policy_has_brought(world: ClusterWorld, how: str) -> None:
    """It lies in `vendor` and in the cache, so nothing would have to be fetched."""
    world.component("c-library", {"jsonnetfile.json": library(world)})
    assert world.compile().code == 0
    arguments = give(world, how, "hosts = ['charts.example.com']\n")
    for more in ([], ["--offline"]):
        result = world.compile(*arguments, *more)
        assert (result.code, result.error["code"]) == (4, OTHER)


@pytest.mark.parametrize("command", ["compile", "test"])
@pytest.mark.parametrize("cause", ["external", "library"])
def test_commands_for_one_component(world: ClusterWorld, witness: Witness, command: str, cause: str) -> None:
    """Neither a command nor a library that the policy forbids, also if it was used before."""
    entry = {"input_type": "external", "input_paths": ["${_base_directory}/run"], "output_path": "."}
    remote = world.component("c-alone", {"run": Script(f"#!/bin/sh\n{witness.shell}\n")})
    if cause == "external":
        remote.commit({"class/c-alone.yml": yaml.safe_dump({"parameters": {"kapitan": {"compile": [entry]}}})})
    else:
        remote.commit({"jsonnetfile.json": library(world)})
    remote.commit({"tests/defaults.yml": ""})
    folder = world.root / "component" / "c-alone"
    folder.parent.mkdir()
    git(world.root, "clone", "--quiet", remote.url, str(folder))
    words = ["--log-format", "json", "component", command, str(folder)]
    words += ["-o", str(world.root / "out")] if command == "compile" else []
    result = world.run(*words, *give(world, "option", STRICT))
    assert result.code != 0
    assert (NOT_ALLOWED if cause == "external" else OTHER) in result.stderr + result.stdout
    assert not witness.was_written


class Server(LoopbackServer):
    """Answers with a text, or leads to another server."""

    def __init__(self, target: str = "") -> None:
        self.target = target
        self.asked: list[str] = []
        super().__init__(_Handler)


class _Handler(LoopbackHandler):
    world: Server

    def answer(self) -> None:
        self.world.asked.append(self.path)
        self.send(302 if self.world.target else 200, {"Location": self.world.target}, b"canary-of-a-service")


def download(server: Server) -> dict[str, Any]:
    return {"type": "http", "source": f"{server.site}/x", "output_path": "fetched/x"}


def test_a_server_of_this_machine_that_is_only_looked_at(world: ClusterWorld) -> None:
    """The check for a changed file would come before any judgement."""
    with Server() as server:
        component(world, "c-file", {}, dependencies=[download(server)])
        for _ in range(2):
            result = world.compile()
            assert (result.code, result.error["code"]) == (4, NEAR)
        assert server.asked == []


@pytest.mark.parametrize("target", ["near", "other"])
def test_redirects_to_what_the_policy_does_not_name(world: ClusterWorld, target: str) -> None:
    """The server is allowed, where it leads to is not."""
    with Server() as service, Server() as server:
        server.target = f"http://{'localhost' if target == 'near' else 'files.example.com'}:{service.port}/x"
        component(world, "c-file", {}, dependencies=[download(server)])
        result = world.compile(*give(world, "option", "hosts = ['127.0.0.1']\n"))
        assert (result.code, result.error["code"]) == (4, NEAR if target == "near" else OTHER)
        assert service.asked == []


def test_results_of_a_laxer_policy(kept: Kept, tmp_path: Path) -> None:
    """The result is kept and still holds, and nothing would have to be fetched."""
    world, laxer = kept.world(tmp_path / "work"), TrustPolicy(hosts=("127.0.0.1",))
    with Server() as server:
        world.add("a", kapitan={"dependencies": [download(server)]})
        world.compile(policy=laxer, near_hosts=False)
        (again,) = world.compile(policy=laxer, near_hosts=False)
        assert again.reused
        asked = len(server.asked)
        for policy in (None, TrustPolicy(hosts=())):
            assert world.fail_once(policy=policy, near_hosts=False).code == NEAR
        assert len(server.asked) == asked
