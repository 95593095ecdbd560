"""`catalog compile` from end to end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from tests.world.cluster import ClusterWorld
from tests.world.lieutenant import failing
from tests.world.repos import git

STAGES = [
    "loading the cluster",
    "fetching configuration",
    "fetching packages",
    "fetching components",
    "rendering the inventory",
    "bundling jsonnet libraries",
    "writing secret references",
    "compiling",
    "assembling the catalog",
    "publishing the catalog",
]


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    made = ClusterWorld(tmp_path)
    made.component("app", data={"a": "1"})
    return made


@pytest.mark.requirement("C1", "C2", "C4")
def test_a_compile_with_everything(world: ClusterWorld) -> None:
    """The stages in their order, the commit, the report; without changes neither of them again."""
    world.packages["extra"] = {"url": world.git.remote("extra", {"a.yml": ""}).url, "version": "master"}
    world.applications.append("pkg.extra")
    names = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com"}
    world.environment = names
    with world.lieutenant() as api:
        result = world.compile("--push")
        assert result.code == 0, result.stderr
        assert [event["stage"] for event in result.events if event["event"] == "StageStarted"] == STAGES
        assert result.stdout == "     Added file manifests/app/config.yaml\n"
        assert world.commits() == ["Automated catalog update from Commodore", "Initial commit"]
        assert git(world.catalog.path, "log", "-1", "--format=%an %ae %cn", "master") == "Ada ada@example.com Ada"
        again = world.compile("--push")
        assert again.code == 0
        assert "has not changed" in again.stderr
        assert again.stdout == ""
        assert len(world.commits()) == 2
    ((cluster, report),) = api.reports
    assert cluster == "c-one"
    assert set(report) == {"commodoreBuildInfo", "global", "instances", "lastCompile", "packages", "tenant"}
    assert report["global"] == {"url": world.defaults.url, "version": "master", "gitSha": world.defaults.sha()}
    assert report["tenant"]["gitSha"] == world.tenant_config.sha()
    assert report["packages"]["extra"]["version"] == "master"
    assert report["instances"]["app"] == {
        "component": "app",
        "url": world.remotes["app"].url,
        "version": "master",
        "gitSha": world.remotes["app"].sha(),
    }
    assert report["lastCompile"] in world.message()
    requested = [(request.method, request.path) for request in api.requests]
    assert requested.count(("GET", "/clusters/c-one")) == 2
    assert all(request.headers["authorization"] == "Bearer opaque" for request in api.requests)


def test_without_push_nothing_leaves(world: ClusterWorld) -> None:
    with world.lieutenant() as api:
        result = world.compile()
    assert result.code == 0
    assert world.tree() == {}
    assert api.reports == []
    assert sorted(world.local_tree()) == ["manifests/app/config.yaml"]
    assert git(world.work / "catalog", "diff", "--cached", "--name-only") == "manifests/app/config.yaml"


@pytest.mark.requirement("C2")
def test_facts_reach_components(world: ClusterWorld) -> None:
    """Static and dynamic facts, and what is known about the cluster, are parameters."""
    data = {
        "name": "${cluster:name} ${cluster:display_name}",
        "tenant": "${cluster:tenant} ${cluster:tenant_display_name}",
        "catalog": "${cluster:catalog_url}",
        "cloud": "${facts:cloud}",
        "version": "${dynamic_facts:kubernetesVersion:minor}",
    }
    world.tenant_parameters = {"app": {"data": data}}
    result = world.compile("-d", "kubernetesVersion.minor=99")
    assert result.code == 0, result.stderr
    assert world.manifest("app/config.yaml")["data"] == {
        "a": "1",
        "name": "c-one Cluster c-one",
        "tenant": "t-one Tenant t-one",
        "catalog": world.catalog.url,
        "cloud": "cloudscale",
        "version": "31",
    }


def test_revisions_of_the_configuration(world: ClusterWorld) -> None:
    """An override wins over the API's revision; with --push it is refused before anything happens."""
    world.publish()
    world.tenant_config.commit(
        {"c-one.yml": yaml.safe_dump({"parameters": {"app": {"data": {"a": "branch"}}}})}, branch="try"
    )
    result = world.compile("-t", "try")
    assert result.code == 0, result.stderr
    assert world.manifest("app/config.yaml")["data"] == {"a": "branch"}
    result = world.compile("-t", "try", "--push")
    assert (result.code, result.error["code"]) == (2, "CMD-CLI-020")
    result = world.compile("-g", "--upload-pack=x")
    assert (result.code, result.error["code"]) == (1, "CMD-GIT-031")


