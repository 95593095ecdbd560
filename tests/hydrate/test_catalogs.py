"""Provenance of compiled catalogs."""

from __future__ import annotations

import json
from pathlib import Path

from tests.world.cluster import ClusterWorld
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
