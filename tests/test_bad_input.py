"""Anything that goes wrong for users: one clear error, the documented exit code, no traceback, and nothing is lost."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from tests.world.cluster import ROOT, ClusterWorld, Result
from tests.world.folders import write_script
from tests.world.lieutenant import cluster
from tests.world.repos import git


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    made = ClusterWorld(tmp_path)
    made.component("app", data={"a": "1"})
    return made


def refused(result: Result, code: str, exit_code: int, *words: str) -> dict[str, object]:
    """The run has ended with exactly this error, which says what, where and what to do."""
    error = result.error
    assert (error["code"], result.code) == (code, exit_code), result.stderr
    shown = str(error)
    assert [word for word in words if word not in shown] == []
    assert error["hint"], error
    assert "Traceback" not in result.stderr
    return error


def component_class(*entries: Mapping[str, object], **parameters: object) -> str:
    return yaml.safe_dump({"parameters": {"kapitan": {"compile": list(entries)}, **parameters}})


# The cluster


def test_unknown_cluster(world: ClusterWorld) -> None:
    with world.lieutenant() as api:
        api.clusters = [cluster("c-onn")]
        refused(world.compile(), "CMD-API-018", 1, "c-one")
    result = world.run(
        "--log-format", "json", "catalog", "compile", "c-on", "--cluster-file", str(world.cluster_file())
    )
    error = refused(result, "CMD-API-045", 1, "c-on")
    assert error["hint"] == "did you mean 'c-one'?"
    assert not world.work.exists() or not (world.work / "inventory").exists()


@pytest.mark.requirement("C2")
def test_missing_facts_are_noticed_before_anything_is_touched(world: ClusterWorld) -> None:
    """Everything that the hierarchy cannot do without."""
    assert world.compile().code == 0
    before = world.local_tree()
    world.facts = {"cloud": "", "distribution": ""}
    result = world.compile()
    assert result.code == 1
    text = " ".join(error["message"] for error in result.errors)
    assert "cloud" in text
    assert "distribution" in text
    assert world.local_tree() == before


# Repositories


@pytest.mark.requirement("C16")
def test_missing_repositories(world: ClusterWorld) -> None:
    """Several unreachable repositories are reported together; the catalog stays."""
    world.component("other")
    assert world.compile("--push").code == 0
    before = world.local_tree()
    for name in ("app", "other"):
        world.remotes[name].vanish()
    result = world.compile("--push")
    assert result.code == 3
    assert len(result.errors) == 2, result.stderr
    assert all(error["hint"] for error in result.errors)
    assert world.local_tree() == before
    for name in ("app", "other"):
        world.remotes[name].return_again()
    world.defaults.vanish()
    result = world.compile()
    assert (result.code, len(result.errors)) == (3, 1)
    assert str(world.defaults.path) in result.error["message"]


@pytest.mark.requirement("C12")
def test_unknown_revisions(world: ClusterWorld) -> None:
    """Of a component, with a suggestion; and of the configuration."""
    world.remotes["app"].tag("v1.2.3")
    world.descriptions["app"]["version"] = "v1.2.4"
    error = refused(world.compile(), "CMD-GIT-030", 1, "'app'", "v1.2.4")
    assert error["hint"] == "did you mean 'v1.2.3'?"
    refused(world.compile("-t", "nowhere"), "CMD-GIT-030", 1, "nowhere", str(world.tenant_config.path))


def test_a_version_that_looks_like_an_option(world: ClusterWorld) -> None:
    world.descriptions["app"]["version"] = "--upload-pack=touch x"
    refused(world.compile(), "CMD-GIT-031", 1, "'app'")


def test_a_moved_tag(world: ClusterWorld) -> None:
    """It is followed, with a warning that names it."""
    world.remotes["app"].tag("v1")
    world.descriptions["app"]["version"] = "v1"
    assert world.compile().code == 0
    world.remotes["app"].commit(world.component_files("app", {"a": "2"}))
    world.remotes["app"].tag("v1")
    result = world.compile()
    assert result.code == 0, result.stderr
    assert "CMD-GIT-022" in result.warnings
    assert world.manifest("app/config.yaml")["data"] == {"a": "2"}


def test_an_unreachable_catalog(world: ClusterWorld) -> None:
    world.catalog.vanish()
    result = world.compile()
    assert result.code == 3
    assert str(world.catalog.path) in result.error["message"]
    assert result.error["hint"]


def test_a_rejected_push(world: ClusterWorld) -> None:
    """The server's words are shown; the next run pushes the same catalog."""
    world.catalog.refuse_pushes("not on Fridays")
    refused(world.compile("--push"), "CMD-CAT-013", 3, "not on Fridays")
    assert world.tree() == {}
    (world.catalog.path / "hooks" / "pre-receive").unlink()
    assert world.compile("--push").code == 0
    assert sorted(world.tree()) == ["manifests/app/config.yaml"]


