"""What was fetched to where, noted in the working directory: what a source has no longer does not stay.

Kapitan copies fetched files over those that are there. A file that its repository or chart has lost would stay, and be
read, until the folder is removed; a fresh working directory would not have it.
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
"""What tells whether a file was touched: its inode, size, and times of change."""


class FetchedFiles:
    """The folders to which something is about to be fetched.

    Args:
        root: the working directory, where it is noted what was fetched. A file that is lost or damaged costs nothing
            but that files stay.
        outputs: the folders.
    """

    def __init__(self, root: Path, outputs: Iterable[Path]) -> None:
        self._notes = Workspace(root).state / "fetched"
        self._before = {output: _stamps(output) for output in outputs}

    def conclude(self, *, complete: bool) -> None:
        """Note the present files, and remove what an earlier fetch has put there, this one has not, and that is
        unchanged.

        Args:
            complete: whether everything was fetched; if not, nothing is removed.

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
        """All folders to which something was fetched."""
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
    """All that is no folder in a folder, by relative path. Links are not followed; nothing if it is no folder."""
    found: dict[str, Stamp] = {}
    with contextlib.suppress(OSError):
        for name, entry in walk(folder) if not folder.is_symlink() else ():
            if not entry.is_dir(follow_symlinks=False):
                status = entry.stat(follow_symlinks=False)
                found[name] = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return found


def _remove(path: Path, folder: Path) -> None:
    """Remove a file, and the folders that are empty then."""
    remove_tree(path)
    with contextlib.suppress(OSError):
        for parent in path.parents:
            if parent == folder:
                return
            parent.rmdir()
