"""`catalog compile --offline`: what earlier runs have fetched is compiled, and nobody is asked."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from commodore.base.files.sealed import read_sealed, seal
from tests.world.cluster import ClusterWorld, Result
from tests.world.repos import git


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    made = ClusterWorld(tmp_path)
    made.component("app", data={"a": "1"})
    return made


def offline(world: ClusterWorld, *arguments: str, cluster: str = "c-one", **environment: str) -> Result:
    """Compile without network, without API and without a cluster file."""
    words = ["-d", str(world.work), "--log-format", "json", "catalog", "compile", cluster, *arguments]
    return world.run(*words, "--processes", "1", **{"COMMODORE_OFFLINE": "1", **environment})


def disconnect(world: ClusterWorld) -> None:
    for remote in list(world.git.root.iterdir()):
        remote.rename(remote.with_suffix(".gone"))


def test_the_last_run_again(world: ClusterWorld) -> None:
    """Facts, configuration, versions and catalog are those of the last run; changes are shown, never pushed."""
    world.tenant_parameters = {"app": {"data": {"cloud": "${facts:cloud}", "url": "${cluster:catalog_url}"}}}
    with world.lieutenant():
        assert world.compile("--push").code == 0
    disconnect(world)
    manifest = world.work / "catalog" / "manifests" / "app" / "config.yaml"
    before = manifest.read_bytes()
    manifest.unlink()
    git(world.work / "catalog", "commit", "--quiet", "--all", "--message", "Lose a file")
    result = offline(world)
    assert result.code == 0, result.stderr
    assert manifest.read_bytes() == before
    assert result.stdout == ""


def test_a_version_that_is_there_can_be_chosen(world: ClusterWorld) -> None:
    """The tenant's branch was fetched with everything else; its changes are shown and stay."""
    world.publish()
    file = {"c-one.yml": "parameters: {app: {data: {a: '2'}}}\n"}
    world.tenant_config.commit(file, branch="try")
    assert world.compile("--push").code == 0
    disconnect(world)
    result = offline(world, "-t", "try")
    assert result.code == 0, result.stderr
    assert "+  a: '2'" in result.stdout
    assert any("offline mode never does" in str(event.get("message")) for event in result.events)


def test_what_is_missing_is_named(world: ClusterWorld) -> None:
    """A missing revision or clone is an error of the environment that names repository and revision."""
    assert world.compile("--push").code == 0
    disconnect(world)
    result = offline(world, "-t", "nowhere")
    assert (result.code, result.error["code"]) == (3, "CMD-GIT-025")
    assert "'nowhere'" in result.error["message"]
    assert world.tenant_config.url in result.error["message"]
    clone = next(path.parent for path in (world.work / "dependencies" / ".repos").rglob("app.git/HEAD"))
    shutil.rmtree(clone)
    result = offline(world)
    assert (result.code, result.error["code"]) == (3, "CMD-GIT-023")
    assert world.remotes["app"].url in result.error["message"]


def test_a_catalog_without_a_clone(world: ClusterWorld) -> None:
    assert world.compile("--push").code == 0
    shutil.rmtree(world.work / "catalog")
    result = offline(world)
    assert (result.code, result.error["code"]) == (3, "CMD-GIT-023")
    assert world.catalog.url in result.error["message"]


def test_an_empty_catalog(world: ClusterWorld) -> None:
    """A catalog that was never pushed to is compiled all the same, and pushed by a later run."""
    assert world.compile().code == 0
    result = offline(world)
    assert result.code == 0, result.stderr
    assert result.stdout == "     Added file manifests/app/config.yaml\n"
    assert world.compile("--push").code == 0
    assert sorted(world.tree()) == ["manifests/app/config.yaml"]


def test_with_a_cluster_file(world: ClusterWorld) -> None:
    """The file is read anew, so that facts may change without network."""
    assert world.compile("--push").code == 0
    world.facts = {"cloud": "elsewhere"}
    result = world.compile("--offline")
    assert result.code == 0, result.stderr
    params = (world.work / "inventory" / "classes" / "params" / "cluster.yml").read_text(encoding="utf-8")
    assert "elsewhere" in params


def test_local_changes_are_protected(world: ClusterWorld) -> None:
    """Offline is not local: what is compiled is what the versions say."""
    assert world.compile("--push").code == 0
    (world.work / "dependencies" / "app" / "class" / "defaults.yml").write_text("parameters: {}\n")
    result = offline(world)
    assert (result.code, result.error["code"]) == (4, "CMD-GIT-040")


def test_refusals(world: ClusterWorld) -> None:
    """No push; no other cluster; nothing without an earlier run; and not what somebody has damaged."""
    result = offline(world)
    assert (result.code, result.error["code"]) == (1, "CMD-INV-011")
    assert "--cluster-file" in result.error["hint"]
    assert world.compile("--push").code == 0
    result = offline(world, "--push")
    assert (result.code, result.error["code"]) == (2, "CMD-CLI-026")
    result = offline(world, cluster="c-two")
    assert (result.code, result.error["code"]) == (1, "CMD-INV-015")
    note = world.work / ".commodore" / "sources.json"
    label = ("note", "sources.json")
    known = json.loads(read_sealed(note, label) or b"")
    wrong = ({**known, "cluster": "c-two"}, {**known, "tenant": {"url": 1}})
    for damaged in (b"{", json.dumps(known).encode(), *(seal(label, json.dumps(item).encode()) for item in wrong)):
        note.write_bytes(damaged)
        result = offline(world)
        assert (result.code, result.error["code"]) == (3, "CMD-INV-032")
    other = {**known, "tenant": {"url": "ext::sh -c true", "revision": None}}
    note.write_bytes(seal(label, json.dumps(other).encode()))
    result = offline(world)
    assert (result.code, result.error["code"]) == (1, "CMD-GIT-011")
