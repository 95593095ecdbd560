"""Empty bare repositories as git makes them on this machine. Git runs once per run, not once per repository."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

from commodore.base.context import Context
from commodore.base.files.tree import walk
from commodore.base.files.workspace import guard_disk
from commodore.core.sources.git.runner import Git

FALLBACK_BRANCH = "master"


class Blueprint:
    """Template of an empty bare repository, for repositories below one folder. May be used from several threads."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._parts: list[tuple[str, int, bytes | None]] = []

    def lay_out(self, folder: Path) -> None:
        """Make the empty folder an empty bare repository without templates and hooks; its HEAD is `master`.

        What git detects about the file system (modes, case, links) is assumed to be the same for all folders.

        Raises:
            EnvironmentFault: git or the disk failed.
        """
        with self._lock:
            if not self._parts:
                arguments = ["init", "--quiet", "--bare", "--template=", f"--initial-branch={FALLBACK_BRANCH}"]
                Git(folder, self._context).run([*arguments, "--", str(folder)])
                with guard_disk(folder):
                    inside = [Path(entry.path) for _, entry in walk(folder)]
                    self._parts = [_read(folder, path) for path in (folder, *inside)]
                return
        with guard_disk(folder):
            for name, mode, content in self._parts:
                place = folder / name
                if content is None:
                    place.mkdir(exist_ok=True)
                else:
                    place.write_bytes(content)
                place.chmod(mode)


def is_plain(bare: Path) -> bool:
    """Check if a repository keeps refs in files, names objects by SHA-1, and has no worktree settings."""
    try:
        return b"[extensions" not in (bare / "config").read_bytes().lower()
    except OSError:
        return False


def _read(root: Path, path: Path) -> tuple[str, int, bytes | None]:
    mode = stat.S_IMODE(path.stat().st_mode)  # with `core.sharedRepository` git sets more bits than the umask allows
    return path.relative_to(root).as_posix(), mode, None if path.is_dir() else path.read_bytes()
