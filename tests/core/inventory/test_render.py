"""Rendering: what an instance sees of its component, its own key and the facts, through reclass itself."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.errors import EnvironmentFault, InputError
from commodore.core.inventory import (
    InstanceMeta,
    bootstrap_target,
    instance_target,
    render_inventory,
    render_node,
    standalone_target,
)
from tests.core.inventory.hierarchies import FACTS, Hierarchy, cluster
from tests.world.context import make_context

NFS = {
    "nfs_subdir": {"=_metadata": {"multi_instance": True}, "server": "", "path": "/", "pool": ["base"], "opt": {"a": 1}}
}


class TestTargets:
    def test_the_bootstrap_target(self) -> None:
        """Defaults of all components in name order, then the hierarchy."""
        target = bootstrap_target(["b", "a"])
        assert target.classes == ("params.cluster", "defaults.a", "defaults.b", "global.commodore")
        assert target.parameters == {"_instance": "cluster"}
        assert bootstrap_target().classes == ("params.cluster", "global.commodore")

    def meta(self, instance: str) -> InstanceMeta:
        return InstanceMeta(instance, "comp-a", Path("/d"), Path("/k"), "/p")

    def test_a_plain_instance(self) -> None:
        target = instance_target(self.meta("comp-a"), ["z", "comp-a"])
        assert target.classes == (
            "params.cluster",
            "defaults.comp-a",
            "defaults.z",
            "global.commodore",
            "components.comp-a",
        )
        assert target.parameters == {
            "_instance": "comp-a",
            "_base_directory": "/d",
            "_kustomize_wrapper": "/k",
            "_python3": "/p",
            "kapitan": {"vars": {"target": "comp-a"}},
        }

    def test_an_alias_takes_its_components_place(self) -> None:
        """Its own defaults in place of its component's, its own class last; and the pair that merges."""
        target = instance_target(self.meta("inst-2"), ["z", "comp-a", "a"])
        assert target.classes == (
            "params.cluster",
            "defaults.a",
            "defaults.inst-2",
            "defaults.z",
            "global.commodore",
            "components.inst-2",
        )
        assert target.parameters["inst_2"] == {}
        assert target.parameters["comp_a"] == "${inst_2}"

    def test_a_component_alone(self) -> None:
        """Value classes rank above the component's class."""
        target = standalone_target(self.meta("inst-2"), ["one", "two"])
        assert target.classes == ("params.cluster", "defaults.comp-a", "components.comp-a", "one", "two")
        assert target.name == "inst-2"

    def test_the_file_is_the_same_every_time(self) -> None:
        """Unchanged targets give unchanged files."""
        assert self.meta("x").parameters() == self.meta("x").parameters()
        assert b"classes:\n  - params.cluster\n" in bootstrap_target().as_yaml()

    def test_paths_are_no_references(self, tmp_path: Path) -> None:
        """A working directory called `${x}` must not be looked up."""
        meta = InstanceMeta("c", "c", Path("/w/${x}/$[y]/$z"), Path("/${k}"), "/${p}/\\python")
        hierarchy = Hierarchy(tmp_path).target("")
        hierarchy.workspace.target("c").write_bytes(type(bootstrap_target())("c", (), meta.parameters()).as_yaml())
        parameters = hierarchy.render("c").parameters
        assert parameters["_base_directory"] == "/w/${x}/$[y]/$z"
        assert parameters["_kustomize_wrapper"] == "/${k}"
        assert parameters["_python3"] == "/${p}/\\python"


