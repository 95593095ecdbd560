"""Instances in, folders out: what is rendered, where it goes, and what happens when something fails."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from commodore.base.documents import plain
from commodore.base.errors import EnvironmentFault, Findings, InputError, InternalError, PolicyError
from commodore.base.events import StageAdvanced, Warned
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.confinement import TrustPolicy
from commodore.core.engine import COMPILE_STAGE, CompiledInstance, CompileRequest, Engine, InstanceJob
from commodore.core.engine.worker.pool import worker_pool
from tests.core.engine.world import World, jsonnet, node
from tests.world.context import make_context
from tests.world.folders import write_script


@pytest.mark.requirement("C56")
def test_one_target_per_instance(world: World) -> None:
    """Each instance is rendered with its own target into its own folder; results follow the jobs' order."""
    for name in ("beta", "alpha"):
        world.add(name, jsonnet(f"{name}/main.jsonnet"), size=len(name))
        world.write(
            f"dependencies/{name}/main.jsonnet",
            """
            local kap = import 'lib/kapitan.libjsonnet';
            local inv = kap.inventory();
            { out: { target: std.extVar('target'), instance: inv.parameters._instance, size: inv.parameters.size } }
            """,
        )
    compiled = world.compile()
    assert [instance.name for instance in compiled] == ["beta", "alpha"]
    assert compiled[0] == CompiledInstance("beta", "beta", world.root / "compiled" / "beta", compiled[0].seconds)
    assert world.read("alpha/out.yaml") == "instance: alpha\nsize: 5\ntarget: alpha\n"
    assert world.files() == ["alpha/out.yaml", "beta/out.yaml"]
    advanced = {event.item for event in world.events if isinstance(event, StageAdvanced)}
    assert advanced == {"alpha", "beta"}
    assert all(event.stage == COMPILE_STAGE for event in world.events if isinstance(event, StageAdvanced))


def test_results_that_are_empty_leave_empty_files(world: World) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", "{ none: {}, list: [], two: [{ a: 1 }, { b: [2] }] }")
    world.compile()
    assert world.read("a/none.yaml") == world.read("a/list.yaml") == ""
    assert world.read("a/two.yaml") == "a: 1\n---\nb:\n  - 2\n"


def test_multiline_style_of_a_target(world: World) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    world.add("b", jsonnet("a/main.jsonnet"), multiline_string_style="double-quotes")
    world.write("dependencies/a/main.jsonnet", r"{ out: { text: 'one\ntwo\n' } }")
    world.compile()
    assert world.read("a/out.yaml") == "text: |\n  one\n  two\n"
    assert world.read("b/out.yaml") == 'text: "one\\ntwo\\n"\n'


def test_nothing_to_compile(world: World) -> None:
    """Neither an instance without entries, nor one that renders nothing, nor no instances leave anything."""
    assert world.compile() == ()
    world.write("compiled/none/earlier.yaml", "x")
    world.write("dependencies/none/main.jsonnet", "{}")
    world.add("empty")
    world.add("none", jsonnet("none/main.jsonnet"))
    for replace_all in (False, True, True):
        world.compile(replace_all=replace_all)
        assert list((world.root / "compiled").iterdir()) == []


def test_replace_all_removes_what_is_not_part_of_the_run(world: World) -> None:
    world.add("a")
    world.write("compiled/stale/x.yaml", "x")
    world.compile()
    assert world.files() == ["stale/x.yaml"]
    world.compile(replace_all=True)
    assert world.files() == []
    world.jobs.clear()
    world.compile(replace_all=True)
    assert list((world.root / "compiled").iterdir()) == []


def test_one_failure_leaves_everything_as_it_was(world: World) -> None:
    """All instances' errors are reported together, and nothing is replaced."""
    world.write("compiled/good/old.yaml", "old")
    world.add("good", jsonnet("good/main.jsonnet"))
    world.write("dependencies/good/main.jsonnet", "{ new: {} }")
    world.add("bad", jsonnet("bad/main.jsonnet"))
    world.write("dependencies/bad/main.jsonnet", "error 'no way'")
    world.add("worse", jsonnet("worse/missing.jsonnet"))
    errors = world.fail(replace_all=True)
    assert [error.code for error in errors] == ["CMD-ENG-015", "CMD-ENG-011"]
    assert "no way" in errors[0].message
    assert world.files() == ["good/old.yaml"]
    assert list((world.root / ".commodore").iterdir()) == []


