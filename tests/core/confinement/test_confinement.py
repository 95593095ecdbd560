"""Anything that may be read and written, and by which descriptor."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from commodore.base.errors import PolicyError
from commodore.base.limits import DEFAULT_LIMITS
from commodore.core.confinement import Confinement, Roots


@pytest.fixture
def confinement(tmp_path: Path) -> Confinement:
    for folder in ("repo", "work/closed", "work/.hidden", "work/deep", "out", "private"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "private/key").write_text("secret")
    roots = Roots(
        read=(tmp_path / "repo", tmp_path / "work/.hidden/staging"),
        working=(tmp_path / "work",),
        closed=(tmp_path / "work/closed",),
    )
    return Confinement(tmp_path / "out", roots, limits=replace(DEFAULT_LIMITS, input_file_bytes=10))


@pytest.mark.parametrize(
    ("path", "is_open"),
    [
        ("repo", True),
        ("repo/a/b", True),
        ("repo-other/a", False),
        ("repo/../private/key", False),
        ("repo/.hidden", True),
        ("repo/.git/config", False),
        ("repo/a/.git", False),
        ("work/a/.b", True),
        ("work/.env", False),
        ("work/closed/a", False),
        ("work/.hidden/other", False),
        ("work/.hidden/staging/a", True),
        ("out/a", True),
        ("private/key", False),
        ("repo/a\0b", False),
    ],
)
def test_the_deepest_root_decides(confinement: Confinement, tmp_path: Path, path: str, is_open: bool) -> None:
    assert confinement.is_open(str(tmp_path / path)) is is_open


def test_a_file_of_any_size_below_the_limit(confinement: Confinement, tmp_path: Path) -> None:
    file = tmp_path / "repo/file"
    for size in (0, 1, 9, 10):
        file.write_bytes(b"x" * size)
        assert confinement.read(str(file)) == b"x" * size
    file.write_bytes(b"x" * 11)
    with pytest.raises(PolicyError, match="larger than 10 bytes"):
        confinement.read(str(file))


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs Linux")
def test_a_file_that_says_it_is_empty(tmp_path: Path) -> None:
    """Files of /proc have the size 0, and content."""
    confinement = Confinement(tmp_path, Roots(read=(Path("/proc"),)), DEFAULT_LIMITS)
    assert confinement.read("/proc/self/status").startswith(b"Name:")
    small = Confinement(tmp_path, Roots(read=(Path("/proc"),)), limits=replace(DEFAULT_LIMITS, input_file_bytes=10))
    with pytest.raises(PolicyError, match="larger than 10 bytes"):
        small.read("/proc/self/status")


def test_the_link_that_leads_out_is_named(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "repo/inner").symlink_to("deeper")
    (tmp_path / "repo/deeper").symlink_to(tmp_path / "private")
    with pytest.raises(PolicyError) as caught:
        confinement.read(str(tmp_path / "repo/inner/key"))
    assert caught.value.code == "CMD-CONF-002"
    assert f"through the link {tmp_path}/repo/deeper to {tmp_path}/private/key" in caught.value.message


def test_what_is_not_there_is_not_refused(confinement: Confinement, tmp_path: Path) -> None:
    """A misspelt path is a mistake, wherever it leads."""
    with pytest.raises(FileNotFoundError):
        confinement.read(str(tmp_path / "private/nothing"))
    confinement.explain_missing([str(tmp_path / "private/nothing")])
    with pytest.raises(PolicyError):
        confinement.explain_missing([str(tmp_path / "private/key")])


def test_a_tree_that_holds_what_is_closed(confinement: Confinement, tmp_path: Path) -> None:
    confinement.check_tree(str(tmp_path / "work/deep"))
    with pytest.raises(PolicyError):
        confinement.check_tree(str(tmp_path / "work"))


@pytest.mark.parametrize("name", ["key", "new"])
def test_a_file_behind_a_link_is_not_written(confinement: Confinement, tmp_path: Path, name: str) -> None:
    (tmp_path / "out/link").symlink_to(tmp_path / "private" / name)
    with pytest.raises(PolicyError):
        confinement.write(tmp_path / "out/link", b"x")
    assert (tmp_path / "private/key").read_text() == "secret"
    assert not (tmp_path / "private/new").exists()


def test_a_link_in_the_output_may_lead_to_the_output(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "out/link").symlink_to("file")
    confinement.write(tmp_path / "out/link", b"x")
    assert (tmp_path / "out/file").read_bytes() == b"x"


@pytest.mark.parametrize("name", [".git/config", "a/.git", ".env"])
def test_what_others_believe_is_not_written(confinement: Confinement, tmp_path: Path, name: str) -> None:
    with pytest.raises(PolicyError):
        confinement.check(tmp_path / "out" / name)