def test_the_report_catches_up(world: ClusterWorld) -> None:
    """When the report fails the push stays, and the next run reports, though it changes nothing."""
    with world.lieutenant() as api:
        api.script(failing(500, "broken"), times=99, method="POST")
        result = world.compile("--push")
        assert result.code == 0, result.stderr
        assert result.warnings == ["CMD-CAT-010"]
        assert len(world.commits()) == 2
        assert api.reports == []
    with world.lieutenant() as api:
        assert world.compile().code == 0
        assert api.reports == []
        result = world.compile("--push")
        assert (result.code, result.warnings) == (0, [])
        ((_, report),) = api.reports
        assert report["lastCompile"] in world.message()
        assert world.compile("--push").code == 0
        assert len(api.reports) == 1


def test_asking_first(world: ClusterWorld) -> None:
    """`--interactive`: no leaves the changes, end of input aborts, yes pushes; without changes nobody is asked."""
    refused = world.compile("--push", "-i", answer="n\n")
    assert refused.code == 0, refused.stderr
    assert world.tree() == {}
    assert "Added file manifests/app/config.yaml" in refused.stdout
    ended = world.run("-d", str(world.work), *world.command("--push", "--interactive")[4:], answer="")
    assert ended.code == 130
    assert ended.stderr.endswith("Aborted!\n")
    assert world.tree() == {}
    assert world.compile("--push", "-i", answer="y\n").code == 0
    assert sorted(world.tree()) == ["manifests/app/config.yaml"]
    assert world.compile("--push", "-i", answer="").code == 0


def test_the_diff_and_its_migrations(world: ClusterWorld) -> None:
    """The migration decides what is shown, never what is pushed."""
    assert world.compile("--push").code == 0
    folder = world.catalog.clone(world.root / "clone")
    manifest = folder / "manifests" / "app" / "config.yaml"
    whole = yaml.safe_load(manifest.read_text())
    manifest.write_text("---\n" + yaml.safe_dump({**whole, "metadata": {**whole["metadata"]}}, default_flow_style=True))
    git(folder, "commit", "--quiet", "--all", "--message", "Format")
    git(folder, "push", "--quiet")
    plain = world.compile()
    assert "--- manifests/app/config.yaml" in plain.stdout
    assert any(line.startswith("     -{apiVersion") or "-{" in line for line in plain.stdout.splitlines())
    for mode in ("ignore-yaml-formatting", "KAPITAN-0.29-TO-0.30"):
        shown = world.compile("-m", mode)
        assert shown.code == 0, shown.stderr
        assert "{" not in shown.stdout
        assert "has not changed" not in shown.stderr
    assert world.compile("--push", "-m", "ignore-yaml-formatting").code == 0
    assert len(world.commits()) == 4


def test_local_mode(world: ClusterWorld) -> None:
    """Edits in the checkouts are compiled without any remote; the catalog is left un-staged, nothing is pushed."""
    world.component("other")
    world.applications.append("pkg.extra")
    world.packages["extra"] = {"url": world.git.remote("extra", {"a.yml": ""}).url, "version": "master"}
    assert world.compile("--push").code == 0
    for remote in world.git.root.iterdir():
        remote.rename(remote.with_suffix(".gone"))
    dependencies = world.work / "dependencies"
    defaults = dependencies / "app" / "class" / "defaults.yml"
    defaults.write_text(yaml.safe_dump({"parameters": {"app": {"data": {"a": "edited"}}}}))
    command = ["-d", str(world.work), "--log-format", "json", "catalog", "compile"]
    result = world.run(*command, "c-one", "--local", "--push")
    assert result.code == 0, result.stderr
    assert world.manifest("app/config.yaml")["data"] == {"a": "edited"}
    assert "-  a: '1'" in result.stdout
    assert git(world.work / "catalog", "diff", "--cached", "--name-only") == ""

    shutil.rmtree(dependencies / "other")
    shutil.rmtree(dependencies / "pkg.extra")
    result = world.run(*command, "c-one", "--local")
    assert result.code == 0, result.stderr
    assert [code for code in result.warnings if code == "CMD-DEP-040"] == ["CMD-DEP-040"] * 2
    assert sorted(world.local_tree()) == ["manifests/app/config.yaml"]

    wrong = world.run(*command, "c-two", "--local")
    assert (wrong.code, wrong.error["code"]) == (1, "CMD-INV-015")
    fresh = world.run("-d", str(world.root / "fresh"), *command[2:], "c-one", "--local")
    assert (fresh.code, fresh.error["code"]) == (1, "CMD-INV-011")
    shutil.rmtree(world.work / "inventory" / "classes" / "t-one")
    missing = world.run(*command, "c-one", "--local")
    assert (missing.code, missing.error["code"]) == (4, "CMD-INV-013")


