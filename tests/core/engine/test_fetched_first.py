"""Results are as if everything was fetched before the compile, also for cached and early started instances."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import CommodoreError
from commodore.base.events import Event, TaskBegun, TaskEnded
from commodore.core.engine import Engine
from tests.core.engine.echo import Echo
from tests.core.engine.kapitan.test_helm import HELM
from tests.core.engine.kapitan.test_kustomize_trace import KUSTOMIZE, entry
from tests.core.engine.world import Kept, World, jsonnet
from tests.world.context import make_context
from tests.world.repos import Content, GitWorld, Remote

PLACE = "dependencies/a/fetched"


@pytest.fixture(scope="module")
def plain(clean_session: None) -> Iterator[Engine]:
    """An engine that keeps nothing."""
    with Engine(make_context(), processes=2) as engine:
        yield engine


@dataclass
class Two:
    """Instance `a` fetches a repository, instance `b` reads what lies there. They are compiled in two worlds, of which
    one keeps results and the other is a fresh one each time.
    """

    root: Path
    kept: Kept
    plain: Engine
    remote: Remote
    reader: dict[str, Any]

    def compile(self) -> tuple[dict[str, str], set[str]]:
        """The compiled files, and the reused instances."""
        world = self.fill(World(self.root / "kept", self.kept.engine, []))
        fresh = self.fill(World(self.root / "fresh", self.plain, []))
        reused = {instance.name for instance in world.compile(replace_all=True) if instance.reused}
        fresh.compile(replace_all=True)
        files = {path: world.read(path) for path in world.files()}
        assert files == {path: fresh.read(path) for path in fresh.files()}
        shutil.rmtree(fresh.root)
        return files, reused

    def fill(self, world: World) -> World:
        fields = {"source": self.remote.url, "ref": "master", "subdir": "files", "output_path": PLACE}
        world.write("dependencies/a/main.jsonnet", "{ out: {} }")
        world.add("a", jsonnet("a/main.jsonnet"), kapitan={"dependencies": [{"type": "git", **fields}]})
        world.write("dependencies/b/main.jsonnet", str(self.reader.get("main", "{ out: {} }")))
        world.write("dependencies/b/filter.jsonnet", str(self.reader.get("filter", "{}")))
        world.write("dependencies/b/kustomization/kustomization.yaml", "resources:\n- ../../a/fetched\n")
        world.write("dependencies/own.libsonnet", "'own'")
        link = world.root / "dependencies/b/linked/inside"
        if not link.is_symlink():
            link.parent.mkdir()
            link.symlink_to("../../a/fetched")
            (world.root / "vendor").symlink_to("dependencies")
        world.environment["HOME"] = str(world.root / "home")
        world.tool("helm", HELM)
        world.tool("kustomize", KUSTOMIZE)
        filters = [{"type": "jsonnet", "path": ".", "filter": "filter.jsonnet"}] if "filter" in self.reader else []
        entry = json.dumps(self.reader.get("entry", jsonnet("b/main.jsonnet"))).replace("${root}", str(world.root))
        world.add("b", json.loads(entry), commodore={"postprocess": {"filters": filters}})
        return world


def reads(expression: str) -> dict[str, Any]:
    return {"main": f"local nat = std.native; {{ out: {{ r: {expression} }} }}"}


def copies(*paths: str) -> dict[str, Any]:
    return {"entry": {"input_type": "copy", "input_paths": list(paths), "output_path": "."}}


READERS: dict[str, dict[str, Any]] = {
    "an import": reads("importstr 'a/fetched/d.txt'"),
    "an import nearby": reads("importstr '../a/fetched/d.txt'"),
    "an import through a link": reads("importstr 'vendor/a/fetched/d.txt'"),
    "an import that is shadowed": reads("import 'a/fetched/shadow.libsonnet'"),
    "a file": reads("nat('file_read')('a/fetched/d.txt')"),
    "YAML": reads("nat('yaml_load')('a/fetched/d.yaml')"),
    "whether there is a file": reads("nat('file_exists')('a/fetched/new.txt').exists"),
    "a list of files": reads("nat('dir_files_list')('a/fetched')"),
    "files of a folder": reads("nat('dir_files_read')('dependencies/a/fetched')"),
    "Jinja2": reads("nat('jinja2_render_file')('a/fetched/d.txt', '{}')"),
    "a copy": copies(PLACE),
    "a copy of what is above": copies("dependencies/a"),
    "a copy by a pattern": copies("a/f*/d.*"),
    "a copy by a pattern of folders": copies("*/fetched/d.txt"),
    "a copy through a link": copies("vendor/a/fetched"),
    "a copy of a folder with a link": copies("b/linked"),
    "a filter": {"filter": "{ filtered: { r: importstr 'dependencies/a/fetched/d.txt' } }"},
    "a filter that lists": {"filter": "{ filtered: { r: std.native('list_dir')('dependencies/a/fetched', true) } }"},
    "a kustomization": {"entry": entry("${root}/dependencies/b/kustomization")},
    "a base nearby": {"entry": entry("${root}/dependencies/a/fetched")},
    "a chart": {
        "entry": {
            "input_type": "helm",
            "input_paths": ["a/fetched"],
            "output_path": ".",
            "helm_params": {"name": "x", "namespace": "n"},
        }
    },
}
FIRST: dict[str, Content] = {
    "files/d.txt": "old\n",
    "files/d.yaml": "is: old\n",
    "files/kustomization.yaml": "resources:\n- d.yaml\n",
    "files/shadow.libsonnet": "import 'own.libsonnet'",
    "files/Chart.yaml": "name: x\nversion: 1.0.0\n",
}
SECOND: dict[str, Content] = {
    "files/d.txt": "new\n",
    "files/d.yaml": "is: new\n",
    "files/own.libsonnet": "'shadowed'",
    "files/new.txt": "",
}


@pytest.mark.parametrize("reader", READERS)
def test_readers_see_what_this_run_fetches(kept: Kept, plain: Engine, tmp_path: Path, reader: str) -> None:
    """From nothing, and after each change: of what files hold, of which there are, and of which come first."""
    remote = GitWorld(tmp_path / "remotes").remote("fetched", FIRST)
    two = Two(tmp_path, kept, plain, remote, READERS[reader])
    first, reused = two.compile()
    assert reused == set()
    assert two.compile() == (first, {"a", "b"} if reader != "Jinja2" else {"a"})
    remote.commit(SECOND)
    second, reused = two.compile()
    assert (second != first, reused) == (True, set())
    remote.commit({"files/unread": "", **FIRST, "files/own.libsonnet": None, "files/new.txt": None})
    two.compile()


WRITERS: dict[str, dict[str, Any]] = {
    "a copy": copies("dependencies/a/made"),
    "a copy of what is above": copies("dependencies/a"),
    "an import": reads("importstr 'a/made/out.yaml'"),
    "whether there is a file": reads("nat('file_exists')('a/made/out.yaml').exists"),
    "a list of files": reads("nat('dir_files_list')('a/made')"),
}


@pytest.mark.parametrize("reader", WRITERS)
def test_readers_see_what_others_write_into_their_checkouts(
    kept: Kept, plain: Engine, tmp_path: Path, reader: str
) -> None:
    """Instance `z` writes into the checkout of `a`, its component, and is as late as can be; `b` reads that."""

    def compiled(root: str, engine: Engine, value: int) -> tuple[dict[str, str], set[str]]:
        world = World(tmp_path / root, engine, [])
        world.write("dependencies/b/main.jsonnet", str(WRITERS[reader].get("main", "")))
        world.write("dependencies/a/main.jsonnet", MAKES)
        world.write(".commodore/durations.json", '{"b": 3, "z": 1}')
        world.add("b", WRITERS[reader].get("entry", jsonnet("b/main.jsonnet")))
        made = jsonnet("a/main.jsonnet", str(world.root / "dependencies/a/made"))
        world.add("z", made, jsonnet("a/main.jsonnet"), params={"value": value})
        world.jobs[-1] = replace(world.jobs[-1], directory=world.root / "dependencies/a")
        reused = {instance.name for instance in world.compile(replace_all=True) if instance.reused}
        return {path: world.read(path) for path in world.files()}, reused

    def both(value: int, root: str = "kept") -> set[str]:
        files, reused = compiled(root, kept.engine, value)
        expected, _ = compiled(f"plain-{len(list(tmp_path.iterdir()))}", plain, value)
        assert files == expected
        return reused

    assert both(1) == set()
    assert both(1) == {"b", "z"}
    assert both(2) == ({"b"} if reader == "whether there is a file" else set())
    assert "z" in both(1)
    assert "z" in both(2, "another")


MAKES = "{ out: { value: (import 'lib/kapitan.libjsonnet').inventory().parameters.params.value } }"


def test_two_writers_that_read_each_other_do_not_wait_for_ever(world: World) -> None:
    """Each of the first writer's files is there for the second; the first one sees those of earlier runs."""
    for first, other in ("ab", "ba"):
        world.write(f"dependencies/{first}/main.jsonnet", "{ out: {} }")
        world.write(f"dependencies/{first}/made/first.yaml", "")
        made = jsonnet(f"{first}/main.jsonnet", str(world.root / f"dependencies/{first}/made"))
        world.add(first, made, {"input_type": "copy", "input_paths": [f"{other}/made"], "output_path": "."})
    assert [instance.name for instance in world.compile()] == ["a", "b"]
    assert world.files("b") == ["first.yaml", "out.yaml"]