def test_earlier_outputs_are_this_runs_outputs(world: World) -> None:
    """Names below compiled/ mean what this run has rendered, although an older result lies in a search path."""
    world.write("compiled/a/first.yaml", "from: an older run\n")
    world.add("a", jsonnet("a/first.jsonnet"), jsonnet("a/second.jsonnet"))
    world.write("dependencies/a/first.jsonnet", "{ first: { from: 'this run' } }")
    world.write(
        "dependencies/a/second.jsonnet",
        """
        local kap = import 'lib/kapitan.libjsonnet';
        {
          second: std.parseJson(kap.yaml_load('compiled/a/first.yaml')),
          text: { t: importstr 'compiled/a/first.yaml' },
        }
        """,
    )
    world.compile()
    assert world.read("a/second.yaml") == "from: this run\n"
    assert "this run" in world.read("a/text.yaml")


def test_the_first_search_path_wins(world: World) -> None:
    world.add("a", jsonnet("shared/main.jsonnet"))
    world.write("dependencies/shared/main.jsonnet", "{ out: { from: 'first' } }")
    world.write("shared/main.jsonnet", "{ out: { from: 'second' }, more: {} }")
    world.compile()
    assert world.read("a/out.yaml") == "from: first\n"
    assert world.files() == ["a/more.yaml", "a/out.yaml"]


@pytest.mark.requirement("C58")
@pytest.mark.parametrize("refs", ["catalog/refs", ".commodore/catalog-x.staging/refs"])
def test_references_become_hashes(world: World, refs: str) -> None:
    """Refs are looked up in the catalog, which may be one that is still being made; the library is found on the search
    path.
    """
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write(
        "dependencies/a/main.jsonnet",
        "local com = import 'lib/commodore.libjsonnet'; { out: { p: 'x ?{vaultkv:t/c/pw} y', l: std.isObject(com) } }",
    )
    data = "dC9jOnB3"
    world.write(f"{refs}/t/c/pw", f"data: {data}\nencoding: original\ntype: vaultkv\nvault_params: {{}}\n")
    world.compile(refs=world.root / refs)
    digest = hashlib.sha256(f"t/c/pw{data}".encode()).hexdigest()[:8]
    assert world.read("a/out.yaml") == f"l: true\np: x ?{{vaultkv:t/c/pw:{digest}}} y\n"


def test_a_reference_without_a_file(world: World) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", "{ out: { p: '?{vaultkv:t/c/pw}' } }")
    error = world.fail_once()
    assert error.code == "CMD-ENG-023"
    assert "?{vaultkv:t/c/pw}" in error.message


def test_fake_references_reveal_their_path(world: World) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", "{ out: { p: 'x ?{vaultkv:t/c/pw} y' } }")
    world.compile(reveal_fake=True)
    assert world.read("a/out.yaml") == "p: x t/c/pw y\n"


@pytest.mark.parametrize("key", ["../escape", "/tmp/escape", "a/../../b/escape"])
def test_output_keys_stay_inside(world: World, key: str) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", f"{{ '{key}': {{ a: 1 }} }}")
    error = world.fail_once()
    assert isinstance(error, PolicyError)
    assert error.code == "CMD-ENG-007"
    assert "instance 'a', compile entry 0" in error.message


def test_output_keys_do_not_follow_links_outside(world: World) -> None:
    outside = world.root.parent / "outside"
    outside.mkdir()
    world.add(
        "a", {"input_type": "external", "input_paths": ["link.sh"], "output_path": "."}, jsonnet("a/main.jsonnet")
    )
    world.nodes["a"]["parameters"]["kapitan"]["compile"][0]["args"] = ["${compiled_target_dir}"]
    world.write("link.sh", f'#!/bin/sh\nln -s {outside} "$1/link"', executable=True)
    world.write("dependencies/a/main.jsonnet", "{ 'link/x': { a: 1 } }")
    assert world.fail_once().code == "CMD-ENG-007"
    assert list(outside.iterdir()) == []


