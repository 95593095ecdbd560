"""Kept content bound to its place: damage does not pass for it, and neither does another entry, sound in itself.

A cache that only compares content with a digest beside it takes one entry for another once their files are swapped. So
the digest covers the label too: the kind of entry, and all that its place stands for. Whatever does not fit counts as
missing. It protects against accidents; a process that may write to a cache can seal anything.
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
    """What to write: a line with the digest of label and content, then the content.

    Args:
        label: the kind of entry, and the names under which it is found.
    """
    return _head(label, content) + b"\n" + content


def unseal(label: Sequence[str], whole: bytes) -> bytes | None:
    """The content of what was written under this label; None if it is damaged, or was written under another one."""
    head, _, content = whole.partition(b"\n")
    return content if head == _head(label, content) else None


def read_sealed(path: Path, label: Sequence[str]) -> bytes | None:
    """The content of a sealed file; None if there is none that is sound, or it belongs to another user."""
    with contextlib.suppress(OSError):
        return unseal(label, _read_own(path))
    return None


def read_note(path: Path, *kind: str, most: int = -1) -> dict[str, Any]:
    """The members of a sealed JSON object; none without a file that is sound, of this kind and written to this place.

    Args:
        kind: what kind of note it is, and what it is found by besides the name of the file.
        most: a file of so many bytes or more is damaged; negative for any size.
    """
    with contextlib.suppress(OSError, ValueError, RecursionError):
        content = unseal((*kind, path.name), _read_own(path, most))
        found = json.loads(content) if content is not None else None
        return found if isinstance(found, dict) else {}
    return {}


def open_own(path: Path) -> BinaryIO:
    """Open a kept file of this user for reading. A link is not followed, and nothing is waited for that is no file.

    Raises:
        OSError: it is not there, is something else, or belongs to another user.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(handle)
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), str(path))
    return open(handle, "rb")


def _read_own(path: Path, most: int = -1) -> bytes:
    with open_own(path) as file:
        return file.read(most)


def write_note(path: Path, note: object, *kind: str, root: Path | None = None) -> None:
    """Keep a JSON object for `read_note`. A disk that refuses costs the note, and nothing else.

    Args:
        root: see `write_atomically`; of a link below it the same holds as of the disk.
    """
    with contextlib.suppress(OSError, EnvironmentFault, PolicyError):
        content = json.dumps(note).encode("ascii")
        write_atomically(path, seal((*kind, path.name), content), 0o600, root=root)


def _head(label: Sequence[str], content: bytes) -> bytes:
    digest = hashlib.sha256(json.dumps(list(label)).encode("ascii") + b"\n")
    digest.update(content)
    return _MAGIC + digest.hexdigest().encode()