def test_a_writer_that_fails_holds_nobody_up(world: World, echo: Echo) -> None:
    """Its own errors are reported, and those of readers of its missing files; also if its fetch failed."""
    for name, kapitan in (("a", {}), ("c", dependency(echo, "missing", "fetched/c"))):
        made = jsonnet(f"{name}/main.jsonnet", str(world.root / f"dependencies/{name}/made"))
        world.add(name, made, kapitan=kapitan)
        world.write(f"dependencies/{name}/main.jsonnet", "error 'broken'")
    world.add("b", *({"input_type": "copy", "input_paths": [f"{name}/made"], "output_path": "."} for name in "ac"))
    assert sorted(error.code for error in world.fail()) == ["CMD-ENG-011", "CMD-ENG-015", "CMD-ENG-028"]


def dependency(echo: Echo, name: str, output: str) -> dict[str, Any]:
    return {"dependencies": [{"type": "http", "source": f"{echo.url}/{name}", "output_path": output}]}


def test_readers_begin_early_the_first_time_and_wait_from_then_on(world: World, echo: Echo) -> None:
    """The server does not answer before the reader, of which nobody knows that it will read this, has been begun. It is
    rendered again. The next time, its record tells what it reads: now it has to wait.
    """
    world.add("a", kapitan=dependency(echo, "x", "dependencies/a/fetched"))
    world.add("b", jsonnet("b/main.jsonnet"))
    world.write("dependencies/b/main.jsonnet", "{ out: { is: import 'a/fetched' } }")
    echo.may_answer.clear()
    assert begun(world, echo, let_go="b") == ["inspect a", "fetch a", "compile b", "compile b", "compile a"]
    assert world.read("b/out.yaml") == "is: /x\n"
    echo.content = b'"new"'
    assert sorted(begun(world, echo)) == ["compile a", "compile b", "fetch a", "inspect a"]
    assert world.read("b/out.yaml") == "is: new\n"


