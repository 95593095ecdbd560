"""The start of the hierarchy, on whole clusters."""

from __future__ import annotations

import shutil

from tests.world.cluster import ClusterWorld


def test_a_removed_checkout_comes_back(world: ClusterWorld) -> None:
    """Error messages advise to remove folders; the links that an earlier run has made to them are no obstacle."""
    world.component("c-one", data={"answer": "42"})
    assert world.compile().code == 0
    shutil.rmtree(world.work / "dependencies" / "c-one")
    assert world.compile().code == 0
    assert world.manifest("c-one/config.yaml")["data"] == {"answer": "42"}


def test_a_checkout_that_is_missing_in_local_mode(world: ClusterWorld) -> None:
    """The component and its instances are left out, and each is named."""
    world.component("kept")
    world.component("lost", metadata={"multi_instance": True})
    world.applications.append("lost as other")
    assert world.compile().code == 0
    shutil.rmtree(world.work / "dependencies" / "lost")
    result = world.compile("--local")
    assert (result.code, result.warnings) == (0, ["CMD-DEP-040", "CMD-DEP-044"])
    assert sorted(path.name for path in (world.work / "compiled").iterdir()) == ["kept"]


def test_untracked_configuration_is_refused_unless_forced(world: ClusterWorld) -> None:
    """Nobody else could compile it again; with --force it stays and is compiled."""
    world.component("c-one")
    assert world.compile().code == 0
    stray = world.work / "inventory" / "classes" / "global" / "stray.yml"
    stray.write_text("parameters: {}\n")
    result = world.compile()
    assert (result.code, result.error["code"]) == (4, "CMD-INV-031")
    assert "stray.yml" in result.error["message"]
    forced = world.compile("--force")
    assert (forced.code, "CMD-INV-030" in forced.warnings) == (0, True)
    assert stray.exists()
