"""Cached content with a digest that also covers its key: damaged or swapped entries are detected.

A cache with digests of the content only would return one entry for another if their files are swapped. So the digest
covers the label, too: the kind of the entry, and its key. Invalid entries count as missing. This protects against
accidents; a process with write access to a cache can seal anything.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from commodore.base.errors import EnvironmentFault, PolicyError
from commodore.base.files.workspace import write_atomically

_MAGIC = b"commodore-sealed-1 "


def seal(label: Sequence[str], content: bytes) -> bytes:
    """Return a line with the digest of label and content, followed by the content.

    Args:
        label: the kind of the entry, and its key.
    """
    return _head(label, content) + b"\n" + content


def unseal(label: Sequence[str], whole: bytes) -> bytes | None:
    """Return the content sealed with this label; None if it is damaged, or has another label."""
    head, _, content = whole.partition(b"\n")
    return content if head == _head(label, content) else None


def read_sealed(path: Path, label: Sequence[str]) -> bytes | None:
    """Return the content of a sealed file; None if it is missing or invalid, or belongs to another user."""
    with contextlib.suppress(OSError):
        return unseal(label, _read_own(path))
    return None


def read_note(path: Path, *kind: str, most: int = -1) -> dict[str, Any]:
    """Return the members of a sealed JSON object; empty unless a valid file of this kind was written to this place.

    Args:
        kind: the kind of the note, and its key in addition to the file name.
        most: a file of this size or larger is invalid; negative for any size.
    """
    with contextlib.suppress(OSError, ValueError, RecursionError):
        content = unseal((*kind, path.name), _read_own(path, most))
        data = json.loads(content) if content is not None else None
        return data if isinstance(data, dict) else {}
    return {}


def open_own(path: Path) -> BinaryIO:
    """Open a cached file of this user for reading. A link is not followed, and opening never blocks.

    Raises:
        OSError: it is missing, not a file, or belongs to another user.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        os.close(handle)
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(path))
    return open(handle, "rb")


def _read_own(path: Path, most: int = -1) -> bytes:
    with open_own(path) as file:
        return file.read(most)


def write_note(path: Path, note: object, *kind: str, root: Path | None = None) -> None:
    """Write a JSON object for `read_note`. If that fails, the note is lost without an error.

    Args:
        root: see `write_atomically`; a link below it loses the note, too.
    """
    with contextlib.suppress(OSError, EnvironmentFault, PolicyError):
        content = json.dumps(note).encode("ascii")
        write_atomically(path, seal((*kind, path.name), content), 0o600, root=root)


def _head(label: Sequence[str], content: bytes) -> bytes:
    digest = hashlib.sha256(json.dumps(list(label)).encode("ascii") + b"\n")
    digest.update(content)
    return _MAGIC + digest.hexdigest().encode()
