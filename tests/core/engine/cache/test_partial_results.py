"""Results of kustomize and filters are valid for other clusters if their inputs are the same."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commodore.base.events import Event, TaskEnded, Traced, Warned
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.engine import Batch, Engine
from commodore.core.results.caches.maintenance import keep_bounded
from commodore.core.results.result_store import ResultStore
from tests.core.engine.echo import Echo
from tests.core.engine.kapitan.test_kustomize_trace import KUSTOMIZE, TRUSTED, commit, entry
from tests.core.engine.world import Kept, World, jsonnet
from tests.world.context import make_context
from tests.world.repos import git

COUNTED = KUSTOMIZE.replace("shift\ninput=$1", 'echo run >> "$HOME/runs"\nshift\ninput=$1')
URL = "{ url: { url: (import 'lib/kapitan.libjsonnet').inventory().parameters.cluster.catalog_url } }"
FILTER = """
local com = import 'lib/commodore.libjsonnet';
local inv = com.inventory();
local more = import 'more.libsonnet';
local dir = std.extVar('output_path');
{
  objects: [
    object { seen: inv.parameters.app.seen, names: std.objectFields(inv.parameters.app.names), more: more }
    for object in com.yaml_load_all(dir + '/objects.yaml')
  ],
  'deep/files': { files: std.native('list_dir')(dir, true), argument: std.extVar('argument') },
}
"""
MADE = "filter postprocess/f.jsonnet"


@dataclass
class Clusters:
    """Clusters with the same instance, which share caches; in one test, all of them have the same home."""

    root: Path
    kept: Kept
    events: list[Event]

    def add(self, name: str, *entries: dict[str, Any], **parameters: Any) -> World:
        """An instance that can never be taken as a whole, as it reads the URL of the catalog."""
        world = self.kept.world(self.root / name)
        world.environment["HOME"] = str(self.root)
        facts = {"name": name, "tenant": "t", "catalog_url": f"https://git.example.com/{world.root.name}"}
        world.add("app", jsonnet("app/url.jsonnet", "url"), *entries, cluster=facts, **parameters)
        world.write("dependencies/app/url.jsonnet", URL)
        return world

    def runs(self) -> int:
        """Count the runs of kustomize."""
        return len((self.root / "runs").read_text().splitlines())

    def taken(self, world: World, **changes: Any) -> str:
        """Compile, and tell which parts were taken."""
        self.events.clear()
        (compiled,) = world.compile(**changes)
        assert not compiled.reused
        assert world.read("app/url/url.yaml") == f"url: https://git.example.com/{world.root.name}\n"
        facts = [dict(event.facts) for event in self.events if isinstance(event, TaskEnded) and event.task == "compile"]
        return str(facts[-1].get("from the cache", ""))


@pytest.fixture(scope="module")
def listening(clean_session: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Kept, list[Event]]]:
    folder = tmp_path_factory.mktemp("caches")
    results, dependencies, events = folder / "results", folder / "dependencies", list[Event]()
    with Engine(
        make_context(events.append), processes=2, dependency_cache=dependencies, result_cache=results
    ) as engine:
        yield Kept(engine, results, dependencies), events


@pytest.fixture
def clusters(listening: tuple[Kept, list[Event]], tmp_path: Path) -> Clusters:
    kept, events = listening
    for folder in (kept.results, kept.dependencies):
        shutil.rmtree(folder, ignore_errors=True)
    return Clusters(tmp_path, kept, events)


@pytest.fixture(scope="module")
def plain(clean_session: None) -> Iterator[Engine]:
    """An engine that keeps nothing."""
    with Engine(make_context(), processes=1) as engine:
        yield engine


def compiled(world: World) -> dict[str, str]:
    return {name: world.read(f"app/{name}") for name in world.files("app")}


def check(world: World, plain: Engine) -> None:
    """The output equals a rendering without caches."""
    output, engine = compiled(world), world.engine
    world.engine = plain
    world.compile()
    world.engine = engine
    assert compiled(world) == output


# Kustomize


def build(clusters: Clusters, name: str, *lines: str, arguments: tuple[str, ...] = (), **variables: str) -> World:
    """A cluster with a kustomization whose list has these entries."""
    over = clusters.root / name / "dependencies/app/over"
    world = clusters.add(name, entry(str(over), *arguments, **variables), unread=name)
    world.tool("kustomize", COUNTED)
    listed = "".join(f"- {line}\n" for line in (lines or ("../base", "../outside.yaml")))
    world.write("dependencies/app/over/kustomization.yaml", f"resources:\n{listed}")
    world.write("dependencies/app/over/patch.yaml", "patch: 1\n")
    world.write("dependencies/app/outside.yaml", "outside: 1\n")
    world.write("dependencies/app/base/kustomization.yaml", "resources:\n- ../deep\n")
    world.write("dependencies/app/base/one.yaml", "one: 1\n")
    world.write("dependencies/app/deep/kustomization.yaml", "resources:\n- two.yaml\n")
    world.write("dependencies/app/deep/two.yaml", "two: 1\n")
    world.write("dependencies/app/README.md", "unread\n")
    return world


def change_entry(**fields: Any) -> Callable[[World], object]:
    return lambda w: w.nodes["app"]["parameters"]["kapitan"]["compile"][1].update(fields)


OTHER_KUSTOMIZATIONS: dict[str, Callable[[World], object]] = {
    "the kustomization": lambda w: w.write("dependencies/app/over/kustomization.yaml", "resources:\n- ../deep\n"),
    "a patch nearby it": lambda w: w.write("dependencies/app/over/patch.yaml", "patch: 2\n"),
    "a new file": lambda w: w.write("dependencies/app/over/other.yaml", "x: 2\n"),
    "a mode": lambda w: (w.root / "dependencies/app/over/patch.yaml").chmod(0o755),
    "a file outside": lambda w: w.write("dependencies/app/outside.yaml", "outside: 2\n"),
    "a base": lambda w: w.write("dependencies/app/base/one.yaml", "one: 2\n"),
    "the base of a base": lambda w: w.write("dependencies/app/deep/two.yaml", "two: 2\n"),
    "the program": lambda w: w.tool("kustomize", COUNTED.replace("all:", "everything:")),
    "the preferences of kubectl": lambda w: w.environment.update(KUBECTL_X="x"),
    "a variable of kustomize's": lambda w: w.environment.update(KUSTOMIZE_X="x"),
    "an argument": change_entry(args=["${compiled_target_dir}/out", "--reorder=none"]),
    "a variable of the entry": lambda w: w.nodes["app"]["parameters"]["kapitan"]["compile"][1]["env_vars"].update(
        OTHER="x"
    ),
    "another kustomization": lambda w: w.nodes["app"]["parameters"]["kapitan"]["compile"][1]["env_vars"].update(
        INPUT_DIR=f"{w.root}/dependencies/app/base"
    ),
}
SAME_KUSTOMIZATION: dict[str, Callable[[World], object]] = {
    "nothing but the cluster": lambda w: None,
    "a file nearby": lambda w: w.write("dependencies/app/README.md", "still unread\n"),
    "a parameter": lambda w: w.nodes["app"]["parameters"].update(unread=["something", "else"]),
    "a component": lambda w: w.nodes["app"]["parameters"].update(newcomer={"a": 1}),
    "the folder for the output": change_entry(args=["${compiled_target_dir}/elsewhere"]),
    "another template": lambda w: w.write("dependencies/app/url.jsonnet", f"/* changed */ {URL}"),
    "an empty folder for the output": change_entry(output_path="out", args=["${compiled_target_dir}"]),
}


def test_what_is_built_from_counts(clusters: Clusters, plain: Engine) -> None:
    assert not clusters.taken(build(clusters, "one"))
    for number, (change, do) in enumerate(OTHER_KUSTOMIZATIONS.items()):
        before = clusters.runs()
        world = build(clusters, f"two-{number}")
        do(world)
        assert not clusters.taken(world), change
        assert clusters.runs() == before + 1, change
        check(world, plain)


def test_another_cluster_takes_what_was_built(clusters: Clusters, plain: Engine) -> None:
    assert not clusters.taken(build(clusters, "one"))
    for number, (change, do) in enumerate(SAME_KUSTOMIZATION.items()):
        before = clusters.runs()
        world = build(clusters, f"far/away/two-{number}")
        do(world)
        assert clusters.taken(world) == "kustomize component:over", change
        assert clusters.runs() == before, change
        assert "two: 1" in compiled(world)[next(name for name in compiled(world) if name.endswith("all.yaml"))]
        check(world, plain)


def test_the_instance_depends_on_what_its_part_has_read(clusters: Clusters, plain: Engine) -> None:
    """A part that was taken leaves no gap in the record of the instance."""
    assert not clusters.taken(build(clusters, "one"))
    world = build(clusters, "two")
    assert clusters.taken(world)
    (again,) = world.compile()
    assert again.reused
    for change in ("a base", "a file outside", "the program"):
        OTHER_KUSTOMIZATIONS[change](world)
        (again,) = world.compile()
        assert not again.reused
        check(world, plain)


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    folder = tmp_path / "remote"
    commit(folder, "text: 1\n")
    git(folder, "tag", "v1")
    return folder


@pytest.mark.parametrize("ref", ["", "?ref=main", "?ref=v1", "//sub?ref=v1"])
def test_a_remote_base_is_asked_for(clusters: Clusters, plain: Engine, remote: Path, ref: str) -> None:
    base = f"file://{remote}{ref}"
    assert not clusters.taken(build(clusters, "one", base))
    assert clusters.taken(build(clusters, "two", base))
    commit(remote, "text: 2\n")
    git(remote, "tag", "-f", "v1")
    world = build(clusters, "three", base)
    assert not clusters.taken(world)
    assert clusters.runs() == 2
    assert "text: 2" in world.read("app/out/all.yaml")
    check(world, plain)


def test_a_commit_is_asked_nobody_for(clusters: Clusters, remote: Path) -> None:
    base = f"file://{remote}?ref={git(remote, 'rev-parse', 'HEAD')}"
    assert not clusters.taken(build(clusters, "one", base))
    shutil.rmtree(remote)
    assert clusters.taken(build(clusters, "two", base))


def test_a_branch_of_a_remote_that_is_away(clusters: Clusters, remote: Path) -> None:
    """Nobody can tell what it is now; without network it is what it was."""
    base = f"file://{remote}?ref=main"
    assert not clusters.taken(build(clusters, "one", base))
    assert clusters.taken(build(clusters, "two", base))
    remote.rename(remote.with_name("away"))
    assert not clusters.taken(build(clusters, "three", base))
    build(clusters, "four", base).compile(offline=True)
    assert clusters.runs() == 2


def test_a_manifest_of_a_web_server(clusters: Clusters, plain: Engine, echo: Echo) -> None:
    url = f"{echo.url}/one.yaml"
    assert not clusters.taken(build(clusters, "one", url))
    assert clusters.taken(build(clusters, "two", url))
    echo.content = b"other"
    world = build(clusters, "three", url)
    assert not clusters.taken(world)
    check(world, plain)


def test_a_kustomization_that_is_generated(clusters: Clusters, plain: Engine) -> None:
    """As components do it: a template writes it into the component's folder, from parameters."""

    def generating(name: str, label: str) -> World:
        over = str(clusters.root / name / "dependencies/app/made")
        made = jsonnet("app/made.jsonnet", over, output_type="yaml")
        world = clusters.add(name, made, entry(over), app={"label": label})
        world.tool("kustomize", COUNTED)
        world.write("dependencies/app/base/kustomization.yaml", "resources: []\n")
        world.write("dependencies/app/base/one.yaml", "one: 1\n")
        text = "{ kustomization: { resources: ['../base'], labels: inv.parameters.app.label } }"
        inventory = "local inv = (import 'lib/kapitan.libjsonnet').inventory();"
        world.write("dependencies/app/made.jsonnet", inventory + text)
        return world

    assert not clusters.taken(generating("one", "a"))
    two = generating("two", "a")
    assert clusters.taken(two)
    check(two, plain)
    three = generating("three", "b")
    assert not clusters.taken(three)
    assert "labels: b" in three.read("app/out/all.yaml")
    four = generating("four", "a")
    four.write("dependencies/app/base/one.yaml", "one: 2\n")
    assert not clusters.taken(four)
    check(four, plain)


