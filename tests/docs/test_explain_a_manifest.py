"""The pages about manifests and caches show what is seen in the compiled examples."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.tutorials import Done, follow, reader_environment
from tests.world.cluster import ROOT

PAGES = ROOT / "docs" / "how-to"
COMPILE = (
    "examples/setup && . examples/environment && "
    'exec "$0" -m commodore -q -d .cache/demo catalog compile c-example --cluster-file examples/cluster.yml'
)

Read = Callable[[str], list[Done]]


@pytest.fixture
def read(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Read:
    """Compile the examples, then do what a page says."""
    environment = reader_environment(tmp_path_factory.mktemp("bin"))

    def read(page: str) -> list[Done]:
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
        subprocess.run(["sh", "-c", COMPILE, sys.executable], cwd=tmp_path, env=environment, check=True)
        # Commits change with the examples; the page need not.
        text = re.sub(r"\b[0-9a-f]{10}\b", "…", (PAGES / page).read_text(encoding="utf-8"))
        text = text.replace("/home/ada/.cache", os.environ["XDG_CACHE_HOME"])
        return follow(text, tmp_path, environment)

    return read


def test_explaining_a_manifest(read: Read) -> None:
    done = read("explain-a-manifest.md")
    assert [complaint for item in done if (complaint := item.complaint())] == []
    assert len(done) == 6


def test_using_the_cache(read: Read) -> None:
    done = read("use-the-cache.md")
    assert [complaint for item in done if (complaint := item.complaint())] == []
    assert len(done) == 5
