"""The engine's small world: what is attacked is one rendering."""

from __future__ import annotations

from tests.core.engine.conftest import engine, listener, world

__all__ = ["engine", "listener", "world"]