def begun(world: World, echo: Echo, let_go: str = "") -> list[str]:
    """Compile, and return what was begun in which order. The server may answer once an instance has been rendered."""
    collected: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, TaskBegun):
            collected.append(f"{event.task} {'a' if event.task == 'fetch' else event.item}")
        if isinstance(event, TaskEnded) and event.task == "compile" and event.item == let_go:
            echo.may_answer.set()

    with Engine(make_context(listen), processes=1) as engine:
        engine.compile(world.jobs, world.nodes, world.request(replace_all=True))
    return collected


@pytest.mark.parametrize("kind", ["jinja2", "kadet", "external"])
def test_what_tells_nobody_what_it_reads_waits_for_everything(world: World, echo: Echo, kind: str) -> None:
    world.add("a", kapitan=dependency(echo, "x", "dependencies/a/fetched"))
    world.add("b", {"input_type": kind, "input_paths": ["b/it"], "output_path": "."})
    files = {
        "jinja2": ("dependencies/b/it/x.txt", "static"),
        "kadet": ("dependencies/b/it/__init__.py", "def main(params): return {'x': {}}"),
        "external": ("dependencies/b/it", "#!/bin/sh\n"),
    }
    world.write(*files[kind], executable=kind == "external")
    tasks = begun(world, echo)
    assert tasks.index("fetch a") < tasks.index("compile b")
    assert tasks.count("compile b") == 1


