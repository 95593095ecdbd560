"""Compiled catalogs: as what is hydrated, and their provenance."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.base.errors import CommodoreError, InputError, Location
from commodore.hydrate.reading.applications import read_config, read_hydration
from tests.world.cluster import ClusterWorld, Result
from tests.world.repos import git

NOTES = "hydrator.metadata"


def test_a_catalog_says_what_it_was_made_from(tmp_path: Path) -> None:
    """Without a change of manifests there is no commit, but a note."""
    world = ClusterWorld(tmp_path)
    world.component("app", data={"k": "v"})
    done = world.compile("--push", "--provenance")
    assert done.code == 0, done.stderr
    told = json.loads(world.tree()[NOTES])
    assert (told["repoURL"], told["drySha"]) == (world.tenant_config.url, world.tenant_config.sha())
    (reference,) = told["references"]
    assert reference["commit"]["sha"] == world.defaults.sha()
    assert "commodore" in told["hydrator"]
    assert _note(world) == world.tenant_config.sha()

    head, commits = world.catalog.sha(), world.commits()
    world.tenant_config.commit({"NOTES": "1"})
    assert world.compile("--push", "--provenance").code == 0
    assert (world.catalog.sha(), world.commits()) == (head, commits)
    assert _note(world) == world.tenant_config.sha() != told["drySha"]


def test_a_note_that_is_refused_holds_no_catalog_back(tmp_path: Path) -> None:
    world = ClusterWorld(tmp_path)
    world.component("app")
    world.catalog.hook("update", 'case "$1" in refs/notes/*) echo no notes here; exit 1;; esac')
    done = world.compile("--push", "--provenance")
    assert (done.code, done.warnings) == (0, ["CMD-HYD-036"]), done.stderr
    assert NOTES in world.tree()


def _note(world: ClusterWorld) -> str:
    shown = git(world.catalog.path, "notes", f"--ref={NOTES}", "show", world.catalog.branch)
    sha: str = json.loads(shown)["drySha"]
    return sha


def entry(**dry: Any) -> dict[str, Any]:
    return {
        "apiVersion": "commodore.dev/v1alpha1",
        "kind": "HydrateConfig",
        "defaults": {"drySource": {"repoURL": "https://git.example.com/apps.git"}},
        "entries": [
            {
                "name": "one",
                "drySource": {"catalog": "c-one", **dry},
                "syncSource": {"targetBranch": "env/one", "path": "one"},
                "hydrateTo": {"targetBranch": "env/one-next"},
            }
        ],
    }


class Hydrating:
    """A cluster whose catalog is hydrated to branches of its catalog's repository."""

    def __init__(self, folder: Path) -> None:
        self.world = ClusterWorld(folder)
        self.world.component("app", data={"k": "v"})
        vault = {"vault_addr": "https://vault.example.com", "vault_mount": "kv"}
        self.world.parameters["secret_management"] = vault
        self.world.catalog.commit({"README.md": "Of the cluster itself\n"})
        (folder / "hydrate.yaml").write_text(yaml.safe_dump(entry()))
        self.sources = str(folder / "hydrate.yaml")

    def __call__(self, command: str, *options: str) -> tuple[int, dict[str, Any], Result]:
        words = ["--cluster-file", str(self.world.cluster_file()), "-o", "json"]
        self.world.publish()
        done = self.world.run("-d", str(self.world.work), "hydrate", command, self.sources, *words, *options)
        return done.code, json.loads(done.stdout) if done.stdout else {}, done

    def shown(self, path: str, revision: str = "env/one-next") -> str:
        return git(self.world.catalog.path, "show", f"{revision}:{path}")


def test_a_catalog_goes_through_staged_branches(tmp_path: Path) -> None:
    """Its manifests are those of a compile; it is compiled at each run, as components may have moved."""
    hydrate = Hydrating(tmp_path)
    world = hydrate.world
    code, result, done = hydrate("run")
    assert code == 0, done.stderr
    (group,) = result["groups"]
    assert (group["outcome"], group["destination"]["branch"]) == ("committed", "env/one-next")
    assert group["dry"]["sha"] == world.tenant_config.sha()
    assert yaml.safe_load(hydrate.shown("one/manifest.yaml"))["data"] == {"k": "v"}
    for path in ("", "one/"):
        told = json.loads(hydrate.shown(f"{path}hydrator.metadata"))
        assert (told["repoURL"], told["drySha"]) == (world.tenant_config.url, world.tenant_config.sha())
        assert [item["commit"]["sha"] for item in told["references"]] == [world.defaults.sha()]
    assert told["drySource"] == {"targetRevision": "HEAD", "catalog": "c-one"}
    assert list(told["tools"]) == ["commodore"]
    assert told["commands"][0] in hydrate.shown("one/README.md")

    head = world.catalog.sha("env/one-next")
    code, result, done = hydrate("run")
    assert (code, result["groups"][0]["outcome"]) == (0, "unchanged"), done.stderr
    world.remotes["app"].commit(world.component_files("app", {"k": "w", "s": "?{vaultkv:t-one/c-one/app/key}"}))
    first, reference = world.tenant_config.sha(), world.defaults.sha()
    code, result, done = hydrate("run")
    (group,) = result["groups"]
    assert (group["outcome"], [item["code"] for item in group["warnings"]]) == ("committed", ["CMD-HYD-038"]), (
        done.stderr
    )
    assert world.catalog.sha("env/one-next^") == head
    assert (world.tenant_config.sha(), world.defaults.sha()) == (first, reference)

    assert hydrate("check")[1]["paths"][0]["answer"] == "same"
    assert [item["answer"] for item in hydrate("check", "--commit", head)[1]["paths"]] == ["different"]
    status = hydrate("status")[1]["branches"][0]
    assert (status["dry_sha"], status["behind"]) == (first, 0)
    assert hydrate("plan", "--offline")[1]["groups"][0]["outcome"] == "render"


@pytest.mark.parametrize(
    ("dry", "words"),
    [
        ({"path": "x"}, "CMD-HYD-002 .*drySource.path exclude each other"),
        ({"repoURL": "https://git.example.com/x.git"}, "CMD-HYD-002 .*drySource.repoURL exclude each other"),
        ({"cluster": "x"}, "CMD-HYD-002 .*unknown field .*drySource.cluster"),
        ({}, "CMD-HYD-039 .*compiled catalogs cannot be written as folders"),
    ],
)
def test_entries_that_are_refused(dry: dict[str, Any], words: str) -> None:
    place = Location("hydrate.yaml", 1)
    (item,) = read_config(entry(**dry), place, Path()).applications
    with pytest.raises(InputError) as caught:
        read_hydration(item, place)
    assert re.match(words, f"{caught.value.code} {caught.value.message}")


def test_applications_have_no_catalogs() -> None:
    place = Location("app.yaml", 1)
    (item,) = read_config(entry(), place, Path()).applications
    with pytest.raises(CommodoreError, match=r"unknown field .*drySource\.catalog"):
        read_hydration({**item, "kind": "Application"}, place)