class TestInstances:
    @pytest.mark.requirement("C43")
    def test_the_documented_example(self, tmp_path: Path) -> None:
        """Two instances with share-1 and share-2, the second inherits `server`."""
        inventory = cluster(
            tmp_path,
            {"nfs-subdir": "nfs-subdir", "nfs-2": "nfs-subdir"},
            {"nfs-subdir": NFS},
            {"nfs_subdir": {"server": "nfs.example.com", "path": "/share-1"}, "nfs_2": {"path": "/share-2"}},
        )
        first = inventory.nodes["nfs-subdir"].parameters["nfs_subdir"]
        second = inventory.nodes["nfs-2"].parameters["nfs_subdir"]
        assert (first["server"], first["path"]) == ("nfs.example.com", "/share-1")
        assert (second["server"], second["path"]) == ("nfs.example.com", "/share-2")

    @pytest.mark.requirement("C38", "C39")
    def test_maps_and_lists_merge(self, tmp_path: Path) -> None:
        """The alias's key is merged over the base; `~` replaces; the bare instance sees the base only."""
        inventory = cluster(
            tmp_path,
            {"nfs-subdir": "nfs-subdir", "two": "nfs-subdir"},
            {"nfs-subdir": NFS},
            {
                "nfs_subdir": {"pool": ["cluster"], "opt": {"b": 2}, "tags": ["x"]},
                "two": {"pool": ["two"], "opt": {"b": 3}, "~tags": ["y"], "path": "${two:own}", "own": "/own"},
            },
        )
        base = {"_metadata": {"multi_instance": True}, "server": "", "path": "/"}
        bare = {**base, "pool": ["base", "cluster"], "opt": {"a": 1, "b": 2}, "tags": ["x"]}
        assert inventory.nodes["cluster"].parameters["nfs_subdir"] == bare
        assert inventory.nodes["nfs-subdir"].parameters["nfs_subdir"] == bare
        assert inventory.nodes["two"].parameters["nfs_subdir"] == {
            **base,
            "pool": ["base", "cluster", "two"],
            "opt": {"a": 1, "b": 3},
            "tags": ["y"],
            "path": "/own",
            "own": "/own",
        }

    def test_references_of_the_defaults_see_the_instance(self, tmp_path: Path) -> None:
        """`${comp:x}` and `${_instance}` in the defaults mean the instance's values."""
        defaults = {"c": {"c": {"name": "base", "full": "${c:name}-${_instance}"}}}
        nodes = cluster(tmp_path, {"c": "c", "x": "c"}, defaults, {"x": {"name": "mine"}}).nodes
        assert nodes["c"].parameters["c"]["full"] == "base-c"
        assert nodes["x"].parameters["c"]["full"] == "mine-x"

    @pytest.mark.requirement("C39")
    @pytest.mark.parametrize("own", [{}, {"two": None}, {"two": {}}])
    def test_an_instance_without_parameters(self, tmp_path: Path, own: dict[str, Any]) -> None:
        """Absent, null and empty mean the same."""
        node = cluster(tmp_path, {"two": "nfs-subdir"}, {"nfs-subdir": NFS}, own).nodes["two"]
        assert node.parameters["nfs_subdir"]["path"] == "/"

    @pytest.mark.requirement("C41")
    def test_the_instance_is_named(self, tmp_path: Path) -> None:
        """`_instance` is the instance's name, in every target and a different one in each."""
        nodes = cluster(tmp_path, {"c": "c", "x-1": "c", "x-2": "c"}, {}, {}).nodes
        assert {name: node.parameters["_instance"] for name, node in nodes.items()} == {
            "c": "c",
            "cluster": "cluster",
            "x-1": "x-1",
            "x-2": "x-2",
        }
        assert nodes["x-1"].parameters["kapitan"] == {"vars": {"target": "x-1"}}

    @pytest.mark.requirement("C40")
    def test_keys_have_underscores(self, tmp_path: Path) -> None:
        """Of component and alias alike."""
        nodes = cluster(tmp_path, {"a-b-c": "d-e"}, {"d-e": {"d_e": {"v": 1}}}, {"a_b_c": {"v": 2}}).nodes
        assert nodes["a-b-c"].parameters["d_e"]["v"] == 2

    @pytest.mark.requirement("C42")
    @pytest.mark.parametrize("value", [True, False])
    @pytest.mark.parametrize("key", ["nfs_subdir", "two"])
    def test_metadata_cannot_be_changed(self, tmp_path: Path, key: str, value: bool) -> None:
        """Changing `=_metadata` fails, even with an equal value, in the component's or an alias's key."""
        with pytest.raises(InputError) as raised:
            cluster(
                tmp_path,
                {"nfs-subdir": "nfs-subdir", "two": "nfs-subdir"},
                {"nfs-subdir": NFS},
                {key: {"_metadata": {"multi_instance": value}}},
            )
        assert raised.value.code == "CMD-INV-021"
        assert "parameters.nfs_subdir._metadata" in raised.value.message
        assert raised.value.locations[0].place.endswith("global/commodore.yml")

    def test_each_instance_has_the_defaults_of_its_own_checkout(self, tmp_path: Path) -> None:
        """An instance at another version has other defaults."""
        cluster(tmp_path, {"x": "c"}, {"c": {"c": {"v": 1}}}, {})
        (tmp_path / "dependencies/x/class/defaults.yml").write_text("parameters: {c: {v: 2}}")
        nodes = render_inventory(tmp_path / "inventory", make_context()).nodes
        assert nodes["x"].parameters["c"] == {"v": 2}
        assert nodes["cluster"].parameters["c"] == {"v": 1}

    def test_the_facts_are_there(self, tmp_path: Path) -> None:
        node = cluster(tmp_path, {}, {}, {"x": "${facts:cloud}-${cluster:name}"}).nodes["cluster"]
        assert node.parameters["x"] == "c1-c-x"
        assert node.parameters["facts"] == FACTS["facts"]

    def test_nodes_come_in_name_order(self, tmp_path: Path) -> None:
        """Reclass's order is random."""
        nodes = cluster(tmp_path, dict.fromkeys(("z", "a", "m", "c"), "c"), {}, {}).nodes
        assert list(nodes) == ["a", "c", "cluster", "m", "z"]


