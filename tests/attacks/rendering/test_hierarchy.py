"""Class files of a tenant or the global repository that are no files of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.conftest import Secret
from tests.world.cluster import ClusterWorld
from tests.world.repos import Link


@pytest.fixture
def cluster(tmp_path: Path) -> ClusterWorld:
    world = ClusterWorld(tmp_path / "world")
    world.component("c-good", data={"fine": "yes"})
    return world


@pytest.mark.parametrize("how", ["file", "folder", "climbing"])
@pytest.mark.parametrize("cached", [True, False])
def test_classes_that_are_links(cluster: ClusterWorld, secret: Secret, how: str, cached: bool) -> None:
    target = {"file": str(secret.path), "folder": str(secret.path.parent)}.get(
        how, "../../../../" * 6 + str(secret.path)
    )
    cluster.tenant_config.commit({"stolen.yml" if how != "folder" else "stolen": Link(target)})
    cluster.tenant_classes = [f"{cluster.tenant}.stolen" + (f".{secret.path.stem}" if how == "folder" else "")]
    result = cluster.compile(*([] if cached else ["--no-cache"]))
    assert result.code == 4
    assert result.error["code"] == "CMD-INV-081"
    assert secret.text not in result.stdout + result.stderr
    assert secret.is_in(cluster.work / "compiled", cluster.work / ".commodore") == []


@pytest.mark.harmless
def test_links_inside_of_the_repository_are_allowed(cluster: ClusterWorld) -> None:
    cluster.tenant_config.commit(
        {"real.yml": "parameters: {c_good: {data: {linked: 'yes'}}}\n", "link.yml": Link("real.yml")}
    )
    cluster.tenant_classes = [f"{cluster.tenant}.link"]
    result = cluster.compile()
    assert result.code == 0, result.stderr
    assert cluster.manifest("c-good/config.yaml")["data"] == {"fine": "yes", "linked": "yes"}