def test_a_folder_that_others_write_to_as_well(clusters: Clusters, plain: Engine) -> None:
    """Files of an earlier entry in the folder are not kustomize's output."""
    for name in ("one", "two"):
        world = build(clusters, name)
        world.nodes["app"]["parameters"]["kapitan"]["compile"].insert(1, jsonnet("app/more.jsonnet", "out"))
        world.write("dependencies/app/more.jsonnet", "{ more: { cluster: 1 } }")
        assert not clusters.taken(world)
        assert world.files("app/out") == ["all.yaml", "more.yaml"]
    assert clusters.runs() == 2


def test_what_cannot_be_observed_is_built_each_time(clusters: Clusters) -> None:
    for name in ("one", "two"):
        assert not clusters.taken(build(clusters, name, arguments=("--enable-helm",)), policy=TRUSTED)
    for name in ("three", "four"):
        assert not clusters.taken(build(clusters, name, PATH=f"{clusters.root}/one/bin:/usr/bin:/bin"), policy=TRUSTED)
    assert clusters.runs() == 4


def test_a_failed_build_is_not_kept(clusters: Clusters) -> None:
    for name in ("one", "two"):
        world = build(clusters, name)
        world.tool("kustomize", f"{COUNTED}\necho no >&2; exit 1")
        assert world.fail_once().code == "CMD-ENG-019"
    assert clusters.runs() == 2


