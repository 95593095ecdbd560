"""Limits of archives, which no test wants to reach with real sizes."""

from __future__ import annotations

import os
import stat
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import PolicyError
from commodore.base.limits import DEFAULT_LIMITS, Limits
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


def packed(folder: Path, *members: tarfile.TarInfo) -> Path:
    """An archive of a file and of empty members."""
    path = folder / "x.tar"
    with tarfile.open(path, "w") as archive:
        for member in (tarfile.TarInfo("first"), *members):
            archive.addfile(member)
    return path


def link(name: str, target: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, target
    return member


def device(name: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type = tarfile.FIFOTYPE
    return member


@pytest.mark.parametrize(
    "members",
    [
        *([link("chart/link", target)] for target in ("/etc", "../..", "sub/../..", "../../outside")),
        [link("a", "."), tarfile.TarInfo("a/file")],
        [device("a")],
    ],
)
def test_what_leads_out_and_devices_are_refused_before_anything_is_written(
    tmp_path: Path, members: list[tarfile.TarInfo]
) -> None:
    folder = tmp_path / "to"
    folder.mkdir()
    with pytest.raises(PolicyError) as caught:
        unpack(packed(tmp_path, *members), folder, "application/x-tar", DEFAULT_LIMITS)
    assert (caught.value.code, list(folder.iterdir())) == ("CMD-ENG-030", [])


def test_special_bits_and_owners_do_not_come_along(tmp_path: Path) -> None:
    member = tarfile.TarInfo("tool")
    member.mode, member.uid = 0o4777, 12345
    unpack(packed(tmp_path, member), tmp_path / "to", "application/x-tar", DEFAULT_LIMITS)
    kept = (tmp_path / "to" / "tool").stat()
    assert (stat.S_IMODE(kept.st_mode), kept.st_uid) == (0o755, os.getuid())
