"""The sum of a package, and the signature of a folder."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest

from commodore.dependencies.bundle import sum_of
from commodore.dependencies.bundle.sums import signature
from tests.world.folders import make_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "package", B="-")


def test_contents_in_byte_order_of_names_depth_first(folder: Path) -> None:
    """`B` < `a` (folder, at its own position) < `a.txt` < `b` (folder) < `b.txt` < `c`; links do not count."""
    assert sum_of(folder) == base64.b64encode(hashlib.sha256(b"-10324").digest()).decode()


def test_the_sum_of_nothing(tmp_path: Path) -> None:
    assert sum_of(tmp_path) == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="


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
