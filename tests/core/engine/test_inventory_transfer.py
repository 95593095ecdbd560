"""Workers read the inventory that the main process has written."""

from __future__ import annotations

import marshal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commodore.base.errors import InternalError, PolicyError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.engine.inventory_transfer import WrittenNodes, write_nodes
from tests.base.values.test_interning import KEYS, VALUES

NODES = st.dictionaries(st.text("ab-.", min_size=1, max_size=3), st.dictionaries(KEYS, VALUES, max_size=4), min_size=1)


@given(nodes=NODES)
def test_nodes_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, nodes: dict[str, Any]) -> None:
    """Order and type of keys, type of numbers."""
    files = write_nodes(nodes, tmp_path_factory.mktemp("run") / "nodes", DEFAULT_LIMITS)
    written = WrittenNodes(files)
    assert sorted(files) == sorted(nodes)
    for name, node in nodes.items():
        assert marshal.dumps(written.node(name), 2) == marshal.dumps(node, 2)
        assert written.node(name) is written.node(name)


def test_an_unknown_target(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        WrittenNodes(write_nodes({"a": {}}, tmp_path / "nodes", DEFAULT_LIMITS)).node("b")


def test_equal_values_are_written_and_read_once(tmp_path: Path) -> None:
    """A hundred targets take little more room than one, on disk and in a worker; and so they count for the limit."""
    nodes = {f"t-{number}": {"parameters": {"own": number, "big": {"x": ["y" * 10_000]}}} for number in range(100)}
    written = WrittenNodes(write_nodes(nodes, tmp_path / "nodes", replace(DEFAULT_LIMITS, inventory_bytes=30_000)))
    assert sum(path.stat().st_size for path in (tmp_path / "nodes").iterdir()) < 30_000
    assert len({id(written.node(name)["parameters"]["big"]) for name in nodes}) == 1


def test_too_much(tmp_path: Path) -> None:
    nodes = {f"t-{number}": {"parameters": {"x": f"{number}" * 10_000}} for number in range(4)}
    with pytest.raises(PolicyError) as raised:
        write_nodes(nodes, tmp_path / "nodes", replace(DEFAULT_LIMITS, inventory_bytes=30_000))
    assert raised.value.code == "CMD-ENG-002"


def test_something_that_is_no_data(tmp_path: Path) -> None:
    with pytest.raises(InternalError) as raised:
        write_nodes({"a": {"parameters": {"x": object()}}}, tmp_path / "nodes", DEFAULT_LIMITS)
    assert raised.value.code == "CMD-ENG-001"