def test_output_paths_stay_inside_or_in_the_own_checkout(world: World) -> None:
    directory = world.add("a", jsonnet("a/main.jsonnet", str(world.root / "dependencies" / "a" / "generated")))
    world.write("dependencies/a/main.jsonnet", "{ out: { a: 1 } }")
    world.compile()
    assert (directory / "generated" / "out.yaml").read_text() == "a: 1\n"
    world.add("b", jsonnet("a/main.jsonnet", str(directory / "generated")))
    assert world.fail_once().code == "CMD-ENG-007"


def test_remove_removes_outputs_only(world: World) -> None:
    remove = {"input_type": "remove", "input_paths": ["compiled/a/sub"], "output_path": "."}
    world.add("a", jsonnet("a/main.jsonnet"), remove)
    source = world.write("dependencies/a/main.jsonnet", "{ 'sub/x': { a: 1 }, y: { b: 1 } }")
    world.compile()
    assert world.files() == ["a/y.yaml"]
    world.add("b", {**remove, "input_paths": ["a/main.jsonnet"]})
    assert world.fail_once().code == "CMD-ENG-007"
    assert source.is_file()


def test_text_needs_the_plain_output_type(world: World) -> None:
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", "{ out: 'text' }")
    error = world.fail_once()
    assert error.code == "CMD-ENG-012"
    assert "'out.yaml' is a string" in error.message
    world.nodes["a"]["parameters"]["kapitan"]["compile"][0]["output_type"] = "plain"
    world.compile()
    assert world.read("a/out") == "text"