def test_a_folder_that_changes_while_it_is_built(clusters: Clusters) -> None:
    for name in ("one", "two"):
        world = build(clusters, name)
        file = world.root / "dependencies/app/base/one.yaml"
        world.tool("kustomize", f'{COUNTED}\necho \'one: 2\' > "$(dirname "$0")/../dependencies/app/base/one.yaml"')
        assert file.is_file()
        assert not clusters.taken(world)


# Filters


def filtering(clusters: Clusters, name: str, text: str = FILTER, **settings: Any) -> World:
    """A cluster with a filter over what a template has written."""
    definition = {"type": "jsonnet", "path": "out", "filter": "postprocess/f.jsonnet", **settings}
    definition.setdefault("filterargs", {"argument": "x"})
    world = clusters.add(
        name,
        jsonnet("app/main.jsonnet", "out", output_type="yaml"),
        app={"seen": 1, "names": {"a": 1}, "made": 1, "unread": name},
        commodore={"postprocess": {"filters": [definition]}},
    )
    inventory = "local inv = (import 'lib/kapitan.libjsonnet').inventory();"
    world.write("dependencies/app/main.jsonnet", inventory + "{ objects: [{ a: inv.parameters.app.made }] }")
    world.write("dependencies/app/postprocess/f.jsonnet", text)
    world.write("dependencies/app/postprocess/more.libsonnet", "{ from: 'more' }")
    return world


