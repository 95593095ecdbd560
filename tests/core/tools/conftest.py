"""A release server that is trusted, and a user without tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from commodore.base.events import Event
from tests.world.releases import ReleaseServer


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReleaseServer]:
    """A release server whose certificate is trusted."""
    with ReleaseServer(tmp_path_factory.mktemp("releases")) as started:
        assert started.certificate is not None
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(started.certificate.chain))
        yield started


@pytest.fixture
def collected() -> list[Event]:
    """Announced events; to be used with `collected.append` as the listener."""
    return []


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH without tools but for the shell's; returns a folder in front of it that a test may fill."""
    folder = tmp_path / "bin"
    folder.mkdir()
    system = tmp_path / "system"
    system.mkdir()
    for name in ("sh", "sleep", "cat"):
        path = next(Path(place, name) for place in ("/bin", "/usr/bin") if Path(place, name).exists())
        (system / name).symlink_to(path)
    monkeypatch.setenv("PATH", f"{folder}:{system}")
    return folder