def test_an_entry_may_fail_softly(world: World) -> None:
    world.add("a", jsonnet("missing", continue_on_compile_error=True), jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", "{ out: { a: 1 } }")
    world.compile()
    assert world.files() == ["a/out.yaml"]
    (warning,) = [event for event in world.events if isinstance(event, Warned)]
    assert "'missing' does not exist" in warning.message


def test_an_instance_without_a_target(world: World) -> None:
    world.add("metrics")
    world.nodes["metricz"] = world.nodes.pop("metrics")
    error = world.fail_once()
    assert error.code == "CMD-ENG-003"
    assert "metricz" in error.hint


def test_an_instance_twice(world: World) -> None:
    world.add("a")
    world.jobs *= 2
    assert isinstance(world.fail_once(), InternalError)


@pytest.mark.parametrize("name", ["../a", "a/b", "-a", ""])
def test_names_are_safe(world: World, name: str) -> None:
    world.jobs.append(InstanceJob(name, "a", world.root))
    world.nodes[name] = node({})
    assert isinstance(world.fail_once(), InputError)


def test_an_inventory_that_is_no_plain_data(world: World) -> None:
    world.add("a", thing=Path("x"))
    assert world.fail_once().code == "CMD-ENG-001"


def test_a_worker_that_is_killed_names_its_instance(world: World) -> None:
    """The others are compiled all the same, and the engine goes on with a new worker."""
    world.add("victim", {"input_type": "kadet", "input_paths": ["victim/deadly"], "output_path": "."})
    world.write("dependencies/victim/deadly/__init__.py", "import os\ndef main(): os.kill(os.getpid(), 9)")
    world.add("bad", jsonnet("bad/main.jsonnet"))
    world.write("dependencies/bad/main.jsonnet", "error 'no way'")
    dead, bad = world.fail(policy=TrustPolicy(isolated=False))  # else it is a child of the worker
    assert isinstance(dead, EnvironmentFault)
    assert dead.code == "CMD-ENG-005"
    assert "'victim' was killed by SIGKILL" in dead.message
    assert bad.code == "CMD-ENG-015"
    world.jobs[:] = world.jobs[1:]
    world.write("dependencies/bad/main.jsonnet", "{ out: { a: 1 } }")
    world.compile()
    assert world.files() == ["bad/out.yaml"]


def test_kadet_modules_of_one_name(world: World, tmp_path: Path) -> None:
    """One worker renders two versions of a component, whose helpers have the same names: each sees its own."""
    for version, root in (("1", world.root), ("2", tmp_path / "other")):
        world.root = root
        world.jobs.clear()
        world.add("app", {"input_type": "kadet", "input_paths": ["app/component"], "output_path": "."})
        world.write(
            "dependencies/app/component/__init__.py",
            "from kadet import BaseObj\nfrom . import helper\n"
            "def main(): return BaseObj.from_dict({'out': {'a': helper.VALUE}})",
        )
        world.write("dependencies/app/component/helper.py", f"VALUE = {version!r}")
        world.compile()
        assert world.read("app/out.yaml") == f"a: '{version}'\n"


def run_python(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )


def test_the_caller_loads_neither_kapitan_nor_go() -> None:
    result = run_python(
        """
        import sys, commodore.core.engine
        print([name for name in ("kapitan", "_gojsonnet", "pydantic", "git", "yaml") if name in sys.modules])
        """
    )
    assert result.stdout == "[]\n", result.stderr


INTERRUPTED = """
import os, signal, sys, threading, time
from pathlib import Path
from commodore.core.confinement import TrustPolicy
from commodore.core.confinement import TrustPolicy
from commodore.core.confinement import TrustPolicy
from commodore.base.context import Context
from commodore.core.engine import CompileRequest, Engine, InstanceJob
from commodore.base.events import ignore
from commodore.base.limits import Limits

root, how = Path(sys.argv[1]), sys.argv[2]

def strike():
    while not (root / "pids").is_file():
        time.sleep(0.01)
    os.kill(os.getpid(), getattr(signal, how))

threading.Thread(target=strike, daemon=True).start()
entry = {"input_type": "external", "input_paths": ["sleep.sh"], "output_path": "."}
node = {"parameters": {"kapitan": {"compile": [entry], "vars": {"target": "a"}}}, "classes": [], "applications": []}
policy = TrustPolicy(isolated=False)  # so that the script knows the numbers that its processes have outside
request = CompileRequest(root=root, output=root, search_paths=(root,), refs=root / "refs", policy=policy)
with Engine(Context(ignore, Limits()), processes=1) as engine:
    engine.compile([InstanceJob("a", "a", root)], {"a": node}, request)
"""


@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_no_process_is_left_behind(tmp_path: Path, how: str) -> None:
    """Whatever ends the caller ends its workers and the commands that they run."""
    script = tmp_path / "sleep.sh"
    write_script(script, 'sleep 1000 &\necho "$$ $! $PPID" > pids.new; mv pids.new pids; wait')
    result = run_python(INTERRUPTED, str(tmp_path), how)
    assert result.returncode != 0
    pids = (tmp_path / "pids").read_text().split()
    assert len(pids) == 3
    wait_until_gone(pids)
    left = list((tmp_path / ".commodore").iterdir())
    assert (left == []) == (how == "SIGINT")


def wait_until_gone(pids: list[str]) -> None:
    """End only when none of the processes runs any more (an unreaped one does not)."""
    while pids:
        states = subprocess.run(["ps", "-o", "pid=,stat=", "-p", ",".join(pids)], capture_output=True, text=True)
        pids = [line.split()[0] for line in states.stdout.splitlines() if not line.split()[1].startswith("Z")]


def test_an_engine_that_cannot_import_its_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken" / "kapitan"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise RuntimeError('half an installation')")
    monkeypatch.syspath_prepend(str(broken.parent))
    monkeypatch.setattr("commodore.core.engine.engine.worker_pool", worker_pool)  # none that has loaded Kapitan already
    job = InstanceJob("a", "a", tmp_path)
    request = CompileRequest(root=tmp_path, output=tmp_path, search_paths=(), refs=tmp_path)
    with Engine(make_context()) as engine, pytest.raises(EnvironmentFault) as caught:
        engine.compile([job], {"a": node({"kapitan": {}})}, request)
    assert caught.value.code == "CMD-ENG-004"
    assert "half an installation" in caught.value.message


def test_outputs_do_not_depend_on_the_number_of_workers(world: World) -> None:
    for number in range(5):
        world.add(f"i{number}", jsonnet("shared.jsonnet"), value=number)
    world.write(
        "shared.jsonnet",
        "local kap = import 'lib/kapitan.libjsonnet'; { out: { v: kap.inventory().parameters.value } }",
    )
    world.compile(processes=1)
    first = {name: world.read(name) for name in world.files()}
    world.compile(processes=3)
    assert {name: world.read(name) for name in world.files()} == first
    assert [yaml.safe_load(first[f"i{n}/out.yaml"]) for n in range(5)] == [{"v": n} for n in range(5)]