def parameters(world: World) -> dict[str, Any]:
    settings: dict[str, Any] = world.nodes["app"]["parameters"]
    return settings


def definition(world: World) -> dict[str, Any]:
    filter_: dict[str, Any] = parameters(world)["commodore"]["postprocess"]["filters"][0]
    return filter_


OTHER_FILTERS: dict[str, Callable[[World], object]] = {
    "the file that it loads": lambda w: parameters(w)["app"].update(made=2),
    "a file nearby that": lambda w: w.write("dependencies/app/main.jsonnet", "{ objects: [{ a: 1 }], more: {} }"),
    "a value": lambda w: parameters(w)["app"].update(seen=2),
    "the type of a value": lambda w: parameters(w)["app"].update(seen=1.5),
    "a name in a set": lambda w: parameters(w)["app"]["names"].update(b=1),
    "an argument": lambda w: definition(w).update(filterargs={"argument": "y"}),
    "a new argument": lambda w: definition(w).update(filterargs={"argument": "x", "b": "y"}),
    "the filter": lambda w: w.write("dependencies/app/postprocess/f.jsonnet", FILTER + "+ { new: {} }"),
    "an import": lambda w: w.write("dependencies/app/postprocess/more.libsonnet", "{ from: 'less' }"),
    "an import that comes first": lambda w: w.write(
        "dependencies/app/postprocess/lib/commodore.libjsonnet",
        "{ inventory():: { parameters: { app: { seen: 1, names: { z: 1 } } } }, yaml_load_all(file):: [{}] }",
    ),
}
SAME_FILTER: dict[str, Callable[[World], object]] = {
    "nothing but the cluster": lambda w: None,
    "a value that it does not read": lambda w: parameters(w)["app"].update(unread=["x"]),
    "a component": lambda w: parameters(w).update(newcomer={"a": 1}),
    "a file that it does not read": lambda w: w.write("dependencies/app/postprocess/other.libsonnet", "{}"),
    "the template behind the file": lambda w: w.write("dependencies/app/main.jsonnet", "{ objects: [{ a: 1 }] }"),
    "another target": lambda w: w.nodes.update(other=w.nodes["app"]),
}


