"""Copies of a component's files for test cases: compiling fetches charts and libraries into the component's folder, and
the author's folder must not change.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from commodore.authoring.component import ComponentSource
from commodore.base.context import Context
from commodore.base.files.tree import walk
from commodore.base.files.workspace import guard_disk
from commodore.core.sources.git import Git

GENERATED: Final = frozenset({".cache", "compiled", "dependencies", "vendor"})
"""Folders of a component that compiling fills; untracked files in them are not part of it."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The files to copy: those of `source`'s repository, relative to `root`, without golden trees, which nothing reads.

    `root` is that of the repository, or the component's own folder if no repository tracks its files.
    """

    source: ComponentSource
    root: Path
    files: tuple[PurePath, ...]

    @classmethod
    def of(cls, source: ComponentSource, context: Context) -> Sandbox:
        """List the current files: tracked ones and new ones that git does not ignore.

        Raises:
            EnvironmentFault: git or the disk failed.
        """
        directory, root = source.directory, source.root
        with guard_disk(root):
            files = _listed(root, directory, context) if root != directory or (root / ".git").exists() else []
            needed = directory.relative_to(root) / "class" / "defaults.yml"
            if needed not in files:
                root, files = directory, list(_found(directory))
        return cls(source, root, tuple(sorted(file for file in files if not _is_golden(file))))

    def copy(self, place: Path, instance: str) -> ComponentSource:
        """Copy the files to the new folder `place`, and return the copied component.

        Raises:
            EnvironmentFault: a file cannot be read, or the disk is full.
        """
        with guard_disk(place):
            place.mkdir(parents=True)
            for file in self.files:
                _copy(self.root, file, place)
        # Links in the path of the system's temporary folder are resolved, as in a ComponentSource.
        top = place.resolve()
        own = self.source.directory.relative_to(self.root)
        return ComponentSource(self.source.name, instance, top / own, top)

    def translate(self, paths: Iterable[Path], copied: ComponentSource) -> tuple[Path, ...]:
        """Translate search paths for a copy: paths in the component's repository become paths in its copy."""
        absolute = [path.resolve() for path in paths]
        return tuple(
            copied.root / path.relative_to(self.root) if path.is_relative_to(self.root) else path for path in absolute
        )


def _is_golden(file: PurePath) -> bool:
    return ("tests", "golden") in itertools.pairwise(file.parts[:-1])


def _listed(root: Path, directory: Path, context: Context) -> list[PurePath]:
    """Return the files that git tracks or would add; empty if git refuses, as in repositories of another user."""
    command = ["ls-files", "-t", "--cached", "--others", "--exclude-standard", "-z"]
    answer = Git(root, context).run(command, check=False)
    if answer.returncode != 0:
        return []
    own = directory.relative_to(root)
    files: list[PurePath] = []
    for entry in filter(None, answer.stdout.split(b"\0")):
        tag, _, name = os.fsdecode(entry).partition(" ")
        file = PurePath(name)
        generated = file.is_relative_to(own) and file.relative_to(own).parts[0] in GENERATED
        if not (tag == "?" and generated) and os.path.lexists(root / file):
            files.append(file)
    return list(dict.fromkeys(files))


def _found(directory: Path) -> Iterable[PurePath]:
    top = {str(directory / name) for name in GENERATED}
    inside = walk(directory, skip=lambda entry: entry.name == ".git" or entry.path in top)
    yield from (PurePath(name) for name, entry in inside if not entry.is_dir(follow_symlinks=False))


def _copy(root: Path, file: PurePath, place: Path) -> None:
    source, target = root / file, place / file
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink():
        text = os.readlink(source)
        inside = not os.path.isabs(text) and source.resolve().is_relative_to(root)
        target.symlink_to(text if inside else source.resolve())
    elif source.is_dir():  # a nested repository: git lists the folder, not its files
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    elif source.is_file():
        shutil.copy(source, target)
