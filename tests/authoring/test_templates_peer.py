"""The published tool makes and updates the same files from one template."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from commodore.authoring import Choices
from tests.authoring.template_world import ROOT, SECOND, make, template, update
from tests.world.repos import GitWorld, git


def call_peer(peer: Path, folder: Path, *arguments: str) -> None:
    subprocess.run([str(peer), "component", *arguments], cwd=folder, check=True, capture_output=True)


def files(folder: Path) -> dict[str, tuple[str, bytes]]:
    """The committed files with their modes."""
    lines = git(folder, "ls-files", "--stage", "-z").split("\0")[:-1]
    entries = {path: meta.split(" ")[0] for meta, path in (line.split("\t") for line in lines)}
    return {path: (mode, (folder / path).read_bytes()) for path, mode in entries.items()}


@pytest.mark.peer
def test_new_and_update(peer: Path, tmp_path: Path) -> None:
    remote = template(GitWorld(tmp_path / "remotes"))
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    mine = make(ours, remote, choices=Choices(add_cases=("one",)), url=str(remote.path))
    call_peer(peer, theirs, "new", "foo", "--template-url", str(remote.path), "--output-dir", ".", "-t", "one")
    other = theirs / "foo"
    assert files(mine) == files(other)
    for folder in (mine, other):
        lines = (folder / "numbers.txt").read_text(encoding="utf-8").replace("18\n", "eighteen\n")
        (folder / "numbers.txt").write_text(lines, encoding="utf-8")
        git(folder, "rm", "--quiet", "about.txt")
        git(folder, "commit", "--quiet", "--all", "--message", "mine")
    remote.commit({**SECOND, f"{ROOT}/sub/run.sh": "#!/bin/sh\n"})
    update(mine, Choices(add_cases=("two",), copyright_holder="Me"))
    call_peer(peer, theirs, "update", "foo", "-t", "two", "--copyright", "Me")
    assert files(mine) == files(other)
    assert git(mine, "log", "-1", "--format=%B").strip() == git(other, "log", "-1", "--format=%B").strip()
