"""Results are used again exactly as long as all that they were made from is the same."""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commodore.base.errors import InternalError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.engine import Engine, changed_reads, read_record
from commodore.core.results.result_store import ResultStore, read_folder
from tests.core.engine.world import Kept, World, is_reused
from tests.world.context import make_context

MAIN = """
local kap = import 'lib/kapitan.libjsonnet';
local com = import 'lib/commodore.libjsonnet';
local library = import 'own.libsonnet';
local inv = kap.inventory();
local params = inv.parameters.app;
{
  objects: [{
    kind: 'A',
    name: params.name,
    labels: params.labels,
    cloud: inv.parameters.facts.cloud,
    library: library,
    text: kap.file_read('app/text.txt'),
    files: kap.dir_files_list('app/folder'),
    yaml: std.parseJson(kap.yaml_load('app/data.yaml')),
    proxy: com.proxyVars,
  }],
}
"""
FILTER = """
local com = import 'lib/commodore.libjsonnet';
local inv = com.inventory();
local objects = com.yaml_load_all(std.extVar('output_path') + '/objects.yaml');
{ objects: [object { filtered: inv.parameters.filtering } for object in objects] }
"""


def jsonnet(path: str, output: str = ".") -> dict[str, Any]:
    return {"input_type": "jsonnet", "input_paths": [path], "output_path": output, "output_type": "yaml"}


def fill(world: World) -> World:
    """An instance that reads in every way that templates have."""
    directory = world.add(
        "app",
        jsonnet("app/component/main.jsonnet"),
        app={"name": "n", "labels": {"a": "b"}, "unread": 1},
        facts={"cloud": "x", "region": "r"},
        other={"deep": {"value": 1}},
        filtering={"on": True},
    )
    world.nodes["app"]["parameters"]["global"] = {"http_proxy": "p"}
    world.nodes["app"]["parameters"]["commodore"] = {
        "postprocess": {"filters": [{"type": "jsonnet", "path": ".", "filter": "postprocess/filter.jsonnet"}]}
    }
    world.write("dependencies/app/component/main.jsonnet", MAIN)
    world.write("dependencies/app/postprocess/filter.jsonnet", FILTER)
    world.write("dependencies/own.libsonnet", "{ from: 'library' }")
    world.write("dependencies/app/text.txt", "text")
    world.write("dependencies/app/folder/one.txt", "1")
    world.write("dependencies/app/data.yaml", "key: value\n")
    world.write("dependencies/app/README.md", "unread")
    assert directory.is_dir()
    return world


def parameters(world: World) -> dict[str, Any]:
    settings: dict[str, Any] = world.nodes["app"]["parameters"]
    return settings


