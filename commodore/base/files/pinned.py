"""Paths that stay valid while other processes replace folders by links."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from commodore.base.errors import PolicyError

HANDLES = "/proc/self/fd/"
"""The prefix of paths by open folders. They are meaningless to other processes, and must not appear in messages."""

_ON_LINUX = sys.platform == "linux"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextlib.contextmanager
def pinned(path: Path, root: Path | None, *, make: bool = True) -> Iterator[Path]:
    """Return the path by its folder, which is held open: a link that replaces the folder, or one of its parents, has no
    effect. For this process only.

    On systems other than Linux, and without a root, the path is checked, but returned unchanged.

    Args:
        root: a parent folder, with a path free of links: a link placed there since it was resolved has no effect
            either.
        make: create missing folders.

    Raises:
        PolicyError: CMD-WORK-007, a folder between the root and the path is a link, or the root is behind one.
        OSError: the operating system refused.
    """
    if root is None:
        yield path
        return
    handle = _open_root(root, make)
    try:
        for part in path.parent.relative_to(root).parts:
            try:
                below = _enter(handle, part, make)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(handle, part):
                    raise link_in([path.parent.relative_to(root)], root) from None
                raise
            os.close(handle)
            handle = below
        yield Path(f"{HANDLES}{handle}", path.name) if _ON_LINUX else path
    finally:
        os.close(handle)


def _open_root(root: Path, make: bool) -> int:
    try:
        handle = os.open(root, _FOLDER)
    except FileNotFoundError:
        if not make:
            raise
        _refuse_replaced(root, os.path.realpath(root))
        root.mkdir(parents=True, exist_ok=True)
        handle = os.open(root, _FOLDER)
    try:
        # The kernel knows the real path of the open folder: the given path may lead elsewhere by now.
        _refuse_replaced(root, os.readlink(f"{HANDLES}{handle}") if _ON_LINUX else os.path.realpath(root))
    except BaseException:
        os.close(handle)
        raise
    return handle


def _refuse_replaced(root: Path, real: str) -> None:
    if real != os.path.abspath(root):
        raise PolicyError(
            "CMD-WORK-007",
            f"{root} must not be a link, or be reached through one: it leads to {real}",
            hint="remove the link; to keep the files elsewhere, name the folder there",
            locations=[str(root)],
        )


def _enter(above: int, name: str, make: bool) -> int:
    with contextlib.suppress(*([FileNotFoundError] if make else [])):
        return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=above)
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=above)
    return os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=above)


def _is_link(above: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(name, dir_fd=above).st_mode)
    except OSError:
        return False


def link_in(links: Sequence[Path], root: Path) -> PolicyError:
    """Return the error for links in place of folders; they are relative to the root."""
    return PolicyError(
        "CMD-WORK-007",
        f"{', '.join(map(str, links))} in {root} must not be a link",
        hint="remove the link; to keep the files elsewhere, let --working-dir name a folder there",
        locations=[str(root / link) for link in links],
    )
