"""A short soak of `--watch`, with edits of every kind in an order that chance has made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from _soak_watch import SCENES, Soak, SoakError, soak

pytestmark = pytest.mark.tools


def test_a_component(tmp_path: Path) -> None:
    told: list[str] = []
    done = soak("component", 10, 7, tmp_path, every=10, progress=told.append)
    assert done.startswith("component, seed 7: 10 saves, ")
    assert [line.split(" saves")[0] for line in told] == ["component: 0", "component: 10"]


def test_a_cluster(tmp_path: Path) -> None:
    assert "3 saves" in soak("catalog", 3, 7, tmp_path, every=3, progress=print)


def test_a_difference_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An output that is right by the fields, and that no run without cache gives."""
    right = Soak.is_right

    def spoil(state: Soak) -> bool:
        if not right(state):
            return False
        (state.scene.output / "more.yaml").write_text("x")
        return True

    assert set(SCENES) == {"component", "catalog"}
    monkeypatch.setattr(Soak, "is_right", spoil)
    with pytest.raises(SoakError, match=r"other files: more\.yaml"):
        soak("component", 0, 7, tmp_path, every=1, progress=print)
