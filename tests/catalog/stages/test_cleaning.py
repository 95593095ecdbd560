"""`catalog clean`."""

from __future__ import annotations

from tests.world.cluster import ClusterWorld
from tests.world.repos import git


def test_clean_removes_what_is_generated_and_no_work(world: ClusterWorld) -> None:
    world.component("app", data={"a": "b"})
    assert world.compile().code == 0
    tenant = world.work / "inventory" / "classes" / "t-one"

    (tenant / "mine.yml").write_text("mine: true\n")
    refused = world.run("-d", str(world.work), "--log-format", "json", "catalog", "clean")
    assert (refused.code, refused.error["code"]) == (4, "CMD-WORK-005")
    assert (world.work / "compiled" / "app").is_dir()
    (tenant / "mine.yml").unlink()

    git(tenant, "commit", "--quiet", "--allow-empty", "--message", "Mine")
    refused = world.run("-d", str(world.work), "--log-format", "json", "catalog", "clean")
    assert (refused.code, refused.error["code"]) == (4, "CMD-WORK-005")
    git(tenant, "reset", "--quiet", "HEAD^")

    cleaned = world.run("-d", str(world.work), "-v", "catalog", "clean")
    assert cleaned.code == 0, cleaned.stderr
    left = sorted(path.name for path in world.work.iterdir() if not path.name.startswith("."))
    assert left == ["dependencies", "jsonnetfile.json", "jsonnetfile.lock.json", "vendor"]
    assert sorted(path.name for path in (world.work / "dependencies").iterdir()) == [".repos", "app"]
    assert f"removing {world.work / 'inventory'}" in cleaned.stderr
    assert cleaned.stderr.splitlines()[0] == "Cleaning …"
    assert not (world.work / ".commodore" / "lock").exists()

    assert world.run("-d", str(world.work), "catalog", "clean").code == 0
    assert world.compile("--push").code == 0
    assert sorted(world.tree()) == ["manifests/app/config.yaml"]


def test_clean_keeps_an_edited_catalog(world: ClusterWorld) -> None:
    """Changes and commits of a user in the catalog folder are not discarded."""
    world.component("app")
    assert world.compile("--push").code == 0
    catalog = world.work / "catalog"
    (catalog / "notes.md").write_text("mine\n")
    git(catalog, "add", "notes.md")
    git(catalog, "commit", "--quiet", "--message", "Mine")
    refused = world.run("-d", str(world.work), "--log-format", "json", "catalog", "clean")
    assert (refused.code, refused.error["code"]) == (4, "CMD-WORK-005")
    assert (catalog / "notes.md").is_file()


def test_clean_of_nothing(world: ClusterWorld) -> None:
    cleaned = world.run("-d", str(world.work), "catalog", "clean")
    assert cleaned.code == 0
    assert cleaned.stdout == ""
    assert list(world.work.iterdir()) == []