MISSES: dict[str, Callable[[World], object]] = {
    "a parameter": lambda w: parameters(w)["app"].update(name="m"),
    "a field deep in a parameter": lambda w: parameters(w)["app"]["labels"].update(a="c"),
    "the order of a parameter's keys": lambda w: parameters(w)["app"].update(labels={"z": 1, "a": "b"}),
    "a new field of a parameter that is seen as a whole": lambda w: parameters(w)["app"].update(new=1),
    "a fact": lambda w: parameters(w)["facts"].update(cloud="y"),
    "a parameter that a library reads": lambda w: parameters(w)["global"].update(http_proxy="q"),
    "a parameter that a library would read": lambda w: parameters(w).pop("global"),
    "a parameter of a filter": lambda w: parameters(w)["filtering"].update(on=False),
    "the definition of a filter": lambda w: parameters(w)["commodore"]["postprocess"]["filters"].append(
        {"type": "builtin", "path": ".", "filter": "helm_namespace", "filterargs": {"namespace": "n"}}
    ),
    "the style of texts": lambda w: parameters(w).update(multiline_string_style="folded"),
    "a compile entry": lambda w: parameters(w)["kapitan"]["compile"][0].update(prune=True),
    "the variables of Kapitan": lambda w: parameters(w)["kapitan"]["vars"].update(more="x"),
    "the template": lambda w: w.write("dependencies/app/component/main.jsonnet", MAIN + " + { more: [{}] }"),
    "a library": lambda w: w.write("dependencies/own.libsonnet", "{ from: 'elsewhere' }"),
    "a library that comes first": lambda w: w.write("dependencies/app/component/own.libsonnet", "{ from: 'here' }"),
    "a file that is read": lambda w: w.write("dependencies/app/text.txt", "other"),
    "a file in a folder that is listed": lambda w: w.write("dependencies/app/folder/two.txt", "2"),
    "a YAML file": lambda w: w.write("dependencies/app/data.yaml", "key: other\n"),
    "the filter": lambda w: w.write("dependencies/app/postprocess/filter.jsonnet", FILTER + " + { more: [{}] }"),
}
HITS: dict[str, Callable[[World], object]] = {
    "nothing": lambda w: None,
    "a parameter that nobody reads": lambda w: parameters(w)["other"]["deep"].update(value=2),
    "a fact that nobody reads": lambda w: parameters(w)["facts"].update(region="s"),
    "a new fact": lambda w: parameters(w)["facts"].update(zone="z"),
    "a new component": lambda w: parameters(w).update(newcomer={"namespace": "n"}),
    "a component less": lambda w: parameters(w).pop("other"),
    "a file that nobody reads": lambda w: w.write("dependencies/app/README.md", "still unread"),
    "another target": lambda w: w.nodes.update(other=copy.deepcopy(w.nodes["app"])),
}


def test_every_input_that_was_read_counts(kept: Kept, tmp_path: Path) -> None:
    """A working directory that would take the result, but for one change each."""
    first = fill(kept.world(tmp_path / "one"))
    assert not is_reused(first)
    assert is_reused(first)
    reused = []
    for number, (change, do) in enumerate(MISSES.items()):
        world = fill(kept.world(tmp_path / str(number)))
        do(world)
        if is_reused(world):
            reused.append(change)
    assert reused == []
    assert is_reused(fill(kept.world(tmp_path / "unchanged")))