KEYS = st.sampled_from(["k", "l", "m"])
SCALARS = st.one_of(st.integers(-9, 9), st.booleans(), st.sampled_from(["a", "b c", ""]))
VALUES = st.recursive(
    st.one_of(SCALARS, st.none(), st.lists(SCALARS, max_size=2)),
    lambda children: st.dictionaries(KEYS, children, max_size=3),
    max_leaves=6,
)
PARAMETERS = st.dictionaries(KEYS, VALUES, max_size=3)


class MismatchError(Exception):
    """Two values that do not merge."""


def merge(base: Any, over: Any) -> Any:
    """The rules of merging, written down once more: deep merge of maps, lists append, null gives way."""
    if base is None or over is None:
        return over
    if isinstance(base, dict) and isinstance(over, dict):
        return {key: merge_key(base, over, key) for key in {**base, **over}}
    if isinstance(base, list) and isinstance(over, list):
        return [*base, *over]
    if isinstance(base, (dict, list)) or isinstance(over, (dict, list)):
        raise MismatchError
    return over


def merge_key(base: dict[str, Any], over: dict[str, Any], key: str) -> Any:
    if key in base and key in over:
        return merge(base[key], over[key])
    return over[key] if key in over else base[key]


def test_an_interruption_before_anything_is_rendered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C may come at any moment; it stays what it is."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    for folder in ("targets", "classes"):
        (tmp_path / folder).mkdir()
    (tmp_path / "targets" / "a.yml").write_text("{}")
    with pytest.raises(KeyboardInterrupt):
        render_inventory(tmp_path, make_context())


@pytest.mark.requirement("C38", "C39")
@given(defaults=PARAMETERS, base=PARAMETERS, own=st.one_of(st.none(), PARAMETERS))
def test_any_instance(
    tmp_path_factory: pytest.TempPathFactory, defaults: dict[str, Any], base: dict[str, Any], own: dict[str, Any] | None
) -> None:
    """Base = defaults merged with the hierarchy; an alias = its key merged over the base."""
    root = tmp_path_factory.mktemp("cluster")
    try:
        expected = merge(defaults, base)
        instance = merge(expected, own or {})
    except MismatchError:
        with pytest.raises(InputError) as raised:
            cluster(root, {"c": "c", "x": "c"}, {"c": {"c": defaults}}, {"c": base, "x": own})
        assert raised.value.code == "CMD-INV-022"
        return
    nodes = cluster(root, {"c": "c", "x": "c"}, {"c": {"c": defaults}}, {"c": base, "x": own}).nodes
    assert nodes["c"].parameters["c"] == expected
    assert nodes["cluster"].parameters["c"] == expected
    assert nodes["x"].parameters["c"] == instance


