"""Paths of the cache that all working directories share: `$XDG_CACHE_HOME/commodore`, by default
`~/.cache/commodore`.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from commodore.base.errors import PolicyError

_PROBE = 4096  # bytes; an empty file needs no room


def cache_folder() -> Path:
    """Return the user's cache folder, which need not exist. Not cached, as the environment may change."""
    from platformdirs import user_cache_path

    return user_cache_path("commodore")


def usable(section: Path) -> Path:
    """Return a folder or file of the cache after checking that no other user controls it. Folders that others may enter
    are made private.

    Raises:
        PolicyError: it, or the cache, is a link or belongs to another user (CMD-CACHE-005).
    """
    root = cache_folder()
    parts = section.relative_to(root).parts
    for folder in (root, *(root.joinpath(*parts[: end + 1]) for end in range(len(parts)))):
        try:
            status = folder.lstat()
        except (FileNotFoundError, NotADirectoryError):
            break
        if stat.S_ISLNK(status.st_mode):
            raise _refusal(folder, "it is a link, so files would be written elsewhere")
        if status.st_uid != os.geteuid():
            raise _refusal(folder, "it belongs to another user, who could change its files")
        if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO) and stat.S_ISDIR(status.st_mode):
            with contextlib.suppress(OSError):  # a file system without modes, or one that is read only
                folder.chmod(0o700)
    return section


def refused_write(folder: Path) -> str:
    """Return the reason why no file can be written to a folder of the cache, which need not exist; empty if it can."""
    parent = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    try:
        with tempfile.TemporaryFile(dir=parent, buffering=0) as file:
            file.write(bytes(_PROBE))
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _refusal(folder: Path, reason: str) -> PolicyError:
    return PolicyError(
        "CMD-CACHE-005",
        f"the cache folder {folder} is not used: {reason}",
        hint="remove it, let XDG_CACHE_HOME name another place (which may be a link), or run with --no-cache",
        locations=[str(folder)],
    )


def library_cache() -> Path:
    """Return the folder of Jsonnet libraries, exported by commit."""
    return cache_folder() / "libraries"


def repository_cache() -> Path:
    """Return the folder of git objects that working directories have fetched, by URL."""
    return cache_folder() / "repositories"


def template_cache() -> Path:
    """Return the folder of bare clones of the templates for components and packages."""
    return cache_folder() / "templates"


def template_lock() -> Path:
    """Return the lock file for changes of template clones, which are updated in place; it is in their folder."""
    return template_cache() / ".lock"


def dependency_cache() -> Path:
    """Return the folder of Kapitan dependencies, by source and version."""
    return cache_folder() / "dependencies"


def result_cache() -> Path:
    """Return the folder of rendered results, by their inputs."""
    return cache_folder() / "results"


def tree_cache() -> Path:
    """Return the folder of checked out commits."""
    return cache_folder() / "trees"


def argocd_repository_cache() -> Path:
    """Return the folder of bare clones of the repositories in the sources of Applications."""
    return cache_folder() / "argocd" / "repositories"


def token_cache() -> Path:
    """Return the path of the file with the tokens of the Lieutenant API."""
    return cache_folder() / "token"
