"""The limits that a caller gives hold in all that a compile does, a time, a size and a count among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from commodore import ClusterFile, CommodoreError, Limits, compile_catalog
from tests.world.cluster import ClusterWorld
from tests.world.context import make_context


@pytest.mark.parametrize(
    ("limits", "code", "words"),
    [
        (Limits(git_timeout=0.0), "CMD-GIT-003", "did not end within 0 seconds"),
        (Limits(cluster_file_bytes=10), "CMD-API-", "larger than 10 bytes"),
        (Limits(inventory_bytes=10), "CMD-ENG-", "10 bytes"),
    ],
    ids=["time", "size of a file", "size of the inventory"],
)
def test_a_tiny_limit_is_an_error_that_names_it(tmp_path: Path, limits: Limits, code: str, words: str) -> None:
    world = ClusterWorld(tmp_path)
    world.component("app", data={"a": "1"})
    world.publish()
    with pytest.raises(CommodoreError) as caught:
        compile_catalog(world.name, ClusterFile(world.cluster_file()), world.work, context=make_context(limits=limits))
    errors = getattr(caught.value, "errors", (caught.value,))
    assert [error.code for error in errors if error.code.startswith(code)], errors
    assert any(words in error.message for error in errors), errors
