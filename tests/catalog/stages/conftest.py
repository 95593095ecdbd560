"""Whole clusters; a run takes about a second, so one compile proves as many rules as a story allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world.cluster import ClusterWorld


@pytest.fixture
def world(tmp_path: Path) -> ClusterWorld:
    return ClusterWorld(tmp_path)
