"""The signature of a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commodore.core.dependencies.bundle.signature import signature
from tests.world.folders import make_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "package", B="-")


def test_a_signature_tells_touched_from_untouched(folder: Path) -> None:
    stamp = folder / "stamp"
    before = signature(folder, stamp)
    stamp.write_text("anything", encoding="utf-8")
    assert signature(folder, stamp) == before
    status = (folder / "a.txt").stat()
    (folder / "a.txt").write_text("9", encoding="utf-8")
    os.utime(folder / "a.txt", ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    changed = signature(folder, stamp)
    (folder / "link").unlink()
    assert len({before, changed, signature(folder, stamp)}) == 3