def test_local_mode_with_missing_instances(world: ClusterWorld) -> None:
    """An instance of a missing component is left out; a missing checkout of an instance is an error."""
    world.component("multi", metadata={"multi_instance": True}, include="multi as one")
    assert world.compile().code == 0
    command = ["-d", str(world.work), "--log-format", "json", "catalog", "compile", "c-one", "--local"]
    shutil.move(world.work / "dependencies" / "one", world.root / "kept")
    result = world.run(*command)
    assert (result.code, result.error["code"]) == (1, "CMD-DEP-045")
    shutil.move(world.root / "kept", world.work / "dependencies" / "one")
    shutil.rmtree(world.work / "dependencies" / "multi")
    result = world.run(*command)
    assert result.code == 0, result.stderr
    assert "CMD-DEP-044" in result.warnings
    assert sorted(world.local_tree()) == ["manifests/app/config.yaml"]


def test_a_cluster_without_components(world: ClusterWorld) -> None:
    """Nothing is deployed, and nothing stays."""
    assert world.compile("--push").code == 0
    world.applications.clear()
    result = world.compile("--push")
    assert result.code == 0, result.stderr
    assert world.tree() == {}
    assert world.compile("--push").code == 0
    assert len(world.commits()) == 3


def test_local_changes_are_safe_without_force(world: ClusterWorld) -> None:
    """Work in any checkout stops a run before something is moved; with --force it makes way and is kept."""
    world.component("other")
    assert world.compile().code == 0
    edited = [
        world.work / "dependencies" / "app" / "class" / "defaults.yml",
        world.work / "dependencies" / "other" / "class" / "defaults.yml",
    ]
    for file in edited:
        file.write_text("parameters: {}\n")
    result = world.compile()
    assert result.code == 4
    assert [error["code"] for error in result.errors] == ["CMD-GIT-040"] * 2
    tenant = world.work / "inventory" / "classes" / "t-one" / "c-one.yml"
    tenant.write_text("parameters: {}\n")
    result = world.compile()
    assert (result.code, result.error["code"]) == (4, "CMD-GIT-040")
    assert tenant.read_text() == "parameters: {}\n"
    result = world.compile("--force")
    assert result.code == 0, result.stderr
    assert set(result.warnings) == {"CMD-GIT-045"}
    assert world.manifest("app/config.yaml")["data"] == {"a": "1"}


def test_one_working_directory_for_two_tenants(tmp_path: Path) -> None:
    """A clean checkout of another tenant goes; one with work in it is not touched."""
    first, second = ClusterWorld(tmp_path / "1"), ClusterWorld(tmp_path / "2", name="c-two", tenant="t-two")
    second.work = first.work
    for world in (first, second):
        world.component("app", data={"cluster": world.name})
    assert first.compile("--push").code == 0
    result = second.compile("--push")
    assert result.code == 0, result.stderr
    assert not (first.work / "inventory" / "classes" / "t-one").exists()
    assert second.manifest("app/config.yaml")["data"] == {"cluster": "c-two"}
    (first.work / "inventory" / "classes" / "t-two" / "mine.yml").write_text("")
    result = first.compile()
    assert (result.code, result.error["code"]) == (4, "CMD-INV-014")


def test_the_text_for_people(world: ClusterWorld) -> None:
    """Progress and errors go to standard error, results to standard output; -v says more, -q less."""
    world.publish()
    words = ["catalog", "compile", "c-one", "--cluster-file", str(world.cluster_file()), "-v"]
    shown = world.run("-d", str(world.work), *words)
    assert shown.code == 0
    assert "Fetching components: " in shown.stderr
    assert "Automated catalog update from Commodore" in shown.stderr
    assert "add --push" in shown.stderr
    assert "\x1b" not in shown.stderr + shown.stdout
    quiet = world.run("-q", "-d", str(world.work), *words)
    assert (quiet.code, quiet.stderr) == (0, "")
    assert quiet.stdout == shown.stdout
    assert json.dumps(quiet.stdout) == '"     Added file manifests/app/config.yaml\\n"'