def test_what_a_filter_reads_counts(clusters: Clusters, plain: Engine) -> None:
    assert not clusters.taken(filtering(clusters, "one"))
    for number, (change, do) in enumerate(OTHER_FILTERS.items()):
        world = filtering(clusters, f"two-{number}")
        do(world)
        assert not clusters.taken(world), change
        check(world, plain)


def test_another_cluster_takes_what_was_filtered(clusters: Clusters, plain: Engine) -> None:
    assert not clusters.taken(filtering(clusters, "one"))
    for number, (change, do) in enumerate(SAME_FILTER.items()):
        world = filtering(clusters, f"far/away/two-{number}")
        do(world)
        assert clusters.taken(world) == MADE, change
        assert world.read("app/out/deep/files.yaml") == "argument: x\nfiles:\n  - objects.yaml\n"
        check(world, plain)


def test_the_instance_depends_on_what_its_filter_has_read(clusters: Clusters, plain: Engine) -> None:
    assert not clusters.taken(filtering(clusters, "one"))
    world = filtering(clusters, "two")
    assert clusters.taken(world)
    (again,) = world.compile()
    assert again.reused
    for change in ("a value", "a name in a set", "an import", "an import that comes first"):
        OTHER_FILTERS[change](world)
        (again,) = world.compile()
        assert not again.reused
        check(world, plain)


def test_each_filter_by_itself(clusters: Clusters, plain: Engine) -> None:
    """The second sees what the first has written."""

    def two(name: str) -> World:
        world = filtering(clusters, name)
        second = {"type": "jsonnet", "path": "out", "filter": "second.jsonnet"}
        parameters(world)["commodore"]["postprocess"]["filters"].append(second)
        text = "{ objects: [o { second: true } for o in std.native('yaml_load_all')(dir + '/objects.yaml')] }"
        world.write("dependencies/app/second.jsonnet", f"local dir = std.extVar('output_path'); {text}")
        return world

    assert not clusters.taken(two("one"))
    assert clusters.taken(two("two")) == f"{MADE}, filter second.jsonnet"
    world = two("three")
    definition(world)["filterargs"] = {"argument": "y"}
    assert clusters.taken(world) == "filter second.jsonnet"  # the first has written the same for it
    parameters(world)["app"]["seen"] = 2
    assert not clusters.taken(world)
    check(world, plain)


@pytest.mark.parametrize("text", ["{ out: { at: std.extVar('output_path') } }", "{ [path + '/out']: { at: path } }"])
def test_a_filter_that_tells_where_it_is(clusters: Clusters, text: str) -> None:
    for name in ("one", "two"):
        world = filtering(clusters, name, f"local path = std.extVar('output_path'); {text}")
        assert not clusters.taken(world)
        assert str(world.root) in world.read("app/out/out.yaml")


def test_a_filter_that_names_a_file_by_its_whole_path(clusters: Clusters) -> None:
    for name in ("one", "two"):
        world = filtering(clusters, name, "{ [std.extVar('output_path') + '/out']: { a: 1 } }")
        assert not clusters.taken(world)
        assert world.read("app/out/out.yaml") == "a: 1\n"


def test_a_working_directory_behind_a_link(clusters: Clusters, plain: Engine) -> None:
    """A filter gets its folder without links."""
    for name in ("one", "two", "three", "four"):
        (clusters.root / "real" / name).mkdir(parents=True)
        (clusters.root / name).symlink_to(clusters.root / "real" / name)
    for name in ("one", "two"):
        world = filtering(clusters, name, "{ out: { at: std.extVar('output_path') } }")
        assert not clusters.taken(world)
        assert f"real/{name}/" in world.read("app/out/out.yaml")
    assert not clusters.taken(filtering(clusters, "three"))
    world = filtering(clusters, "four")
    assert clusters.taken(world) == MADE
    check(world, plain)


@pytest.mark.parametrize("read", ["yaml_load')('{}/x.yaml')", "list_dir')('{}/', false)"])
def test_a_way_up_behind_a_link(clusters: Clusters, plain: Engine, read: str) -> None:
    """`link/..` is what the link leads to, one up, and not the folder of the link."""

    def linked(name: str, value: int) -> World:
        world = filtering(clusters, name, "{ out: { read: std.native('" + read.format("dependencies/app/up/..") + "} }")
        world.write("dependencies/app/x.yaml", "x: 1\n")
        world.write("dependencies/other/x.yaml", f"x: {value}\n")
        world.write("dependencies/other/inner/x.yaml", "x: 1\n")
        (world.root / "dependencies/app/up").symlink_to("../other/inner")
        return world

    assert not clusters.taken(linked("one", 1))
    world = linked("two", 2)
    world.write(f"dependencies/other/y{len(read)}.yaml", "")
    assert not clusters.taken(world)
    check(world, plain)


