"""Folders in which everything stands that a walk has to decide about, what a folder holds, and programs in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path


def make_folder(root: Path, **more: str) -> Path:
    """Files (their names sort otherwise than their paths), links to a file and to a folder, and an empty folder.

    Args:
        more: further files, content by path.
    """
    contents = {"b.txt": "2", "a/z": "1", "a.txt": "0", "c": "4", "b/x/y": "3", **more}
    write_files(root, contents)
    (root / "link").symlink_to("c")
    (root / "linked-folder").symlink_to("a")
    (root / "empty").mkdir()
    (root / "c").chmod(0o700)
    return root


def write_files(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files, by path below `root`, whose folders are made."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def snapshot(folder: Path) -> dict[str, tuple[str, str]]:
    """Kind, mode and content of all that is below a folder."""
    results = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        content = os.readlink(path) if path.is_symlink() else path.read_bytes().hex() if path.is_file() else ""
        results[str(path.relative_to(folder))] = (stat.filemode(mode), content)
    return results


def write_script(path: Path, text: str) -> Path:
    """A program that the shell runs, in a folder that is made if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def open_places(cache: Path) -> list[str]:
    """The folders and files of the cache that others may use, but for those of entries and clones, which are below."""
    places = []
    for folder, folders, files in os.walk(cache):
        places += [name for name in (folder, *(f"{folder}/{file}" for file in files)) if os.stat(name).st_mode & 0o077]
        folders[:] = [name for name in folders if name not in ("content", "repositories")]
    return places