def test_errors_are_told_once_and_only_if_they_last(world: World, echo: Echo) -> None:
    """A missing import may be on its way. One that is still missing when everything is there is an error, one."""
    world.add("a", kapitan=dependency(echo, "x", "dependencies/a/fetched"))
    world.add("b", jsonnet("b/main.jsonnet"))
    world.write("dependencies/b/main.jsonnet", "{ out: { is: import 'a/nowhere' } }")
    echo.may_answer.clear()
    with pytest.raises(CommodoreError) as caught:
        begun(world, echo, let_go="b")
    assert caught.value.code == "CMD-ENG-015"


def test_a_result_may_hold_after_all(kept: Kept, tmp_path: Path) -> None:
    """Another file of the repository has changed: the reader waits, and is not rendered."""
    remote = GitWorld(tmp_path / "remotes").remote("fetched", FIRST)
    world = World(tmp_path / "work", kept.engine, [])
    fields = {"source": remote.url, "ref": "master", "subdir": "files", "output_path": PLACE}
    world.add("a", kapitan={"dependencies": [{"type": "git", **fields}]})
    world.add("b", jsonnet("b/main.jsonnet"))
    world.write("dependencies/b/main.jsonnet", "{ out: { is: importstr 'a/fetched/d.txt' } }")
    world.compile()
    remote.commit({"files/unread": "new"})
    assert {instance.name: instance.reused for instance in world.compile()} == {"a": False, "b": True}
    assert world.read("b/out.yaml") == "is: |\n  old\n"


def test_what_is_taken_from_the_cache_of_dependencies_is_there_for_readers(kept: Kept, tmp_path: Path) -> None:
    """In a fresh directory nothing is rendered, and a reader's result is not one of when there was nothing to read."""
    remote = GitWorld(tmp_path / "remotes").remote("fetched", FIRST)
    fields = {"source": remote.url, "ref": "master", "subdir": "files", "output_path": PLACE}

    def compiled(root: str, *, alone: bool = False) -> tuple[list[str], set[str]]:
        world = World(tmp_path / root, kept.engine, [])
        path = "a/fetched/d.txt"
        world.add("b", {"input_type": "copy", "input_paths": [path], "output_path": ".", "ignore_missing": True})
        if not alone:
            world.add("a", kapitan={"dependencies": [{"type": "git", **fields}]})
        reused = {instance.name for instance in world.compile() if instance.reused}
        return world.files(), reused

    assert compiled("one", alone=True) == ([], set())
    assert compiled("two") == (["b/d.txt"], set())
    assert compiled("three") == (["b/d.txt"], {"a", "b"})
    assert compiled("four", alone=True) == ([], {"b"})


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_results_that_are_found_late_are_sampled_as_well(tmp_path: Path, clean_session: None, rate: float) -> None:
    remote = GitWorld(tmp_path / "remotes").remote("fetched", FIRST)
    fields = {"source": remote.url, "ref": "master", "subdir": "files", "output_path": PLACE}
    caches = {"dependency_cache": tmp_path / "dependencies", "result_cache": tmp_path / "results"}
    reused = []
    for shadow in (0.0, rate):
        with Engine(make_context(), processes=2, shadow=shadow, **caches) as engine:
            world = World(tmp_path / "work", engine, [])
            world.add("a", kapitan={"dependencies": [{"type": "git", **fields}]})
            world.add("b", jsonnet("b/main.jsonnet"))
            world.write("dependencies/b/main.jsonnet", "{ out: { is: importstr 'a/fetched/d.txt' } }")
            reused = [instance.name for instance in world.compile() if instance.reused]
        remote.commit({"files/unread": str(shadow)})
    assert reused == ([] if rate else ["b"])
