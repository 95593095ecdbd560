"""Anything that executes by the policy does so without network, without sight of other processes, and with its own
files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.core.confinement import TrustPolicy, isolation
from tests.attacks.conftest import Secret, Witness
from tests.core.engine.world import PACKAGE, World, jsonnet
from tests.world.folders import write_script

TOOLS = Path(__file__).resolve().parents[3] / ".tools"
WRAPPER = str(PACKAGE / "scripts" / "run-kustomize")
PLUGIN = """
apiVersion: v1
name: evil
version: 1.0.0
type: postrenderer/v1
runtime: subprocess
runtimeConfig:
  platformCommand:
    - command: ${HELM_PLUGIN_DIR}/run
"""

pytestmark = pytest.mark.skipif(not isolation(), reason="this machine has no namespaces for all")


def kadet(world: World, body: str, **fields: object) -> None:
    """An instance `a` whose Python code makes `out.json`."""
    world.write("dependencies/a/code/__init__.py", f"import os\n\ndef main():\n{body}\n")
    entry = {"input_type": "kadet", "input_paths": ["a/code"], "output_path": ".", "output_type": "json"}
    world.add("a", {**entry, **fields})


def external(world: World, script: str) -> None:
    """An instance `a` whose command writes to the folder `$OUT`."""
    world.write("dependencies/a/run", f"#!/bin/sh\n{script}\n", executable=True)
    entry = {"input_type": "external", "input_paths": ["a/run"], "output_path": ".", "args": []}
    world.add("a", {**entry, "env_vars": {"OUT": "${compiled_target_dir}"}})


def out(world: World) -> str:
    return "\n".join(world.read(f"a/{name}") for name in world.files("a"))


SHELL = {
    "absolute": "cat {path}",
    "climbing": 'cat "$OUT"/../../../../../../../../../../../..{path}',
    "link": 'ln -s {path} "$OUT/link"; cat "$OUT/link"; rm "$OUT/link"',
    "process": "cat /proc/*/root{path} /proc/1/root{path}",
    "old root": "cat /old{path} /new{path} /proc/self/cwd/../../..{path}",
    "user": "cat ~/secret",
    "hidden": "cat .env",
    "environment": "cat /proc/*/environ | tr '\\0' '\\n'",
    "ancestor": "tr '\\0' '\\n' </proc/$PPID/environ",
    "unmounted": "umount -l /tmp /proc; unshare -Urm sh -c 'umount -l .env; cat .env {path}'",
    "found": "find / -xdev -name credentials.yml -exec cat {{}} +",
}


@pytest.mark.harmless
@pytest.mark.parametrize("way", SHELL)
def test_what_a_command_may_not_see(world: World, secret: Secret, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setenv("SOME_SECRET", secret.text)
    world.environment |= {"SOME_SECRET": secret.text}
    world.write(".env", secret.text)
    external(world, f'{{ {SHELL[way].format(path=secret.path)}; }} >"$OUT/seen" 2>&1; true')
    world.compile()
    assert world.files("a") == ["seen"]
    assert secret.text not in out(world)


@pytest.mark.harmless
@pytest.mark.parametrize("place", ["{witness}", "../../../x", "/usr/x", "$HOME/x", "dependencies/b/x", ".env"])
def test_where_a_command_may_not_write(world: World, witness: Witness, tmp_path: Path, place: str) -> None:
    """Everything that it changes in memory is gone in the end."""
    world.write("dependencies/b/y", "y")
    world.write(".env", "before")
    before = {path for path in tmp_path.rglob("*") if "compiled" not in path.parts}
    external(world, f"echo changed >{place.format(witness=witness.path)}; true")
    world.compile()
    after = {path for path in tmp_path.rglob("*") if "compiled" not in path.parts}
    assert {path for path in after - before if path.name in ("x", "executed")} == set()
    assert (world.root / ".env").read_text() == "before"
    assert not Path("/usr/x").exists()
    assert not Path("~/x").expanduser().exists()


def test_a_network_is_not_there(world: World) -> None:
    """Neither the machine's interfaces, nor servers on its loopback."""
    external(world, "exec 3<>/dev/tcp/127.0.0.1/9 || curl -s http://127.0.0.1:9 || exit 3")
    assert world.fail_once().code == "CMD-ENG-020"


