"""Where files that all working directories share are kept: `$XDG_CACHE_HOME/commodore`, by default
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
    """The user's cache folder of commodore; it need not exist. Asked for each time, as the environment may change."""
    from platformdirs import user_cache_path

    return user_cache_path("commodore")


def usable(section: Path) -> Path:
    """A folder or file of the cache, if no other user decides what is in it. Folders that others may enter are closed.

    Raises:
        PolicyError: it, or the cache, is a link or belongs to another user (CMD-CACHE-005).
    """
    root = cache_folder()
    parts = section.relative_to(root).parts
    for folder in (root, *(root.joinpath(*parts[: end + 1]) for end in range(len(parts)))):
        try:
            found = folder.lstat()
        except (FileNotFoundError, NotADirectoryError):
            break
        if stat.S_ISLNK(found.st_mode):
            raise _refusal(folder, "it is a link, so what is kept would be written elsewhere")
        if found.st_uid != os.geteuid():
            raise _refusal(folder, "it belongs to another user, who could change what is kept")
        if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO) and stat.S_ISDIR(found.st_mode):
            with contextlib.suppress(OSError):  # a file system without modes, or one that is read only
                folder.chmod(0o700)
    return section


def refused_write(folder: Path) -> str:
    """Why nothing can be kept in a folder of the cache, which need not exist; empty if that can be."""
    there = next(one for one in (folder, *folder.parents) if os.path.lexists(one))
    try:
        with tempfile.TemporaryFile(dir=there, buffering=0) as file:
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
    """Exports of Jsonnet libraries by commit."""
    return cache_folder() / "libraries"


def repository_cache() -> Path:
    """Objects of git repositories that working directories have fetched, by URL."""
    return cache_folder() / "repositories"


def template_cache() -> Path:
    """Bare clones of the templates that components and packages are made from."""
    return cache_folder() / "templates"


def template_lock() -> Path:
    """Held while clones of templates change, which they do in place. It is in the folder of the clones."""
    return template_cache() / ".lock"


def dependency_cache() -> Path:
    """Kapitan dependencies by source and version."""
    return cache_folder() / "dependencies"


def result_cache() -> Path:
    """What instances were rendered to, by what they had read."""
    return cache_folder() / "results"


def tree_cache() -> Path:
    """Commits laid out as folders."""
    return cache_folder() / "trees"


def argocd_repository_cache() -> Path:
    """Bare clones of the repositories that sources of Applications name."""
    return cache_folder() / "argocd" / "repositories"


def token_cache() -> Path:
    """The file with the tokens of the Lieutenant API."""
    return cache_folder() / "token"
