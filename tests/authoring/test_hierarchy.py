"""`commodore init`: what it makes compiles, and nothing is left of what fails."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from commodore.authoring import HierarchyRequest, create_hierarchy
from commodore.base.errors import CommodoreError
from commodore.cli.main import run
from tests.world.context import make_context


def test_what_init_makes_compiles_and_is_pushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "fleet").mkdir()  # empty
    assert run(["init", "fleet", "--cluster", "c-one", "--tenant", "t-one"]) == 0
    shown = capfd.readouterr().out.splitlines()
    assert shown[-1] == "  commodore -d fleet/work catalog compile c-one --cluster-file fleet/cluster.yml"
    assert run([*shown[-1].split()[1:], "--push"]) == 0
    for repository in ("global-defaults", "tenant-config"):
        status = subprocess.run(
            ["git", "status", "--porcelain", "--branch"], cwd=f"fleet/{repository}", capture_output=True, check=True
        )
        assert status.stdout == b"## main\n"
    assert run(["inventory", "lint", "fleet/global-defaults", "fleet/tenant-config"]) == 0


@pytest.mark.parametrize(
    ("folder", "cluster", "code"),
    [
        ("full", "c-one", "CMD-TPL-030"),
        ("full/file", "c-one", "CMD-TPL-030"),
        ("none/x", "c-one", "CMD-TPL-031"),
        ("new", "../c", "CMD-NAME-001"),
    ],
)
def test_init_writes_nothing_where_something_is(tmp_path: Path, folder: str, cluster: str, code: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(CommodoreError) as caught:
        create_hierarchy(HierarchyRequest(tmp_path / folder, cluster, "t-one"), make_context())
    assert caught.value.code == code
    assert sorted(os.listdir(tmp_path)) == ["full"]
    assert sorted(os.listdir(tmp_path / "full")) == ["file"]