def test_somebody_else_pushes_meanwhile(world: ClusterWorld) -> None:
    """Their commit stays, ours comes on top."""
    assert world.compile("--push").code == 0
    world.remotes["app"].commit(world.component_files("app", {"a": "2"}))
    running = world.start("--push")
    assert running.wait_for("compiling")
    theirs = world.catalog.commit({"README.md": "theirs\n"}, message="Theirs")
    result = running.finish()
    assert result.code == 0, result.stderr
    assert git(world.catalog.path, "merge-base", "--is-ancestor", theirs, "master", check=False) == ""
    assert sorted(world.tree()) == ["README.md", "manifests/app/config.yaml"]


def test_somebody_else_mends_manifests_meanwhile(world: ClusterWorld) -> None:
    """That is not taken back unseen: the next run shows it, and does."""
    assert world.compile("--push").code == 0
    world.remotes["app"].commit(world.component_files("app", {"a": "2"}))
    running = world.start("--push")
    assert running.wait_for("compiling")
    theirs = world.catalog.commit({"manifests/app/config.yaml": "mended: by hand\n"}, message="Theirs")
    done = running.finish()
    assert (done.code, done.error["code"], world.catalog.sha()) == (4, "CMD-CAT-025", theirs)
    done = world.compile("--push")
    assert done.code == 0, done.stderr
    assert "mended: by hand" in done.stdout


# The hierarchy


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"classes": ["t-one.gone"]}, "CMD-INV-002", ["t-one.gone", "c-one.yml"]),
        ({"parameters": {"a": "${no:such}"}}, "CMD-INV-003", ["no:such", "c-one.yml"]),
        ({"parameters": {"a": "${b}", "b": "${a}"}}, "CMD-INV-004", ["loop"]),
    ],
)
def test_reclass_errors(world: ClusterWorld, change: dict[str, object], code: str, words: list[str]) -> None:
    world.publish()
    world.tenant_config.commit({"c-one.yml": yaml.safe_dump(change)})
    refused(world.compile(), code, 1, *words)


def test_a_class_that_is_no_yaml(world: ClusterWorld) -> None:
    world.publish()
    world.tenant_config.commit({"c-one.yml": "parameters:\n  a: [\n"})
    refused(world.compile(), "CMD-INV-001", 1, "c-one.yml", "t-one.c-one")


def test_hostile_names(world: ClusterWorld) -> None:
    """Names that would be paths, options or reserved folders are all refused at once."""
    world.applications += ["../x", "-rf", "lib", "pkg.global", "app as a/b"]
    result = world.compile()
    assert result.code == 1
    assert len(result.errors) >= 1
    assert all(error["code"].startswith("CMD-NAME-") for error in result.errors)
    assert sorted(path.name for path in world.root.iterdir()) == ["cluster.json", "remotes", "work"]


# Components


def test_a_component_without_its_class(world: ClusterWorld) -> None:
    world.remotes["app"].commit({"class/app.yml": None, "class/ap.yml": ""})
    refused(world.compile(), "CMD-INV-009", 1, "'app'", "class/app.yml")


def test_jsonnet_errors(world: ClusterWorld) -> None:
    """All instances that fail are reported, with file and line; the catalog is as it was."""
    world.component("other")
    assert world.compile("--push").code == 0
    before = world.local_tree()
    world.remotes["app"].commit({"component/main.jsonnet": "{\n  a: error 'boom',\n}"})
    world.remotes["other"].commit({"component/main.jsonnet": "{ a: }"})
    result = world.compile("--push")
    assert result.code == 1
    assert len(result.errors) == 2
    assert "boom" in result.errors[0]["message"]
    location = result.errors[0]["locations"][0]
    assert location["place"].endswith("app/component/main.jsonnet")
    assert location["line"] == 2
    assert "Traceback" not in result.stderr
    assert world.local_tree() == before


