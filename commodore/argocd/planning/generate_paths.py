"""The paths whose changes make Argo CD refresh an Application: its annotation `manifest-generate-paths`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from commodore.base.values.globs import go_path
from commodore.base.values.patterns import fits

GENERATE_PATHS = "argocd.argoproj.io/manifest-generate-paths"


class GeneratePaths:
    """Paths and patterns of paths of a repository.

    Args:
        text: the annotation; its entries are relative to the folder of a source, or begin with `/` at the root.
        folders: the folders of the sources in the repository.
    """

    def __init__(self, text: str, folders: Iterable[str]) -> None:
        written = [entry for entry in map(str.strip, text.split(";")) if entry]
        self._entries = {
            posixpath.normpath(posixpath.join("/", folder, entry)).lstrip("/")
            for folder in folders
            for entry in written
        }

    def __bool__(self) -> bool:
        """Return True if there are paths. Without, Argo CD refreshes the Application after every change."""
        return bool(self._entries)

    def cover(self, path: str) -> bool:
        """Check if a change of a file makes Argo CD refresh the Application."""
        return any(_covers(entry, path) for entry in self._entries)


def _covers(entry: str, path: str) -> bool:
    if not entry or path == entry or path.startswith(f"{entry}/"):
        return True
    pattern = go_path(entry)
    return pattern is not None and fits(pattern, path)
