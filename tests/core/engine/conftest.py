"""One engine for all tests of a process, and a fresh world for each test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from commodore.base.events import Event
from commodore.core.engine import Engine
from tests.core.engine.echo import Echo
from tests.core.engine.world import Kept, World
from tests.world.context import make_context


@dataclass
class _Listener:
    """Hears the engine; tests put their own list here."""

    events: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        self.events.append(event)


@pytest.fixture(scope="session")
def listener() -> _Listener:
    return _Listener()


@pytest.fixture(scope="session")
def engine(clean_session: None, listener: _Listener) -> Iterator[Engine]:
    """One engine for all tests: its workers import Kapitan once."""
    with Engine(make_context(listener), processes=2) as engine:
        yield engine


@pytest.fixture
def world(tmp_path: Path, engine: Engine, listener: _Listener) -> World:
    listener.events = []
    root = tmp_path / "work"
    root.mkdir()
    return World(root, engine, listener.events)


@pytest.fixture
def echo() -> Iterator[Echo]:
    with Echo() as echo:
        yield echo


@pytest.fixture(scope="session")
def keeping(clean_session: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    folder = tmp_path_factory.mktemp("caches")
    results, dependencies = folder / "results", folder / "dependencies"
    with Engine(make_context(), processes=2, dependency_cache=dependencies, result_cache=results) as engine:
        yield Kept(engine, results, dependencies)


@pytest.fixture
def kept(keeping: Kept) -> Kept:
    for folder in (keeping.results, keeping.dependencies):
        shutil.rmtree(folder, ignore_errors=True)
    return keeping
