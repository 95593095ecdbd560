"""Limits of archives, which no test wants to reach with real sizes."""

from __future__ import annotations

import os
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from commodore.base.errors import PolicyError
from commodore.base.limits import DEFAULT_LIMITS, Limits
from commodore.core.sources.fetching import archives as _archives
from commodore.core.sources.fetching.archives import unpack

FEW = replace(DEFAULT_LIMITS, archive_members=2)
SMALL = replace(DEFAULT_LIMITS, archive_bytes=5)


@pytest.fixture(params=["x.tar.gz", "x.zip"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Three files of two bytes each."""
    path = tmp_path / str(request.param)
    members = [tmp_path / str(number) for number in range(3)]
    for member in members:
        member.write_text("xx")
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for member in members:
                archive.write(member, member.name)
    else:
        with tarfile.open(path, "w:gz") as archive_file:
            for member in members:
                archive_file.add(member, member.name)
    return path


@pytest.mark.parametrize("limits", [FEW, SMALL])
def test_limits(archive: Path, limits: Limits, tmp_path: Path) -> None:
    folder = tmp_path / "to"
    folder.mkdir()
    with pytest.raises(PolicyError) as caught:
        unpack(archive, folder, "application/octet-stream", limits)
    assert caught.value.code == "CMD-ENG-032"
    assert list(folder.iterdir()) == []


def test_unpacking(archive: Path, tmp_path: Path) -> None:
    folder = tmp_path / "to"
    folder.mkdir()
    assert unpack(archive, folder, "application/octet-stream", DEFAULT_LIMITS)
    assert sorted(path.name for path in folder.iterdir()) == ["0", "1", "2"]


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "x.tar.gz"
    file.write_text("text")
    assert not unpack(file, tmp_path, "text/plain", DEFAULT_LIMITS)


@pytest.mark.parametrize("target", ["/etc", "..", "sub/../..", "../../outside"])
def test_links_that_lead_out_are_refused_before_anything_is_written(tmp_path: Path, target: str) -> None:
    """Also by the looks taken on Pythons that cannot filter."""
    link = tarfile.TarInfo("chart/link")
    link.type, link.linkname = tarfile.SYMTYPE, f"../{target}" if target == ".." else target
    with pytest.raises(PolicyError) as caught:
        _archives._check_member(link, set())
    assert caught.value.code == "CMD-ENG-030"


def test_nothing_is_placed_through_a_link() -> None:
    links: set[PurePosixPath] = set()
    link = tarfile.TarInfo("a")
    link.type, link.linkname = tarfile.SYMTYPE, "."
    _archives._check_member(link, links)
    with pytest.raises(PolicyError):
        _archives._check_member(tarfile.TarInfo("a/file"), links)


def test_special_bits_and_owners_do_not_come_along() -> None:
    member = tarfile.TarInfo("tool")
    member.mode, member.uid = 0o4777, 0
    _archives._check_member(member, set())
    assert (member.mode, member.uid) == (0o755, os.getuid())
