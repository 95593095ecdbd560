"""Folders as trees."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from commodore.argocd.trees import folder_tree
from commodore.base.errors import CommodoreError
from tests.world.context import make_context


@pytest.mark.requirement("D10", "D60")
def test_the_revision_is_what_is_checked_out(tmp_path: Path) -> None:
    for command in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-mx"],
    ):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    tree = folder_tree(tmp_path, make_context())
    assert tree.revision == head.strip()
    below = tmp_path / "below"
    below.mkdir()
    assert folder_tree(below, make_context()).revision == ""


def test_folders_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    for folder, code in (
        (Path("/"), "CMD-ARGO-002"),
        (tmp_path, "CMD-ARGO-002"),
        (tmp_path / "home", "CMD-ARGO-002"),
        (tmp_path / "none", "CMD-ARGO-001"),
    ):
        with pytest.raises(CommodoreError) as caught:
            folder_tree(folder, make_context())
        assert caught.value.code == code
