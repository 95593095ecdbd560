"""The example of docs/how-to/develop.md."""

from __future__ import annotations

from pathlib import Path

from tests.world.cluster import ClusterWorld


def test_a_parameter_reaches_the_catalog(tmp_path: Path) -> None:
    """A tenant's value replaces the component's default; the next compile finds nothing new."""
    world = ClusterWorld(tmp_path)
    world.component("app", data={"colour": "red"})
    world.tenant_parameters["app"] = {"data": {"colour": "blue"}}

    result = world.compile()

    assert result.code == 0, result.stderr
    assert "colour: blue" in (world.work / "catalog/manifests/app/config.yaml").read_text()
    assert "Added file manifests/app/config.yaml" in result.stdout