PYTHON = {
    "file": "    return {{'out': {{'seen': open({path!r}).read()}}}}",
    "process": "    return {{'out': {{'seen': open(f'/proc/{{os.getppid()}}/environ').read()}}}}",
    "descriptor": "    return {{'out': {{'seen': str([os.readlink(f'/proc/self/fd/{{n}}') for n in range(3, 64)"
    " if os.path.exists(f'/proc/self/fd/{{n}}') and 'socket' in os.readlink(f'/proc/self/fd/{{n}}')])}}}}",
    "variable": "    return {{'out': {{'seen': os.environ.get('SOME_SECRET', '[]')}}}}",
    "variables of its beginning": "    return {{'out': {{'seen': open('/proc/self/environ').read().strip(chr(0))}}}}",
    "variables of the module": "    import posix\n    return {{'out': {{'seen': str([*posix.environ.values()])}}}}",
    "variables of the run": "    import gc\n    return {{'out': {{'seen': str([o.environment for o in gc.get_objects()"
    " if type(o).__name__ == 'Run' and o.environment])}}}}",
    "program": "    return {{'out': {{'seen': os.popen('cat {path}').read()}}}}",
}


@pytest.mark.harmless
@pytest.mark.parametrize("way", PYTHON)
def test_what_python_code_may_not_see(world: World, secret: Secret, way: str) -> None:
    world.environment |= {"SOME_SECRET": secret.text}
    kadet(world, PYTHON[way].format(path=str(secret.path)))
    if way in ("file", "process"):
        assert world.fail_once().code == "CMD-ENG-024"
        return
    world.compile()
    assert json.loads(world.read("a/out.json"))["seen"] in ("", "[]")


@pytest.mark.harmless
def test_python_code_that_changes_the_worker(world: World) -> None:
    """Everything that it patches is patched in its own process; the next instance is rendered by the program as it
    is.
    """
    kadet(world, "    import json\n    json.dumps = lambda *_, **__: 'patched'\n    return {'out': {}}")
    world.write("dependencies/b/code/__init__.py", "def main():\n    return {'out': {'x': 1}}\n")
    entry = {"input_type": "kadet", "input_paths": ["b/code"], "output_path": ".", "output_type": "json"}
    world.add("b", entry)
    world.compile(processes=1)
    assert json.loads(world.read("b/out.json")) == {"x": 1}


def test_python_code_that_evaluates_jsonnet(world: World) -> None:
    """After entries in Jsonnet, which have started the Go runtime in the process that is forked."""
    world.write("dependencies/a/main.jsonnet", "{ jsonnet: { x: std.native('yaml_load')('a/x.yaml') } }")
    world.write("dependencies/a/x.yaml", "y: 1")
    body = "    import %s as jsonnet\n    return {'out': {'x': jsonnet.evaluate_snippet('x', '%s')}}"
    kadet(world, body % ("_jsonnet", "1 + 1"))
    world.nodes["a"]["parameters"]["kapitan"]["compile"].insert(0, jsonnet("a/main.jsonnet"))
    world.compile(processes=1)
    assert json.loads(world.read("a/out.json"))["x"] == "2\n"
    world.jobs.clear()
    kadet(world, body % ("_gojsonnet", "[std.length([x]) for x in std.range(1, 300000)]"))
    error = world.fail_once(processes=1)
    assert (error.code, "the module _jsonnet" in error.message) == ("CMD-ENG-024", True)


