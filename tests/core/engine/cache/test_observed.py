"""Whatever is different around a run: it gives what a run without caches gives then."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.core.engine import Engine
from commodore.core.results.result_store import Result, read_folder
from tests.core.engine.world import PACKAGE, Kept, World, is_reused, jsonnet

CHART = """
a: {{ toDate "2006-01-02 15:04" "2024-01-01 10:00" | unixEpoch }}
b: {{ date "15:04 MST" 0 | quote }}
c: {{ dateInZone "15:04 MST" (toDate "2006-01-02" "2024-01-01") "Europe/Zurich" | quote }}
d: {{ getHostByName "localhost" | quote }}
e: {{ .Release | toJson | quote }}
f: {{ .Capabilities.KubeVersion.Version | quote }}
g: {{ lookup "v1" "Namespace" "" "" | toJson | quote }}
h: {{ (.Files.Glob "files/*").AsConfig | quote }}
"""
MAIN = """
local kap = import 'lib/kapitan.libjsonnet';
local name = kap.inventory().parameters._instance;
{ out: { files: kap.dir_files_list('app/files'), file: std.thisFile, ref: '?{plain:app/x}', name: name } }
"""
KUSTOMIZATION = """
resources: [one.yaml]
configMapGenerator:
- name: c
  envs: [values.env]
generatorOptions: {disableNameSuffixHash: true}
buildMetadata: [originAnnotations]
"""
ZONES = Path("/usr/share/zoneinfo")
needs_tools = pytest.mark.skipif(
    not (shutil.which("helm") or (PACKAGE.parent / ".tools" / "helm").exists()), reason="needs helm and kustomize"
)


def fill(world: World) -> World:
    """An instance that sees all that it can."""
    kustomize = {
        "input_type": "external",
        "input_paths": [str(PACKAGE / "scripts" / "run-kustomize")],
        "output_path": "kustomize",
        "args": ["${compiled_target_dir}"],
        "env_vars": {"INPUT_DIR": str(world.root / "dependencies/app/kustomize")},
    }
    world.add(
        "app",
        jsonnet("app/main.jsonnet", output_type="yaml"),
        {"input_type": "copy", "input_paths": ["app/files"], "output_path": "copied"},
        {
            "input_type": "helm",
            "input_paths": ["app/chart"],
            "output_path": "helm",
            "helm_params": {"name": "r"},
            "helm_values": {"v": 1},
        },
        kustomize,
    )
    world.write("dependencies/app/main.jsonnet", MAIN)
    world.write("dependencies/app/files/a.txt", "a")
    world.write("catalog/refs/app/x", "data: one\nencoding: original\ntype: plain\n")
    world.write("dependencies/app/chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
    world.write("dependencies/app/chart/templates/a.yaml", CHART)
    world.write("dependencies/app/chart/files/a.txt", "a")
    world.write("dependencies/app/kustomize/kustomization.yaml", KUSTOMIZATION)
    world.write("dependencies/app/kustomize/one.yaml", "apiVersion: v1\nkind: A\nmetadata: {name: a}\n")
    world.write("dependencies/app/kustomize/values.env", "A=1\n")
    world.environment["HOME"] = str(world.root / "home")
    (world.root / "home").mkdir()
    return world


def set_to(**variables: str) -> Callable[[World], object]:
    return lambda world: world.environment.update(variables)


def zone(world: World) -> None:
    """A zone in a file, whose rules change under its name."""
    shutil.copy(ZONES / "Europe/Zurich", world.root / "zone")
    world.environment["TZ"] = f":{world.root}/zone"
    world.compile()
    shutil.copy(ZONES / "America/New_York", world.root / "zone")


def script(world: World) -> None:
    """A helm that reads a file of its own."""
    helm = shutil.which("helm")
    text = f'. "$(dirname "$0")/../settings"; exec {helm} "$@" $MORE'
    world.write("settings", "MORE=\n")
    world.tool("helm", f'if [ "$1" = template ]; then {text}; fi; exec {helm} "$@"')
    world.compile()
    world.write("settings", "MORE=--namespace=scripted\n")


def config(world: World) -> None:
    context = "{name: c, context: {namespace: mine}}"
    world.write("home/.kube/config", f"current-context: c\ncontexts: [{context}]\n")


SEEN: dict[str, Callable[[World], object]] = {
    "the time zone": set_to(TZ="America/New_York"),
    "the rules of a time zone": zone,
    "the namespace of helm": set_to(HELM_NAMESPACE="other"),
    "the context of Kubernetes": config,
    "a file of a script": script,
    "a secret's reference": lambda w: w.write("catalog/refs/app/x", "data: two\nencoding: original\ntype: plain\n"),
    "a mode": lambda w: (w.root / "dependencies/app/files/a.txt").chmod(0o600),
}
NOT_SEEN: dict[str, Callable[[World], object]] = {
    "nothing": lambda world: None,
    "the language": set_to(LANG="de_CH.ISO-8859-1", LC_ALL="C", LANGUAGE="de"),
    "the user": set_to(USER="somebody", LOGNAME="somebody", SUDO_USER="x"),
    "the host": set_to(HOSTNAME="other", HOST="other"),
    "an unknown variable": set_to(SOMETHING="else", A="2", PYTHONHASHSEED="1", GOMAXPROCS="1"),
    "plugins that nobody calls": lambda w: w.write("home/.config/kustomize/plugin/x/v1/a/A", "x", executable=True),
    "another empty home": lambda w: w.environment.update(HOME=str(w.write("elsewhere/x", "").parent)),
    "times of files": lambda w: [os.utime(file, (0, 0)) for file in (w.root / "dependencies/app").rglob("*")],
    "the order of folders": lambda w: shutil.copytree(
        shutil.move(w.root / "dependencies/app", w.root / "away"), w.root / "dependencies/app"
    ),
}


def made_without_a_cache(world: World, engine: Engine, folder: Path) -> Result | None:
    plain = World(world.root, engine, [], world.nodes, world.jobs, world.environment)
    plain.compile(output=folder)
    return read_folder(folder / "compiled")


@needs_tools
@pytest.mark.parametrize("change", SEEN, ids=str)
def test_what_is_seen(kept: Kept, engine: Engine, tmp_path: Path, change: str) -> None:
    if "zone" in change and not ZONES.is_dir():
        pytest.skip("needs the time zones")
    world = fill(kept.world(tmp_path / "one"))
    world.compile()
    before = read_folder(world.root / "compiled")
    SEEN[change](world)
    assert not is_reused(world)
    after = read_folder(world.root / "compiled")
    assert after == made_without_a_cache(world, engine, tmp_path / "nearby")
    assert after != before


@needs_tools
def test_what_is_not_seen(kept: Kept, engine: Engine, tmp_path: Path) -> None:
    """One change after the other, and then all of them without a cache."""
    world = fill(kept.world(tmp_path / "one"))
    assert not is_reused(world)
    before = read_folder(world.root / "compiled")
    for change, do in NOT_SEEN.items():
        do(world)
        assert is_reused(world), change
        assert read_folder(world.root / "compiled") == before, change
    assert before == made_without_a_cache(world, engine, tmp_path / "nearby")


@needs_tools
def test_a_variable_that_changes_while_an_engine_lives(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers render with the environment that the caller has when the run begins."""
    world = fill(kept.world(tmp_path / "one"))
    world.compile()
    for name in ("one", "two"):
        monkeypatch.setenv("HELM_NAMESPACE", name)
        (compiled,) = world.compile()
        assert not compiled.reused
        assert name in world.read("app/helm/c/templates/a.yaml")
