"""A list of fetched files in the working directory, used to remove files that a source does not have any more.

Kapitan copies fetched files over existing ones. A file that was removed from its repository or chart would stay, and be
read, until the folder is removed; a new working directory would not have it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from commodore.base.files.sealed import read_note, write_note
from commodore.base.files.tree import children, lies_in, walk
from commodore.base.files.workspace import Workspace, remove_tree

_NOTE = "fetched"
Stamp = tuple[int, ...]
"""Values that change when a file is changed: its inode, size, and times."""


class FetchedFiles:
    """The fetched files of output folders. To be created before fetching.

    Args:
        root: the working directory, which has the lists. If a list is lost or damaged, old files stay.
        outputs: the output folders.
    """

    def __init__(self, root: Path, outputs: Iterable[Path]) -> None:
        self._notes = Workspace(root).state / "fetched"
        self._before = {output: _stamps(output) for output in outputs}

    def conclude(self, *, complete: bool) -> None:
        """Save the list of fetched files, and remove files of an earlier fetch that this one did not write, if they are
        unchanged.

        Args:
            complete: whether all fetches succeeded; if not, nothing is removed.

        Raises:
            EnvironmentFault: the operating system refused to remove a file.
        """
        noted = {output: self._read(output) for output in self._before}
        others = self._others() if any(noted.values()) else set()
        for output, before in self._before.items():
            now = _stamps(output)
            fetched = {name: stamp for name, stamp in now.items() if before.get(name) != stamp}
            stale = {name: now[name] for name, stamp in noted[output].items() if name not in fetched and name in now}
            stale = {name: stamp for name, stamp in stale.items() if stamp == noted[output][name]}
            if complete:
                for name in stale:
                    if not lies_in(str(output / name), *(str(other) for other in others if other != output)):
                        _remove(output / name, output)
            self._write(output, fetched if complete else {**fetched, **stale})

    def _others(self) -> set[Path]:
        """Return all output folders with a list."""
        with contextlib.suppress(OSError, LookupError, TypeError):
            notes = [read_note(Path(file.path), _NOTE) for file in children(self._notes)]
            return {Path(note["output"]) for note in notes if note}
        return set()

    def _read(self, output: Path) -> Mapping[str, Stamp]:
        with contextlib.suppress(LookupError, TypeError, AttributeError):
            return {name: tuple(stamp) for name, stamp in read_note(self._file(output), _NOTE)["files"].items()}
        return {}

    def _write(self, output: Path, files: Mapping[str, Stamp]) -> None:
        write_note(self._file(output), {"output": str(output), "files": files}, _NOTE)

    def _file(self, output: Path) -> Path:
        return self._notes / f"{hashlib.sha256(os.fsencode(output)).hexdigest()}.json"


def _stamps(folder: Path) -> dict[str, Stamp]:
    """Return the stamps of all files and links below a folder, by relative path; empty if it is not a folder."""
    stamps: dict[str, Stamp] = {}
    with contextlib.suppress(OSError):
        for name, entry in walk(folder) if not folder.is_symlink() else ():
            if not entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                stamps[name] = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return stamps


def _remove(path: Path, folder: Path) -> None:
    """Remove a file, and folders that become empty."""
    remove_tree(path)
    with contextlib.suppress(OSError):
        for parent in path.parents:
            if parent == folder:
                return
            parent.rmdir()
