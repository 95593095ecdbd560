"""An engine that keeps results, with an empty cache for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from commodore.engine import Engine
from commodore.events import ignore
from tests.engine.world import World


@dataclass
class Kept:
    """An engine and the folders of its caches."""

    engine: Engine
    results: Path
    dependencies: Path

    def world(self, root: Path) -> World:
        """A fresh world for this engine."""
        root.mkdir(parents=True, exist_ok=True)
        return World(root, self.engine, [])


@pytest.fixture(scope="session")
def keeping(clean_session: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    folder = tmp_path_factory.mktemp("caches")
    results, dependencies = folder / "results", folder / "dependencies"
    with Engine(processes=2, announce=ignore, dependency_cache=dependencies, result_cache=results) as engine:
        yield Kept(engine, results, dependencies)


@pytest.fixture
def kept(keeping: Kept) -> Kept:
    for folder in (keeping.results, keeping.dependencies):
        shutil.rmtree(folder, ignore_errors=True)
    return keeping
