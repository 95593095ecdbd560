"""Looking at what a compile has left in a working directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore.base.errors import InputError
from commodore.base.files.workspace import Workspace
from commodore.core.inventory import compiled_preview, compiled_targets, relative_to_root
from tests.core.inventory.hierarchies import cluster
from tests.world.context import make_context

pytestmark = pytest.mark.tools


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    cluster(tmp_path, {"nfs": "nfs", "nfs-two": "nfs"}, {"nfs": {"nfs": {"size": 1}}}, {"nfs_two": {"size": 2}})
    return Workspace(tmp_path)


def test_the_cluster_and_its_instances(workspace: Workspace) -> None:
    assert compiled_targets(workspace) == ["cluster", "nfs", "nfs-two"]
    assert compiled_preview(workspace).render(make_context()).parameters["_instance"] == "cluster"
    parameters = compiled_preview(workspace, "nfs-two").render(make_context()).parameters
    assert (parameters["_instance"], parameters["nfs"]) == ("nfs-two", {"size": 2})


def test_an_instance_that_was_not_compiled(workspace: Workspace) -> None:
    with pytest.raises(InputError) as caught:
        compiled_preview(workspace, "nfs-tow")
    assert (caught.value.code, caught.value.hint) == ("CMD-INV-047", "did you mean 'nfs-two' or 'nfs'?")
    with pytest.raises(InputError) as caught:
        compiled_preview(workspace, "../x")
    assert caught.value.hint == "its instances are nfs, nfs-two"
    for name in ("nfs", "nfs-two"):
        (workspace.targets / f"{name}.yml").unlink()
    with pytest.raises(InputError, match="has no instance 'nfs'") as caught:
        compiled_preview(workspace, "nfs")
    assert caught.value.hint == "it has no instances here: compile it (again, if the last compile here failed)"


def test_nothing_was_compiled(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        compiled_preview(Workspace(tmp_path))
    assert caught.value.code == "CMD-INV-046"
    assert str(tmp_path) in caught.value.message
    assert compiled_targets(Workspace(tmp_path)) == []


def test_paths_are_told_from_the_working_directory(tmp_path: Path) -> None:
    value = {"a": [f"{tmp_path}/dependencies/x", f"--file={tmp_path}/y", 1], "b": {"c": f"{tmp_path}-other"}}
    assert relative_to_root(value, Workspace(tmp_path)) == {
        "a": ["./dependencies/x", "--file=./y", 1],
        "b": {"c": f"{tmp_path}-other"},
    }
