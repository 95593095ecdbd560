"""The example of hydrated branches, as a user of a fresh clone runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.world.repos import git

ROOT = Path(__file__).resolve().parents[2]


def test_the_example_shows_a_change_on_every_branch(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = [str(ROOT / "examples" / "hydrate" / "demo"), str(tmp_path / "place")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shop = tmp_path / "place" / "shop.git"
    for name, replicas in (("dev", 1), ("staging", 2), ("prod", 3)):
        said = git(shop, "log", "--format=%s", f"environments/{name}").splitlines()
        assert [line.partition(": ")[2] for line in said] == ["Take version 1.1.0", "Add the shop"]
        assert f"replicas: {replicas}" in git(shop, "show", f"environments/{name}:shop/manifest.yaml")
    lines = done.stdout.splitlines()
    assert [line.split() for line in lines if line[:1] in "+-" and "image" in line] == [
        ["-", "-", "image:", "registry.example.com/shop:1.0.0"],
        ["+", "-", "image:", "registry.example.com/shop:1.1.0"],
    ]
    assert [line.split() for line in lines if line[:1] in "+-" and "replicas" in line] == [
        ["-", "replicas:", "2"], ["+", "replicas:", "3"],
    ]  # fmt: skip
    assert sum(", 0 behind" in line for line in lines) == 3