def test_a_failed_filter_is_not_kept(clusters: Clusters) -> None:
    for text, code in (("{ a: error 'no' }", "CMD-ENG-047"), ("{ '../../x': 1 }", "CMD-ENG-007")):
        for name in ("one", "two"):
            assert filtering(clusters, name, text).fail_once().code == code
    assert not list(clusters.kept.results.rglob("*.result"))


# Both


def both(clusters: Clusters, name: str) -> World:
    """A cluster with a kustomization and a filter over what was built."""
    world = build(clusters, name)
    filters = [{"type": "jsonnet", "path": "out", "filter": "postprocess/f.jsonnet"}]
    parameters(world)["commodore"] = {"postprocess": {"filters": filters}}
    load = "std.native('yaml_load')(std.extVar('output_path') + '/all.yaml')"
    world.write("dependencies/app/postprocess/f.jsonnet", f"{{ all: {load} + {{ filtered: true }} }}")
    return world


ALL = f"kustomize component:over, {MADE}"


def test_two_clusters_share_all_parts(clusters: Clusters, plain: Engine) -> None:
    first, two = both(clusters, "one"), both(clusters, "some/where/two")
    assert not clusters.taken(first)
    assert clusters.taken(two) == ALL
    assert clusters.runs() == 1
    for world in (first, two):
        check(world, plain)


def test_damaged_parts_are_made_again(clusters: Clusters, plain: Engine) -> None:
    assert not clusters.taken(both(clusters, "one"))
    for file in clusters.kept.results.rglob("*.result"):
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    two = both(clusters, "two")
    assert not clusters.taken(two)
    check(two, plain)
    for file in clusters.kept.results.rglob("shapes/*.json"):
        file.write_bytes(b"garbage")
    assert not clusters.taken(both(clusters, "three"))
    assert clusters.taken(both(clusters, "four")) == ALL


def test_parts_are_looked_after_like_results(clusters: Clusters) -> None:
    assert not clusters.taken(both(clusters, "one"))
    root = clusters.kept.results
    store = ResultStore(root, DEFAULT_LIMITS)
    entries = list(store.entries())
    assert len(entries) == len(list(store.others())) == 3  # the instance and its two parts
    assert all(store.is_sound(entry.path) for entry in entries)
    assert all(store.is_sound(shape) for shape in store.others())
    keep_bounded(store, 0, 0.0)
    assert not list(store.entries())
    assert not list(store.others())


def test_no_credential_is_told(clusters: Clusters, remote: Path) -> None:
    for name in ("one", "two"):
        world = build(clusters, name)
        address = f"file://someone:secret@{remote}?ref=v1"
        parameters(world)["kapitan"]["compile"][1]["env_vars"]["INPUT_DIR"] = address
        world.tool("kustomize", 'echo run >> "$HOME/runs"')
        world.compile(replace_all=True)
    assert "secret" not in str(clusters.events)
    records = list(clusters.root.rglob(".commodore/records/*"))
    assert len(records) == 2
    for file in (*records, *clusters.kept.results.rglob("*.*")):
        assert b"secret" not in file.read_bytes()


def test_clusters_at_the_same_time(clusters: Clusters, plain: Engine) -> None:
    """Two worker processes make, keep and take the same parts."""
    for names in (("one", "two"), ("three", "four")):
        worlds = [both(clusters, name) for name in names]
        outcomes = clusters.kept.engine.compile_batches([Batch(w.jobs, w.nodes, w.request()) for w in worlds])
        assert [outcome.error for outcome in outcomes] == [None, None]
        for world in worlds:
            check(world, plain)
    assert clusters.runs() <= 2 + len(worlds) * 2  # those without caches count as well
    assert clusters.taken(both(clusters, "five")) == ALL