@pytest.mark.parametrize(
    "body",
    [
        "    os._exit(0)",
        "    raise SystemExit(0)",
        "    raise ValueError('wrong')",
        "    [os.write(n, b'[1]') for n in range(3, 9) if os.path.exists(f'/proc/self/fd/{n}')]; os._exit(0)",
    ],
)
def test_python_code_that_ends_its_process(world: World, body: str) -> None:
    """It must not count as done."""
    kadet(world, body)
    error = world.fail_once()
    assert error.code in ("CMD-ENG-022", "CMD-ENG-024", "CMD-ENG-061")
    assert error.exit_code in (1, 3)


@pytest.mark.allowed
def test_its_own_files(world: World) -> None:
    """A command reads its component, writes its output, its checkout and temporary files, and finds programs."""
    world.write("dependencies/a/data", "mine")
    external(
        world, 'cp dependencies/a/data "$OUT/x"; echo y >dependencies/a/y; t=$(mktemp); echo z >$t; sed p $t >"$OUT/z"'
    )
    world.compile()
    assert (world.read("a/x"), world.read("a/z")) == ("mine", "z\nz\n")
    assert (world.root / "dependencies" / "a" / "y").read_text() == "y\n"


@pytest.mark.allowed
def test_a_policy_without_isolation(world: World, witness: Witness) -> None:
    external(world, witness.shell)
    world.compile(policy=TrustPolicy(isolated=False))
    assert witness.was_written
    assert os.environ["HOME"]


def post_renderer(world: World, home: Path, script: str) -> None:
    """An instance `a` with a chart, and a plugin of helm that changes what the chart gives."""
    plugin = home / "plugins" / "evil"
    plugin.mkdir(parents=True)
    (plugin / "plugin.yaml").write_text(PLUGIN)
    write_script(plugin / "run", f"cat\n{script}")
    world.environment["HELM_PLUGINS"] = str(plugin.parent)
    world.write("dependencies/a/chart/Chart.yaml", "{apiVersion: v2, name: x, version: 1.0.0}\n")
    world.write("dependencies/a/chart/templates/x.yaml", "kind: ConfigMap\nmetadata: {name: x}\n")
    parameters = {"name": "x", "post_renderer": "evil"}
    world.add("a", {"input_type": "helm", "input_paths": ["a/chart"], "output_path": ".", "helm_params": parameters})


def generator(world: World, home: Path, script: str) -> None:
    """An instance `a` with a kustomization, one object of which a plugin of kustomize makes."""
    plugin = home / ".config" / "kustomize" / "plugin" / "example.com" / "v1" / "evil" / "Evil"
    write_script(plugin, f"echo 'apiVersion: v1'; echo 'kind: ConfigMap'; echo 'metadata: {{name: x}}'\n{script}")
    world.environment["HOME"] = str(home)
    world.write("dependencies/a/kustomization.yaml", "generators: [evil.yaml]\n")
    world.write("dependencies/a/evil.yaml", "{apiVersion: example.com/v1, kind: Evil, metadata: {name: x}}\n")
    entry = {"input_type": "external", "input_paths": [WRAPPER], "output_path": "."}
    arguments = ["${compiled_target_dir}", "--enable-alpha-plugins"]
    world.add("a", {**entry, "args": arguments, "env_vars": {"INPUT_DIR": str(world.root / "dependencies" / "a")}})


@pytest.mark.harmless
@pytest.mark.parametrize("isolated", [None, True])
@pytest.mark.parametrize("brings", [post_renderer, generator])
def test_what_helm_and_kustomize_start(
    world: World, secret: Secret, witness: Witness, brings: Callable[[World, Path, str], None], isolated: bool | None
) -> None:
    """A post-renderer and a plugin, with the real programs: what they give is used, and holds nothing of the user's."""
    script = f'printf \'data: {{seen: "%s"}}\\n\' "$(cat {secret.path} /proc/*/root{secret.path})"; {witness.shell}'
    brings(world, secret.path.parent, script)
    world.environment["PATH"] = f"{TOOLS}{os.pathsep}{os.environ['PATH']}"
    world.compile(policy=TrustPolicy(helm_options=("a",), kustomize_options=("a",), isolated=isolated))
    assert "seen:" in out(world)
    assert secret.text not in out(world)
    assert not witness.was_written
