"""A world of remotes, a store of clones, and what was announced, for the tests of the git room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from commodore.base.events import Event, Warned
from commodore.core.sources.git import RepositoryStore
from tests.world.context import make_context
from tests.world.repos import GitCalls, GitWorld


class Heard(list[Event]):
    """Everything that was announced."""

    @property
    def codes(self) -> list[str]:
        return [event.code for event in self if isinstance(event, Warned)]


@pytest.fixture
def world(tmp_path: Path) -> GitWorld:
    return GitWorld(tmp_path / "remotes")


@pytest.fixture
def collected() -> Heard:
    return Heard()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "work"


@pytest.fixture
def new_run(workspace: Path, collected: Heard) -> Callable[..., RepositoryStore]:
    """Begin a run: a fresh store over the same working directory."""

    def begin(*, offline: bool = False) -> RepositoryStore:
        return RepositoryStore(workspace / "dependencies" / ".repos", make_context(collected.append, offline=offline))

    return begin


@pytest.fixture
def store(new_run: Callable[..., RepositoryStore]) -> RepositoryStore:
    return new_run()


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitCalls:
    return GitCalls(tmp_path / "shim", monkeypatch)