def test_shadow_mode_makes_all_parts(clusters: Clusters) -> None:
    world = both(clusters, "one")
    assert not clusters.taken(world)
    kept = clusters.kept
    with Engine(
        make_context(clusters.events.append),
        processes=1,
        dependency_cache=kept.dependencies,
        result_cache=kept.results,
        shadow=1.0,
    ) as shadow:
        world.engine = shadow
        assert not clusters.taken(world)
        two = both(clusters, "two")
        two.engine = shadow
        assert not clusters.taken(two)
    assert clusters.runs() == 3


def test_a_relative_path_leads_elsewhere_in_another_layout(clusters: Clusters, plain: Engine) -> None:
    """`../nearby.libsonnet` is a file of the working directory only as long as the component lies in it like this."""
    text = "{ out: import '../../nearby.libsonnet' }"
    first = filtering(clusters, "one", text)
    first.write("dependencies/nearby.libsonnet", "{ is: 'nearby one' }")
    assert not clusters.taken(first)
    two = filtering(clusters, "two", text)
    (two.root / "dependencies/app").rename(two.root / "app")
    two.jobs[0] = two.jobs[0].__class__("app", "app", two.root / "app")
    parameters(two)["kapitan"]["compile"][0]["input_paths"] = ["app/url.jsonnet"]
    two.write("dependencies/nearby.libsonnet", "{ is: 'nearby one' }")
    two.write("nearby.libsonnet", "{ is: 'nearby two' }")
    assert not clusters.taken(two)
    check(two, plain)


def has_taken(event: Event) -> bool:
    return isinstance(event, TaskEnded) and "from the cache" in dict(event.facts)


def test_what_templates_tell_is_told_each_time(clusters: Clusters, tmp_path: Path) -> None:
    """By the instance that is taken as a whole, and by the part that is: the files are those of who compiles."""
    tracing = "std.trace('first line\\nsecond line', %s)"
    first, two = (filtering(clusters, name, tracing % FILTER.strip()) for name in ("one", "two"))
    whole = clusters.kept.world(tmp_path / "whole")
    whole.add("traced", jsonnet("traced/main.jsonnet"))
    whole.write("dependencies/traced/main.jsonnet", "{ a: " + tracing % "{ b: 1 }" + " }")

    def traced(world: World) -> list[Event]:
        clusters.events.clear()
        world.compile()
        return [event for event in clusters.events if isinstance(event, Traced)]

    rendered = traced(whole)
    assert rendered == [Traced("traced", "first line\nsecond line", "dependencies/traced/main.jsonnet:1")]
    assert traced(whole) == rendered
    assert [instance.reused for instance in whole.compile()] == [True]
    filtered = traced(first)
    assert filtered == [Traced("app", "first line\nsecond line", "dependencies/app/postprocess/f.jsonnet:1")]
    assert traced(two) == filtered
    assert [str(dict(event.facts)["from the cache"]) for event in clusters.events if has_taken(event)] == [MADE]


def test_what_is_allowed_is_told_each_time(clusters: Clusters, tmp_path: Path) -> None:
    """A result that is there because something was allowed is nothing for a run that does not allow it."""
    world = clusters.kept.world(tmp_path / "allowing")
    world.add(
        "wrong",
        jsonnet("wrong/main.jsonnet"),
        commodore={"postprocess": {"filters": [{"type": "builtin", "filter": "helm_namespace"}]}},
    )
    world.write("dependencies/wrong/main.jsonnet", "{ a: 'ab' }")
    allowed = frozenset({"CMD-ENG-012", "CMD-ENG-041"})
    for reused in (False, True):
        clusters.events.clear()
        (compiled,) = world.compile(allowed=allowed)
        assert compiled.reused is reused
        codes = [event.code for event in clusters.events if isinstance(event, Warned)]
        assert sorted(codes) == ["CMD-ENG-012", "CMD-ENG-041"]
    assert world.read("wrong/a.yaml") == "a\n--- b\n...\n"
    assert {error.code for error in world.fail()} == {"CMD-ENG-012", "CMD-ENG-041"}


def test_what_templates_that_fail_have_told_is_told(clusters: Clusters, tmp_path: Path) -> None:
    world = clusters.kept.world(tmp_path / "failing")
    world.add("traced", jsonnet("traced/main.jsonnet"))
    world.write("dependencies/traced/main.jsonnet", "{ a: if std.trace('so far', true) then error 'no further' }")
    assert "no further" in world.fail_once().message
    assert Traced("traced", "so far", "dependencies/traced/main.jsonnet:1") in clusters.events
