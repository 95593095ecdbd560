"""The page about where parameters come from shows what is seen."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.core.inventory.explain.examples import write_example_inventory
from tests.docs.tutorials import follow, reader_environment
from tests.world.cluster import ROOT
from tests.world.repos import git

PAGE = ROOT / "docs" / "how-to" / "explain-a-parameter.md"

# Checkouts of a compile, the repositories that they come from, and what is checked out.
CHECKOUTS = {
    "dependencies/nfs": ("components/nfs.git", "v1.0.0"),
    "dependencies/nfs-archive": ("components/nfs.git", "v1.0.0"),
    "dependencies/ingress": ("components/ingress.git", "v1.0.0"),
    "dependencies/alerts": ("components/alerts.git", "v1.0.0"),
    "dependencies/metrics-agent": ("components/metrics-agent.git", "v1.1.0"),
    "dependencies/pkg.monitoring": ("packages/monitoring.git", "main"),
    "inventory/classes/global": ("global-defaults.git", "main"),
    "inventory/classes/t-example": ("tenants/t-example.git", "main"),
}


def compiled(root: Path) -> None:
    """Everything that compiling the examples leaves in `.cache/demo`: the parts of the hierarchy."""
    shutil.copytree(ROOT / "examples", root / "examples")
    repositories, demo = root / ".cache" / "demo-repos", root / ".cache" / "demo"
    subprocess.run([root / "examples" / "setup"], check=True)
    for folder, (repository, version) in CHECKOUTS.items():
        git(root, "clone", "--quiet", "--branch", version, str(repositories / repository), str(demo / folder))
        local = folder.startswith("inventory")
        base = "file:///home/ada/commodore/.cache/demo-repos/" if local else "https://git.example.com/"
        git(demo / folder, "remote", "set-url", "origin", base + repository)
    write_example_inventory(demo)


def test_a_reader_sees_what_the_page_shows(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    compiled(tmp_path)
    environment = reader_environment(tmp_path_factory.mktemp("bin"))
    # Commits change with the examples; the page need not.
    page = re.sub(r"\b[0-9a-f]{10}\b", "…", PAGE.read_text(encoding="utf-8"))
    done = follow(page, tmp_path, environment)
    assert [complaint for item in done if (complaint := item.complaint())] == []
    assert len(done) == 7
