"""A folder of a repository costs what is in the folder, where the server can leave out the rest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commodore.core.engine.kapitan.fetch_git import _check_out
from tests.world.context import make_context
from tests.world.repos import GitWorld, Link, Remote, Script, git

LARGE = os.urandom(100_000)


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    return GitWorld(tmp_path).remote(
        files={
            "large": LARGE,
            "other/large": LARGE[::-1],
            ".gitattributes": "*.txt text eol=crlf\n",
            "docs/.gitattributes": "*.x -text\n",
            "docs/run": Script("#!/bin/sh\n"),
            "docs/a.txt": "one\ntwo\n",
            "docs/deep/ü b.txt": "three\n",
            "linked/up": Link("../other"),
        }
    )


def check_out(remote: Remote, folder: str, tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    _check_out(remote.url, remote.sha(), folder, tree, make_context())
    return tree


def fetched(tree: Path) -> int:
    """The bytes of all objects that came."""
    return sum(path.stat().st_size for path in (tree / ".git" / "objects").rglob("*") if path.is_file())


@pytest.mark.parametrize("allowed", [True, False])
@pytest.mark.parametrize("folder", ["docs", "./docs/", "docs/deep"])
def test_the_files_of_a_folder(remote: Remote, tmp_path: Path, folder: str, allowed: bool) -> None:
    """The bytes are those of a checkout of everything, with all attributes; the others come from careless servers."""
    if allowed:
        git(remote.path, "config", "uploadpack.allowFilter", "true")
    tree = check_out(remote, folder, tmp_path)
    whole = remote.clone(tmp_path / "whole")
    files = {path.relative_to(whole): path for path in (whole / folder).rglob("*") if path.is_file()}
    assert files
    assert {name: (tree / name).read_bytes() for name in files} == {name: files[name].read_bytes() for name in files}
    assert {name: (tree / name).stat().st_mode for name in files} == {
        name: files[name].stat().st_mode for name in files
    }
    assert not (tree / "other").exists()
    assert (fetched(tree) < 20_000) is allowed


def test_two_connections_are_enough(remote: Remote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(remote.path, "config", "uploadpack.allowFilter", "true")
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(tmp_path / "trace"))
    check_out(remote, "docs", tmp_path)
    starts = [line for line in (tmp_path / "trace").read_text().splitlines() if '"event":"start"' in line]
    assert sum("upload-pack" in line.partition('"argv":')[2] for line in starts) == 2


@pytest.mark.parametrize("folder", ["linked", "", "."])
def test_what_may_need_everything_has_everything(remote: Remote, tmp_path: Path, folder: str) -> None:
    git(remote.path, "config", "uploadpack.allowFilter", "true")
    tree = check_out(remote, folder, tmp_path)
    assert (tree / "other" / "large").read_bytes() == LARGE[::-1]
    assert (tree / "linked" / "up").is_symlink()


def test_a_server_that_gives_no_single_files(remote: Remote, tmp_path: Path) -> None:
    """One that leaves out files and then does not give them is cloned as a whole."""
    git(remote.path, "config", "uploadpack.allowFilter", "true")
    git(remote.path, "config", "--unset", "uploadpack.allowAnySHA1InWant")
    git(tmp_path, "config", "--global", "protocol.version", "0")
    tree = check_out(remote, "docs", tmp_path)
    assert (tree / "docs" / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