def test_a_change_that_breaks_the_rendering_is_noticed(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"))
    assert not is_reused(world)
    world.write("dependencies/app/postprocess/lib/commodore.libjsonnet", "{}")
    assert world.fail_once().code == "CMD-ENG-047"


def test_no_other_input_counts(kept: Kept, tmp_path: Path) -> None:
    """One change after the other in the working directory of the result."""
    world = fill(kept.world(tmp_path / "one"))
    assert not is_reused(world)
    before = world.read("app/objects.yaml")
    for change, do in HITS.items():
        do(world)
        assert is_reused(world), change
        assert world.read("app/objects.yaml") == before


def test_other_working_directories_share_results(kept: Kept, tmp_path: Path) -> None:
    """Clusters with the same instance share its result, whatever else they include."""
    first = fill(kept.world(tmp_path / "one"))
    assert not is_reused(first)
    for number, (change, do) in enumerate(HITS.items()):
        other = fill(kept.world(tmp_path / "far" / f"away-{number}"))
        do(other)
        assert is_reused(other), change
        assert first.read("app/objects.yaml") == other.read("app/objects.yaml")


def test_a_change_that_is_taken_back_is_found_again(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"))
    assert not is_reused(world)
    parameters(world)["app"]["name"] = "m"
    assert not is_reused(world)
    parameters(world)["app"]["name"] = "n"
    assert is_reused(world)


def test_a_result_that_holds_the_working_directory_stays_there(kept: Kept, tmp_path: Path) -> None:
    main = "local kap = import 'lib/kapitan.libjsonnet'; { o: { at: kap.inventory().parameters._base_directory } }"
    worlds = []
    for name in ("one", "two"):
        world = kept.world(tmp_path / name)
        directory = world.add("app", jsonnet("app/main.jsonnet"))
        parameters(world)["_base_directory"] = str(directory)
        world.write("dependencies/app/main.jsonnet", main)
        worlds.append(world)
    assert [is_reused(world) for world in worlds] == [False, False]
    assert [is_reused(world) for world in worlds] == [True, True]
    assert worlds[1].read("app/o.yaml") == f"at: {worlds[1].root}/dependencies/app\n"


@pytest.mark.parametrize(
    "entry",
    [
        {"input_type": "external", "input_paths": ["app/run"], "output_path": ".", "args": ["${compiled_target_dir}"]},
        {"input_type": "jinja2", "input_paths": ["app/run"], "output_path": "."},
    ],
    ids=["external", "jinja2"],
)
def test_what_cannot_be_observed_is_not_kept(kept: Kept, tmp_path: Path, entry: dict[str, Any]) -> None:
    world = kept.world(tmp_path / "one")
    world.add("app", entry)
    world.write("dependencies/app/run", "#!/bin/sh\necho text > $1/file\n", executable=True)
    assert not is_reused(world)
    assert not is_reused(world)


def test_a_skipped_entry_warns_each_time(kept: Kept, tmp_path: Path) -> None:
    world = kept.world(tmp_path / "one")
    world.add("app", jsonnet("app/main.jsonnet") | {"continue_on_compile_error": True})
    world.write("dependencies/app/main.jsonnet", "error 'no'")
    assert not is_reused(world)
    assert not is_reused(world)


def test_an_error_is_not_kept(kept: Kept, tmp_path: Path) -> None:
    world = kept.world(tmp_path / "one")
    world.add("app", jsonnet("app/main.jsonnet"))
    world.write("dependencies/app/main.jsonnet", "error 'no'")
    assert [error.code for error in world.fail()] == [error.code for error in world.fail()]


def test_files_keep_their_modes_and_empty_folders_stay(kept: Kept, tmp_path: Path) -> None:
    world = kept.world(tmp_path / "one")
    world.add("app", {"input_type": "copy", "input_paths": ["app/files"], "output_path": "."})
    world.write("dependencies/app/files/run", "#!/bin/sh\n", executable=True)
    (world.root / "dependencies/app/files/empty").mkdir()
    (world.root / "dependencies/app/files/link").symlink_to("run")

    def seen() -> list[tuple[str, int]]:
        folder = world.root / "compiled" / "app"
        return sorted((str(path.relative_to(folder)), path.lstat().st_mode) for path in folder.rglob("*"))

    assert not is_reused(world)
    first = seen()
    assert is_reused(world)
    assert seen() == first
    (world.root / "dependencies/app/files/run").chmod(0o644)
    assert not is_reused(world)


MODES: dict[str, tuple[str, int]] = {
    "a file that others may read": ("files/sub/plain", 0o644),
    "a file for nobody else": ("files/sub/plain", 0o400),
    "one with a special bit": ("files/sub/plain", 0o2644),
    "a file copied by its name": ("alone", 0o640),
    "a folder": ("files/sub", 0o700),
    "the folder that is copied": ("files", 0o750),
}


def test_modes_are_those_of_rendering(kept: Kept, engine: Engine, tmp_path: Path) -> None:
    """Whatever the umask of whoever takes a result."""
    world = kept.world(tmp_path / "one")
    world.add(
        "app",
        *({"input_type": "copy", "input_paths": [f"app/{name}"], "output_path": "."} for name in ("files", "alone")),
    )
    for name in ("files/sub/plain", "alone"):
        world.write(f"dependencies/app/{name}", "x").chmod(0o600)
    plain, nearby = World(world.root, engine, [], world.nodes, world.jobs), tmp_path / "nearby"

    def seen(root: Path) -> list[tuple[str, int]]:
        folder = root / "compiled"
        return [(str(path.relative_to(folder)), path.lstat().st_mode) for path in (folder, *sorted(folder.rglob("*")))]

    def compare() -> None:
        """Rendered, kept and restored files, compared with a run without caches."""
        plain.compile(output=nearby, replace_all=True)
        expected = seen(nearby)
        before = os.umask(0o077)
        try:
            for _ in range(2):
                world.compile(replace_all=True)
                assert seen(world.root) == expected
            shutil.rmtree(world.root / "compiled")
            assert is_reused(world, replace_all=True)
            assert seen(world.root) == expected
        finally:
            os.umask(before)

    compare()
    for name, mode in MODES.values():
        (world.root / "dependencies/app" / name).chmod(mode)
        compare()


def edit(folder: Path) -> None:
    (folder / "app/objects.yaml").write_text((folder / "app/objects.yaml").read_text().replace("n", "m"))


def swap_for_a_link(folder: Path) -> None:
    (folder / "app/objects.yaml").rename(folder.parent / "moved")
    (folder / "app/objects.yaml").symlink_to(folder.parent / "moved")


SPOILS: dict[str, Callable[[Path], object]] = {
    "an edited file": edit,
    "a longer file": lambda compiled: (compiled / "app/objects.yaml").write_text("longer\n" * 100),
    "a removed file": lambda compiled: (compiled / "app/objects.yaml").unlink(),
    "a new file": lambda compiled: (compiled / "app/new.yaml").write_text(""),
    "a new empty folder": lambda compiled: (compiled / "app/new").mkdir(),
    "another mode of a folder": lambda compiled: (compiled / "app").chmod(0o700),
    "another mode of the folder above": lambda compiled: compiled.chmod(0o700),
    "another mode": lambda compiled: (compiled / "app/objects.yaml").chmod(0o755),
    "a link to the same": swap_for_a_link,
    "a removed instance": lambda compiled: (compiled / "gone").mkdir(),
    "an instance that is missing": lambda compiled: shutil.rmtree(compiled / "app"),
    "everything missing": shutil.rmtree,
}


def test_what_is_in_place_is_left_alone(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"))
    assert not is_reused(world, replace_all=True)
    compiled = world.root / "compiled"
    before = [compiled.stat().st_ino, (compiled / "app/objects.yaml").stat().st_ino]
    assert is_reused(world, replace_all=True)
    assert [compiled.stat().st_ino, (compiled / "app/objects.yaml").stat().st_ino] == before


def test_what_was_touched_is_put_right(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"))
    world.compile(replace_all=True)
    compiled = world.root / "compiled"
    before = read_folder(compiled)
    for name, spoil in SPOILS.items():
        spoil(compiled)
        assert read_folder(compiled if compiled.exists() else tmp_path) != before, name
        assert is_reused(world, replace_all=True), name
        assert read_folder(compiled) == before, name


def test_a_damaged_result_is_rendered_again(kept: Kept, tmp_path: Path) -> None:
    world = fill(kept.world(tmp_path / "one"))
    assert not is_reused(world)
    before = world.read("app/objects.yaml")
    results = list(kept.results.rglob("*.result"))  # the instance's, and the filter's
    store = ResultStore(kept.results, DEFAULT_LIMITS)
    for result in results:
        assert store.is_sound(result)
        result.write_bytes(result.read_bytes().replace(b"library", b"LIBRARY"))
        assert not store.is_sound(result)
    assert not is_reused(world)
    assert world.read("app/objects.yaml") == before
    assert is_reused(world)
    for shape in kept.results.rglob("shapes/*.json"):
        shape.write_bytes(b"garbage")
    assert not is_reused(world)


def test_a_cache_that_cannot_be_written_costs_time_only(kept: Kept, tmp_path: Path) -> None:
    kept.results.parent.mkdir(exist_ok=True)
    kept.results.write_text("a file in the way")
    world = fill(kept.world(tmp_path / "one"))
    try:
        assert not is_reused(world)
        assert not is_reused(world)
    finally:
        kept.results.unlink()


def test_shadow_mode_tells_what_differs(kept: Kept, tmp_path: Path, clean_session: None) -> None:
    """C-engine: a hit is rendered again and compared; what was wrong is forgotten, and `compiled` is as it was."""
    world = fill(kept.world(tmp_path / "one"))
    assert not is_reused(world)
    with Engine(
        make_context(), processes=1, dependency_cache=kept.dependencies, result_cache=kept.results, shadow=1.0
    ) as shadow:
        world.engine = shadow
        assert not is_reused(world)  # rendered again, and equal
        _falsify(kept)
        before = world.read("app/objects.yaml")
        error = world.fail_once()
        assert isinstance(error, InternalError)
        assert (error.code, "app" in error.message, "objects.yaml" in error.message) == ("CMD-ENG-052", True, True)
        assert world.read("app/objects.yaml") == before
    world.engine = kept.engine
    assert not is_reused(world)


def _falsify(kept: Kept) -> None:
    """Let the cache hold a sound result that is not the instance's."""
    from commodore.core.results import result_store as store

    for place in kept.results.rglob("*.result"):
        content = store._read(place)
        assert content is not None
        store._write(place, content.replace(b"library", b"LIBRARY"))


SECRET = "data: {data}\nencoding: original\ntype: vaultkv\nvault_params: {{}}\n"


def cluster(world: World, name: str, reference: str = "", data: str = "one") -> World:
    """An instance with a reference, by default to a secret of its cluster, and the ref file of that."""
    world.add("app", jsonnet("app/main.jsonnet"), app={"secret": reference or f"?{{vaultkv:t/{name}/pw}}"})
    world.write(
        "dependencies/app/main.jsonnet",
        "local kap = import 'lib/kapitan.libjsonnet'; { out: { secret: kap.inventory().parameters.app.secret } }",
    )
    world.write(f"catalog/refs/t/{name}/pw", SECRET.format(data=data))
    return world


def own_refs(world: World, name: str) -> Path:
    return world.root / "catalog" / "refs" / "t" / name


def test_clusters_with_secrets_of_their_own_do_not_crowd_each_other_out(kept: Kept, tmp_path: Path) -> None:
    """Looking up compares with a few lists of what was read: as many clusters as there are share one."""
    names = [f"c-{number}" for number in range(DEFAULT_LIMITS.shapes + 2)]
    worlds = {name: cluster(kept.world(tmp_path / name), name) for name in names}
    for name, world in worlds.items():
        assert not is_reused(world, cluster_refs=own_refs(world, name))
    assert len(list(kept.results.glob("*/*/shapes/*.json"))) == 1
    for name, world in worlds.items():
        assert is_reused(world, cluster_refs=own_refs(world, name))
        assert f"t/{name}/pw:" in world.read("app/out.yaml")
    world = cluster(kept.world(tmp_path / "elsewhere"), "c-0", data="two")
    assert not is_reused(world, cluster_refs=own_refs(world, "c-0"))


def test_another_clusters_secret_is_not_taken_for_ones_own(kept: Kept, tmp_path: Path) -> None:
    """Two clusters name a secret of the first; the second has an equal one, which has nothing to do with it."""
    first = cluster(kept.world(tmp_path / "1"), "c-1")
    assert not is_reused(first, cluster_refs=own_refs(first, "c-1"))
    second = cluster(kept.world(tmp_path / "2"), "c-2", "?{vaultkv:t/c-1/pw}")
    second.write("catalog/refs/t/c-1/pw", SECRET.format(data="two"))
    assert not is_reused(second, cluster_refs=own_refs(second, "c-2"))
    assert second.read("app/out.yaml") != first.read("app/out.yaml")


def test_records_of_a_workspace_name_the_clusters_own_files(kept: Kept, tmp_path: Path) -> None:
    world = cluster(kept.world(tmp_path / "1"), "c-1")
    for _ in range(2):
        world.compile(cluster_refs=own_refs(world, "c-1"), replace_all=True)
        record = read_record(world.root, "app")
        assert record is not None
        assert ("file", "refs:t/c-1/pw") in record.reads
        assert changed_reads(record, world.root, world.jobs[0].directory, world.nodes) == set()
    world.write("catalog/refs/t/c-1/pw", "else")
    assert changed_reads(record, world.root, world.jobs[0].directory, world.nodes) == {("file", "refs:t/c-1/pw")}
