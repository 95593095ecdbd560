"""Bare git repositories whose commit ids depend on their contents only."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

_AUTHOR = b"Bench <bench@example.com> 1767268800 +0000"


def create_repository(path: Path, files: Mapping[str, str], *, tag: str = "", branch: str = "main") -> None:
    """A repository with one commit of these files, or an empty one without files."""
    _git(["init", "--quiet", "--bare", "--template=", f"--initial-branch={branch}", str(path)])
    if files:
        _import(path, _commit(files, f"refs/heads/{branch}"), tag)


def add_commit(path: Path, files: Mapping[str, str]) -> None:
    """Put these files into a new commit on top of the branch `main`."""
    _import(path, _commit(files, "refs/heads/main", parent="refs/heads/main^0"))


def _commit(files: Mapping[str, str], branch: str, parent: str = "") -> Iterable[bytes]:
    yield b"commit %s\nmark :1\ncommitter %s\n" % (branch.encode(), _AUTHOR)
    yield _data("Add everything\n" if not parent else "Change something\n")
    if parent:
        yield b"from %s\n" % parent.encode()
    for name in sorted(files):
        yield b"M 100644 inline %s\n" % name.encode() + _data(files[name])
    yield b"\n"


def _data(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%s\n" % (len(content), content)


def _import(path: Path, commit: Iterable[bytes], tag: str = "") -> None:
    script = b"".join(commit)
    if tag:
        script += b"reset refs/tags/%s\nfrom :1\n\n" % tag.encode()
    command = ["--git-dir", str(path), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--done"]
    _git(command, script + b"done\n")


def _git(arguments: list[str], given: bytes = b"") -> None:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], input=given, env=environment, capture_output=True, check=True)
