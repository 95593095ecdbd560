"""The locks of charts, as helm makes and judges them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from commodore.base.yaml.chart_files import is_in_sync, listed_charts
from commodore.core.tools import locate_tool

NEAR = {"name": "near", "version": ">=1 <3", "repository": "file://../near/"}

LISTED: dict[str, list[dict[str, Any]]] = {
    "plain": [NEAR],
    "all fields": [
        {
            **NEAR,
            "alias": "other",
            "condition": "a.b,c.d",
            "tags": ["x", "y <&> ü"],
            "enabled": True,
            "import-values": ["data", {"parent": "p", "child": "c & d"}],
        }
    ],
    "empty fields": [{**NEAR, "enabled": False, "tags": [], "condition": ""}, {**NEAR, "alias": "b"}],
}


def write_chart(folder: Path, version: str, listed: list[dict[str, Any]]) -> Path:
    """A chart with dependencies, next to a chart `near`."""
    for name in ("near", "top"):
        (folder / name).mkdir()
        metadata: dict[str, Any] = {"apiVersion": version, "name": name, "version": "2.0.0"}
        if name == "top" and version == "v2":
            metadata["dependencies"] = listed
        (folder / name / "Chart.yaml").write_text(yaml.safe_dump(metadata))
    if version == "v1":
        (folder / "top" / "requirements.yaml").write_text(yaml.safe_dump({"dependencies": listed}))
    return folder / "top"


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("kind", LISTED)
def test_a_lock_of_helm(tmp_path: Path, kind: str, version: str) -> None:
    """Its digest is ours, until one of the dependencies changes."""
    chart, helm = write_chart(tmp_path, version, LISTED[kind]), locate_tool("helm")
    assert helm is not None
    subprocess.run([helm.path, "dependency", "update", "--skip-refresh", chart], check=True, capture_output=True)
    _, files = listed_charts(chart)
    assert (files.listing, files.lock) == {
        "v1": ("requirements.yaml", "requirements.lock"),
        "v2": ("Chart.yaml", "Chart.lock"),
    }[version]
    assert is_in_sync(chart, files)
    listing = chart / files.listing
    listing.write_text(listing.read_text().replace(">=1 <3", ">=1 <4"))
    assert not is_in_sync(chart, files)


@pytest.mark.parametrize(("version", "is_taken"), [("v1", True), ("v2", False)])
def test_a_lock_of_helm_2(tmp_path: Path, version: str, is_taken: bool) -> None:
    """Its digest is one of the listed dependencies alone; charts of version 1 may still have it."""
    chart = write_chart(tmp_path, version, [{"name": "near", "version": "2.x", "repository": "file://../near"}])
    _, files = listed_charts(chart)
    digest = "sha256:d2d3066c5dcee6951a35d26c2eff2542019879a9843e5485d3eacb3bda2f9348"
    (chart / files.lock).write_text(yaml.safe_dump({"dependencies": [NEAR], "digest": digest}))
    assert is_in_sync(chart, files) is is_taken