class TestStandardError:
    """reclass-rs writes to descriptor 2 itself."""

    def test_it_stays_clean(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        hierarchy = Hierarchy(tmp_path).target("classes: [a]").classes({"a.yml": "classes: [b.c]"})
        for _ in range(3):
            hierarchy.render(ignore_missing_classes=True)
        assert capfd.readouterr() == ("", "")

    def test_what_others_write_meanwhile_arrives(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        """Another thread's warnings must not be swallowed while the hierarchy is rendered."""
        hierarchy = Hierarchy(tmp_path).target("classes: [a]").classes({"a.yml": "classes: [b.c]"})
        done = threading.Event()
        written = 0

        def write() -> None:
            nonlocal written
            while not done.is_set() or written == 0:
                os.write(2, b"precious\n")
                written += 1

        writer = threading.Thread(target=write)
        writer.start()
        for _ in range(20):
            hierarchy.render(ignore_missing_classes=True)
        done.set()
        writer.join()
        assert capfd.readouterr().err == "precious\n" * written

    def test_many_threads_at_once(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        """Redirections that cross would lose the descriptor for good."""
        hierarchies = [Hierarchy(tmp_path / str(number)).target("classes: [b.c]") for number in range(4)]
        threads = [
            threading.Thread(
                target=lambda hierarchy=hierarchy: [hierarchy.render(ignore_missing_classes=True) for _ in range(5)]
            )
            for hierarchy in hierarchies
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        os.write(2, b"still here\n")
        assert capfd.readouterr().err == "still here\n"
        assert [len(hierarchy.collected) for hierarchy in hierarchies] == [5, 5, 5, 5]

    def test_without_one(self, tmp_path: Path) -> None:
        Hierarchy(tmp_path).target("classes: [a]").classes({"a.yml": "parameters: {x: 1}"})
        code = (
            "import os, sys\nfrom pathlib import Path\nos.close(2)\nsys.stderr = None\n"
            "from commodore.core.inventory import render_node\nfrom tests.world.context import make_context\n"
            "print(render_node(Path('inventory'), 'cluster', make_context()).parameters['x'])"
        )
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=tmp_path, env=environment)
        assert result.stdout == b"1\n"


class TestManyTargets:
    """They are rendered in parts, and what is equal in them exists once."""

    def hierarchy(self, root: Path, count: int = 40) -> Hierarchy:
        hierarchy = Hierarchy(root).classes(
            {"a.yml": "applications: [x]\nparameters: {big: {list: [1, {b: 2}], who: '${_reclass_:name:full}'}}"}
        )
        for number in range(count):
            hierarchy.target(f"classes: [a]\nparameters: {{own: {number}}}", f"t-{number:02}")
        return hierarchy

    def test_each_is_as_if_rendered_alone(self, tmp_path: Path) -> None:
        """With its place, its name in parts, its classes and applications."""
        hierarchy = self.hierarchy(tmp_path)
        nodes = render_inventory(hierarchy.workspace.inventory, make_context()).nodes
        assert list(nodes) == [f"t-{number:02}" for number in range(40)]
        for name, node in nodes.items():
            alone = hierarchy.render(name)
            for rendered_node in (node, alone):
                del rendered_node.raw["__reclass__"]["timestamp"]
            assert node == alone
            assert node.raw["__reclass__"]["uri"] == f"yaml_fs://{hierarchy.workspace.target(name)}"

    def test_targets_in_folders(self, tmp_path: Path) -> None:
        hierarchy = self.hierarchy(tmp_path)
        (hierarchy.workspace.targets / "more").mkdir()
        hierarchy.workspace.target("t-00").rename(hierarchy.workspace.targets / "more" / "t-00.yml")
        node = render_inventory(hierarchy.workspace.inventory, make_context()).nodes["t-00"]
        assert node.raw["__reclass__"]["uri"].endswith("/targets/more/t-00.yml")

    def test_equal_parameters_are_one_object(self, tmp_path: Path) -> None:
        nodes = render_inventory(self.hierarchy(tmp_path).workspace.inventory, make_context()).nodes
        assert len({id(node.parameters["big"]["list"]) for node in nodes.values()}) == 1
        assert len({node.parameters["big"]["who"] for node in nodes.values()}) == 40

    def test_an_error_in_any_of_them(self, tmp_path: Path) -> None:
        hierarchy = self.hierarchy(tmp_path).target("classes: [b]", "t-37")
        error = hierarchy.failure("t-37")
        assert error.code == "CMD-INV-002"
        assert "t-37" in error.message

    def test_several_errors(self, tmp_path: Path) -> None:
        """The reported error is deterministic."""
        hierarchy = self.hierarchy(tmp_path)
        for number in (39, 21, 22, 23):
            hierarchy.target("classes: [b]", f"t-{number}")
        assert "t-21" in hierarchy.failure("t-21").message

    def test_no_room_for_temporary_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        hierarchy = self.hierarchy(tmp_path)
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
        with pytest.raises(EnvironmentFault) as raised:
            render_inventory(hierarchy.workspace.inventory, make_context())
        assert raised.value.code == "CMD-WORK-003"

    def test_a_folder_named_in_a_roundabout_way(self, tmp_path: Path) -> None:
        hierarchy = self.hierarchy(tmp_path)
        inventory = hierarchy.workspace.classes / ".." / ".." / "inventory"
        node = render_inventory(inventory, make_context()).nodes["t-00"]
        assert (
            node.raw["__reclass__"]["uri"] == render_node(inventory, "t-00", make_context()).raw["__reclass__"]["uri"]
        )


def test_a_panic_is_an_error_and_no_note(tmp_path: Path) -> None:
    """Its lines hold the number of a thread, which is another one in each run."""
    hierarchy = Hierarchy(tmp_path).target("classes: [a]").classes({"a.yml": "parameters: {x: !tag 1}"})
    assert hierarchy.failure().code.startswith("CMD-INV-")
    assert hierarchy.collected == []