def test_helm_errors(world: ClusterWorld) -> None:
    helm = world.root / "bin" / "helm"
    write_script(helm, "echo 'Error: parse error at (web/templates/a.yaml:3): function \"x\"' >&2; exit 1")
    world.environment["PATH"] = f"{helm.parent}{os.pathsep}{os.environ['PATH']}"
    entry = {"input_type": "helm", "input_paths": ["${_base_directory}/web"], "output_path": "app/"}
    world.remotes["app"].commit(
        {"class/app.yml": component_class(entry), "web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n"}
    )
    result = world.compile()
    assert result.code == 1
    assert "web/templates/a.yaml:3" in result.error["message"]
    assert "'app'" in result.error["message"]


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "jsonet", "path": "app", "filter": "x.jsonnet"},
        {"type": "builtin", "path": "app", "filter": "helm_namespaces"},
        {"type": "jsonnet", "path": "app", "filter": "gone.jsonnet"},
        {"type": "jsonnet", "path": "app"},
        {"type": "builtin", "path": "../..", "filter": "helm_namespace", "filterargs": {"namespace": "x"}},
    ],
)
def test_broken_filters(world: ClusterWorld, definition: dict[str, object]) -> None:
    """A misspelt filter never ships unfiltered manifests."""
    world.parameters["commodore"] = {"postprocess": {"filters": [definition]}}
    result = world.compile()
    assert result.code in (1, 4)
    assert "app" in result.error["message"]
    assert result.error["code"].startswith("CMD-ENG-")
    assert world.local_tree() == {}


@pytest.mark.requirement("C63")
def test_malformed_references(world: ClusterWorld) -> None:
    """All of them are reported with their places; nothing is written anywhere."""
    bad = ["?{vaultkv:../../../x/key}", "?{vaultkv:/abs/x/key}", "?{vaultkv:nokey}", "?{vaultkv}", "?{gpg:a/b}"]
    world.tenant_parameters = {
        "app": {"secrets": bad},
        "secret_management": {"vault_addr": "https://vault.example.com", "vault_mount": "kv"},
    }
    result = world.compile()
    assert result.code == 4  # two of them would be written elsewhere
    assert len(result.errors) == 5
    assert all(error["code"].startswith("CMD-REF-") for error in result.errors)
    assert not (world.root / "x").exists()


@pytest.mark.requirement("C68")
def test_an_unknown_vault(world: ClusterWorld) -> None:
    """With references, where Vault is must be said."""
    world.tenant_parameters = {"app": {"secret": "?{vaultkv:a/b}"}}
    result = world.compile()
    assert result.code == 1
    assert "vault_addr" in str(result.error)


# The machine


def test_a_full_disk(world: ClusterWorld) -> None:
    """Whatever cannot be written, the error says so, and the next run with room gives the whole catalog."""
    assert world.compile("--push").code == 0
    before = world.local_tree()
    world.remotes["app"].commit({"component/main.jsonnet": "{ big: { a: std.repeat('x', 300000) } }"})

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))

    done = run_with(world, limit)
    assert done.code == 3, done.stderr
    assert done.error["hint"]
    assert "Traceback" not in done.stderr
    assert world.local_tree() == before
    assert world.compile("--push").code == 0
    assert len(world.manifest("app/big.yaml")["a"]) == 300000


def test_a_working_directory_that_cannot_be_written(world: ClusterWorld) -> None:
    world.publish()
    world.work.write_text("a file")
    refused(world.compile(), "CMD-WORK-001", 3, str(world.work))


def test_git_is_not_installed(world: ClusterWorld) -> None:
    world.publish()
    world.environment["PATH"] = "/nonexistent"
    result = world.compile()
    assert result.code == 3
    assert "git" in result.error["message"]
    assert result.error["hint"]


def run_with(world: ClusterWorld, prepare: Callable[[], None]) -> Result:
    """Compile in a process that is prepared first."""
    world.publish()
    done = subprocess.run(
        [sys.executable, "-m", "commodore", *world.command("--push")],
        cwd=world.root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=prepare,
        capture_output=True,
        text=True,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)
