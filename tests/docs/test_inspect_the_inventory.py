"""The page about looking at the hierarchy shows what is seen."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from commodore.base.files.workspace import Workspace, link_relative
from commodore.core.inventory import (
    ClassLinks,
    InstanceMeta,
    bootstrap_target,
    instance_target,
    link_classes,
    write_cluster_params,
    write_targets,
)
from tests.docs.tutorials import follow, reader_environment
from tests.world.cluster import ROOT

PAGE = ROOT / "docs" / "how-to" / "inspect-the-inventory.md"


def compile_inventory(examples: Path, workspace: Workspace) -> None:
    """The inventory that a compile of the examples leaves: the part of the component nfs."""
    component = examples / "component-nfs"
    link_classes(workspace, [ClassLinks(name, "nfs", component, component) for name in ("nfs", "nfs-archive")])
    write_cluster_params(
        workspace,
        {
            "cluster": {"name": "c-example", "tenant": "t-example", "display_name": "Example cluster"},
            "facts": {"cloud": "cloudscale", "distribution": "k3s", "region": "rma1"},
        },
    )
    for name, folder in (
        ("global", "global-defaults"),
        ("t-example", "tenant-config"),
        ("monitoring", "package-monitoring"),
    ):
        link_relative(workspace.classes / name, examples / folder)
    meta = [InstanceMeta(name, "nfs", component, Path("/kustomize"), "/python") for name in ("nfs", "nfs-archive")]
    write_targets(workspace, [bootstrap_target(["nfs"]), *(instance_target(item, ["nfs"]) for item in meta)])


def test_a_reader_sees_what_the_page_shows(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    compile_inventory(tmp_path / "examples", Workspace(tmp_path / ".cache" / "demo"))
    environment = reader_environment(tmp_path_factory.mktemp("bin"))
    done = follow(PAGE.read_text(encoding="utf-8"), tmp_path, environment)
    assert [complaint for item in done if (complaint := item.complaint())] == []
    assert len(done) == 9