def test_findings_are_flat(world: World) -> None:
    world.add("a", kapitan={"compile": [{"input_type": "jsonnet"}, {"input_type": "nonsense"}]})
    with pytest.raises(Findings) as caught:
        world.compile()
    assert json.dumps([plain(error) for error in caught.value.errors])
    assert all(error.code == "CMD-ENG-008" for error in caught.value.errors)


def test_a_targets_wrong_settings_are_one_error_whoever_reads_them(world: World) -> None:
    """The instances that read them depend on cached results; the user's output does not."""
    world.add("a", jsonnet("a/main.jsonnet", typo=1))
    for name in ("b", "c"):
        world.add(name, jsonnet(f"{name}/main.jsonnet"))
        text = "local kap = import 'lib/kapitan.libjsonnet'; { out: { v: kap.inventory_global().a.parameters } }"
        world.write(f"dependencies/{name}/main.jsonnet", text)
    world.write("dependencies/a/main.jsonnet", "{ out: { a: 1 } }")
    errors = world.fail()
    assert [error.message for error in errors] == ["instance 'a': parameters.kapitan.compile[0].typo: unknown field"]


def test_modes_do_not_depend_on_the_umask(world: World) -> None:
    world.add("a", jsonnet("a/main.jsonnet", "sub"))
    world.write("dependencies/a/main.jsonnet", "{ out: { a: 1 } }")
    old = os.umask(0o077)
    try:
        world.compile(replace_all=True)
    finally:
        os.umask(old)
    paths = (world.root / "compiled", *(world.root / "compiled").rglob("*"))
    assert [oct(path.stat().st_mode & 0o777) for path in paths] == ["0o755", "0o755", "0o755", "0o644"]


OTHER_FILE_SYSTEM = Path("/dev/shm")


def has_other_file_system(folder: Path) -> bool:
    return OTHER_FILE_SYSTEM.is_dir() and OTHER_FILE_SYSTEM.stat().st_dev != folder.stat().st_dev


def test_an_output_on_another_file_system(world: World) -> None:
    """A component is compiled in a throw-away workspace, its output goes to the user's folder."""
    if not has_other_file_system(world.root):
        pytest.skip("there is one file system")
    world.add("a", jsonnet("a/main.jsonnet"))
    world.write("dependencies/a/main.jsonnet", "{ out: { a: 1 } }")
    with tempfile.TemporaryDirectory(dir=OTHER_FILE_SYSTEM) as folder:
        output = Path(folder)
        (output / "compiled" / "other").mkdir(parents=True)
        for text in ("a: 1\n", "a: 2\n"):
            (compiled,) = world.compile(output=output)
            assert (compiled.directory / "out.yaml").read_text() == text
            world.write("dependencies/a/main.jsonnet", "{ out: { a: 2 } }")
        assert sorted(path.name for path in output.iterdir()) == ["compiled"]
        assert sorted(path.name for path in (output / "compiled").iterdir()) == ["a", "other"]


def test_limits_of_sizes(tmp_path: Path) -> None:
    limits = replace(DEFAULT_LIMITS, output_file_bytes=100)
    job = InstanceJob("a", "a", tmp_path)
    request = CompileRequest(root=tmp_path, output=tmp_path, search_paths=(tmp_path,), refs=tmp_path)
    (tmp_path / "main.jsonnet").write_text("{ out: { text: std.repeat('x', 100) } }")
    nodes = {"a": node({"kapitan": {"compile": [jsonnet("main.jsonnet")]}})}
    with Engine(make_context(limits=limits), processes=1) as engine, pytest.raises(PolicyError) as caught:
        engine.compile([job], nodes, request)
    assert caught.value.code == "CMD-ENG-013"
    small = replace(DEFAULT_LIMITS, inventory_bytes=10)
    with Engine(make_context(limits=small), processes=1) as engine, pytest.raises(PolicyError) as caught:
        engine.compile([job], nodes, request)
    assert caught.value.code == "CMD-ENG-002"
